/* patra harvest, backfill, update, metrics and replay: plans, then works until the plan is done. */
#include "cmd/harvest/harvest.h"

#include <inttypes.h>

#include "base/duration.h"
#include "cli/unset.h"
#include "cmd/trigger/trigger_request.h"
#include "data/json_write.h"
#include "engine/housekeeping/housekeeping.h"
#include "engine/session/store_retry.h"
#include "port/store_pause.h"
#include "view/signals.h"
#include "worker/notifying.h"
#include "worker/plan_trace.h"
#include "worker/stop.h"
#include "worker/tracing.h"
#include "worker/workers.h"

#define LOOK_US US_PER_SECOND
#define LOOK_EARLY_US (US_PER_SECOND / 20) /* when no worker has a task any more */
#define WAIT_US (15 * US_PER_MINUTE)
#define LOOK_BYTES_MAX ((size_t)64 << 20)

enum { RESLICES_MAX = 1000, TROUBLES_MAX = 1000 };

struct harvest {
    struct workers_turn turn; /* first */
    const struct invocation *invocation;
    struct session *session;
    struct trigger_request request;
    struct plan_result first;  /* of the first trigger */
    struct plan_result latest; /* of the last one */
    struct task_partition partition;
    int64_t clock_offset_us; /* the store's clock minus ours */
    int64_t started_us;
    int64_t wait_us;
    int worker_count;
    struct tracing *tracing; /* NULL: nobody wants spans */
    struct plan_trace plans;
    struct display *display;
    struct stop stop;
    struct arena look_arena; /* of one look */
    int64_t last_look_us;    /* monotonic; 0: none yet */
    int64_t tasks_seen;      /* ended, at the last look */
    struct store_retry retry;
    bool is_failing;          /* the store, at the last look */
    int64_t batches_seen;     /* committed, when that was looked at last */
    int64_t well_us;          /* monotonic: when the store was well */
    int64_t succeeded_before; /* the latest trigger */
    bool is_over;
    int stops_told;   /* signals that were acknowledged */
    struct error err; /* why it cannot continue; level NONE: it can */
    struct harvest_summary summary;
};

static int64_t now_of(struct harvest *h)
{
    return clock_now_us(&h->session->clock) + h->clock_offset_us;
}

/* ---- planning ---- */

static void print_plan(struct harvest *h)
{
    const struct plan_result *result = &h->latest;
    FILE *talk = h->invocation->talk;

    if (invocation_flag(h->invocation, "quiet") || invocation_flag(h->invocation, "json"))
        return;
    fprintf(talk, "plan %" PRId64 ": %.*s %.*s of %.*s, ", result->plan_id,
            STR_ARG(h->partition.source),
            STR_ARG(code_of(&OPERATION_CODES, (int)result->operation)), STR_ARG(result->endpoint));
    if (result->idle != PLAN_IDLE_NOT)
        fprintf(talk, "nothing to do: %.*s\n", STR_ARG(harvest_idle_text(result)));
    else
        fprintf(talk, "%" PRId64 " slice%s\n", result->slices, result->slices == 1 ? "" : "s");
    if (result->apart.len > 0)
        fprintf(talk, "  %.*s\n", STR_ARG(result->apart));
}

static bool reslice_all(struct harvest *h, struct error *err)
{
    const struct housekeeping_request request = { .owner = STR("patra harvest"),
                                                  .now_us = now_of(h),
                                                  .tickets_max = RESLICES_MAX,
                                                  .specs = h->session->specs };
    struct housekeeping_result done;

    return housekeeping_run(h->session->store, &request, &done, err);
}

static void note_rederived(struct harvest *h)
{
    const struct rederive_result *done = &h->latest.rederived;
    struct rederive_result *sum = &h->summary.rederived;

    sum->read += done->read;
    sum->changed += done->changed;
    sum->unchanged += done->unchanged;
    sum->bad += done->bad;
    sum->is_left = done->is_left;
}

static bool plan_traced(struct harvest *h, struct error *err)
{
    struct plan_request *plan = &h->request.plan;
    bool ok;

    plan_trace_begin(&h->plans);
    plan->watch = plan_trace_watch(&h->plans);
    ok = plan_trigger(h->session->store, &h->session->arena, plan, &h->latest, err);
    plan_trace_end(&h->plans, &(struct plan_traced){ plan->source, plan->operation,
                                                     ok ? &h->latest : NULL, ok ? NULL : err });
    return ok;
}

/* Slices that executors want re-sliced go first; else they would be planned as they were. */
static bool plan_once(struct harvest *h, struct error *err)
{
    struct plan_request *plan = &h->request.plan;

    plan->now_us = now_of(h);
    h->latest = (struct plan_result){ 0 };
    if (!reslice_all(h, err) || !plan_traced(h, err)) {
        trigger_print_faults(h->invocation, h->session, &h->latest);
        return false;
    }
    plan->ids = NULL; /* they have become signals */
    h->summary.plans++;
    note_rederived(h);
    h->partition = (struct task_partition){ plan->source, h->latest.endpoint, h->latest.operation };
    print_plan(h);
    return true;
}

static bool load_cursor(struct harvest *h, struct cursor *cursor, struct error *err)
{
    struct arena *arena = &h->session->arena;
    struct cursor_name name;
    struct plan plan;
    bool found;

    if (!store_plan_get(h->session->store, arena, h->first.plan_id, &plan, &found, err))
        return false;
    h->summary.has_cursor = found && plan.cursor_key.len > 0;
    if (!h->summary.has_cursor)
        return true;
    name = (struct cursor_name){ plan.source, plan.operation, plan.cursor_key, plan.scope,
                                 plan.namespace_key };
    return store_cursor_load(h->session->store, arena, &name, cursor, &found, err);
}

/* ---- every second ---- */

static bool count_tasks(struct harvest *h, struct arena *arena, struct partition_count *count,
                        struct error *err)
{
    struct partition_count_list list;

    *count = (struct partition_count){ .partition = h->partition };
    if (!store_status_counts(h->session->store, arena, h->partition.source, h->started_us, &list,
                             err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        const struct task_partition *other = &list.items[i].partition;

        if (other->operation == h->partition.operation &&
            str_eq(other->endpoint, h->partition.endpoint))
            *count = list.items[i];
    }
    count->partition = h->partition; /* whose texts live longer */
    return true;
}

static int64_t ended_of(const struct partition_count *count)
{
    return count->ended[TASK_SUCCEEDED] + count->ended[TASK_PARTIAL] + count->ended[TASK_FAILED] +
           count->ended[TASK_CANCELLED];
}

static void end(struct harvest *h, enum harvest_end reason)
{
    h->summary.end = reason;
    h->is_over = true;
    stop_request(&h->stop);
}

/* Re-slices what executors asked for; *left is false when there was nothing. */
static bool reslice(struct harvest *h, bool *left, struct error *err)
{
    struct open_count open;

    *left = false;
    if (!store_status_open(h->session->store, h->partition.source, &open, err))
        return false;
    if (open.tickets == 0)
        return true;
    *left = true;
    return reslice_all(h, err);
}

/* For a plan of which nothing is left. */
static enum harvest_end end_of_plan(struct harvest *h)
{
    h->summary.stop = h->latest.stop;
    return h->latest.stop == BUDGET_GO ? HARVEST_DONE : HARVEST_BUDGET;
}

/* Ends the harvest where it is paused or stopped; a stop counts before a pause. */
static bool look_at_pauses(struct harvest *h, struct arena *arena, enum pause_kind least,
                           struct error *err)
{
    struct pause_list pauses;

    if (!store_pause_list(h->session->store, arena, h->partition.source, &pauses, err))
        return false;
    for (size_t i = 0; i < pauses.count; i++) {
        const struct pause *pause = &pauses.items[i];
        const bool is_stop = pause->kind == PAUSE_STOPPED;

        if ((pause->endpoint.len > 0 && !str_eq(pause->endpoint, h->partition.endpoint)) ||
            (least == PAUSE_STOPPED && !is_stop))
            continue;
        h->summary.pause = *pause;
        h->summary.pause.reason = arena_copy(&h->session->arena, pause->reason);
        h->summary.pause.endpoint = arena_copy(&h->session->arena, pause->endpoint);
        end(h, is_stop ? HARVEST_STOPPED : HARVEST_PAUSED);
        if (is_stop)
            break;
    }
    return true;
}

/* The queue is empty. If it had no room for the whole plan, the rest is planned now, as long as
 * tasks succeed. */
static bool go_on(struct harvest *h, const struct partition_count *count, struct error *err)
{
    const int64_t succeeded = count->ended[TASK_SUCCEEDED] + count->ended[TASK_PARTIAL];

    /* The tasks that met the fatal error may have been the last ones. */
    if (!look_at_pauses(h, &h->look_arena, PAUSE_STOPPED, err))
        return false;
    if (h->is_over)
        return true;
    if (h->latest.stop == BUDGET_STOP_INVENTORY && succeeded > h->succeeded_before) {
        h->succeeded_before = succeeded;
        return plan_once(h, err);
    }
    end(h, end_of_plan(h));
    return true;
}

/* When the first task is due, or the source allows requests again. */
static int64_t waits_until(struct harvest *h, const struct partition_count *count)
{
    const struct progress_view view = display_view(h->display, now_of(h));

    return view.is_resting && view.rest.until_us > count->first_us ? view.rest.until_us
                                                                   : count->first_us;
}

static bool look(struct harvest *h, struct error *err)
{
    struct arena *arena = &h->look_arena;
    struct partition_count count;
    int64_t until_us;
    bool is_resliced;

    arena_reset(arena);
    if (!store_retry_ready(&h->retry, err))
        return false;
    if (!reslice(h, &is_resliced, err) || !count_tasks(h, arena, &count, err))
        return false;
    display_slices(h->display, count.queued + count.running + ended_of(&count), ended_of(&count));
    if (!harvest_show_rate(h->session, arena, &h->partition, now_of(h), h->display, err))
        return false;
    if (count.running > 0 || is_resliced)
        return true;
    if (count.queued == 0)
        return go_on(h, &count, err);
    if (!look_at_pauses(h, arena, PAUSE_PAUSED, err))
        return false;
    until_us = waits_until(h, &count);
    if (!h->is_over && until_us > now_of(h) + h->wait_us) {
        h->summary.waits_until_us = until_us;
        end(h, HARVEST_WAITS);
    }
    return true;
}

/* Gives up when the store is lost for longer than --wait. A committed batch shows that the store
 * works, even if a worker reports trouble. */
static void watch_store(struct harvest *h, int64_t monotonic_us)
{
    const struct progress_view view = display_view(h->display, now_of(h));

    if ((view.trouble[0] == '\0' && !h->is_failing) || view.sums.batches > h->batches_seen ||
        h->well_us == 0)
        h->well_us = monotonic_us;
    h->batches_seen = view.sums.batches;
    h->tasks_seen = view.sums.tasks;
    if (monotonic_us - h->well_us <= h->wait_us)
        return;
    (void)error_set(&h->err, ERROR_TRANSIENT, "store.lost",
                    "the store has been unreachable for longer than --wait: %s. What was stored is "
                    "kept; run the same command again to continue",
                    view.trouble);
    end(h, HARVEST_INTERRUPTED);
}

/* Who presses Ctrl-C sees at once that it was heard. */
static void tell_stop(struct harvest *h)
{
    static const struct str lines[] = {
        STR_INIT("stopping after the batches under way; press Ctrl-C again to give up their "
                 "requests"),
        STR_INIT("stopping now; what was stored is kept"),
    };
    const int stops = stop_is_urgent(&h->stop) ? 2 : 1;

    while (h->stops_told < stops)
        display_say(h->display, "stopping", lines[h->stops_told++], now_of(h));
}

/* Once a second, and soon after the workers have ended what they had: that may be the end. */
static bool is_look_due(struct harvest *h, int64_t monotonic_us)
{
    const int64_t since_us = monotonic_us - h->last_look_us;
    struct progress_view view;

    if (h->last_look_us == 0 || since_us >= LOOK_US)
        return true;
    if (since_us < LOOK_EARLY_US)
        return false;
    view = display_view(h->display, now_of(h));
    return view.working + view.waiting == 0 && view.sums.tasks > h->tasks_seen;
}

/* A store that does not answer fails the workers as well; the display shows their errors. */
static void harvest_turn(struct workers_turn *turn, bool is_ending)
{
    struct harvest *h = (struct harvest *)turn;
    const int64_t monotonic_us = clock_monotonic_us(&h->session->clock);
    struct error err;

    if (is_ending && !h->is_over)
        tell_stop(h);
    display_tick(h->display, now_of(h));
    if (ferror(h->invocation->out) != 0 && !h->is_over)
        end(h, HARVEST_INTERRUPTED); /* the reader has closed its end: harvest --json | head */
    if (is_ending || h->is_over || !is_look_due(h, monotonic_us))
        return;
    h->last_look_us = monotonic_us;
    watch_store(h, monotonic_us);
    if (h->is_over)
        return;
    h->is_failing = !look(h, &err);
    if (h->is_failing) {
        (void)store_retry_failed(&h->retry, &err);
        if (err.level != ERROR_TRANSIENT) {
            h->err = err;
            end(h, HARVEST_INTERRUPTED);
        }
    }
}

/* ---- from start to end ---- */

static struct executor_watch *watch_of(void *context, int worker)
{
    struct harvest *h = context;

    return display_watch(h->display, worker);
}

static bool work(struct harvest *h, struct error *err)
{
    const struct workers_settings settings = {
        .count = h->worker_count,
        .executor = { .source = h->partition.source,
                      .has_partition = true,
                      .endpoint = h->partition.endpoint,
                      .operation = h->partition.operation },
        .wake_fd = h->stop.fd,
        .tracer = tracing_tracer(h->tracing),
        .watch = watch_of,
        .context = h,
    };
    struct workers *workers;

    if (!workers_start(&workers, h->session, &settings, err))
        return false;
    workers_attend(workers, &h->stop, &h->session->clock, &h->turn);
    if (!h->is_over)
        h->summary.end = HARVEST_INTERRUPTED;
    if (!workers_join(workers, err))
        return false;
    *err = h->err;
    return err->level == ERROR_NONE;
}

static bool open_display(struct harvest *h, struct error *err)
{
    struct str title = arena_printf(&h->session->arena, "%.*s %s", STR_ARG(h->partition.source),
                                    h->invocation->command->name);

    return display_open(&h->display,
                        &(struct display_settings){
                            .mode = invocation_flag(h->invocation, "quiet")  ? DISPLAY_QUIET
                                    : invocation_flag(h->invocation, "json") ? DISPLAY_JSON
                                                                             : DISPLAY_LINES,
                            .title = title,
                            .worker_count = h->worker_count,
                            .now_us = now_of(h),
                            .out = h->invocation->out,
                            .talk = h->invocation->talk },
                        err);
}

/* With signals blocked and the display open. */
static bool work_watched(struct harvest *h, struct error *err)
{
    struct notifying *notifying = NULL;
    bool ok;

    if (!stop_open(&h->stop, err))
        return false;
    stop_watch_store(&h->stop, h->session->store, NULL);
    ok = notifying_start(&notifying, h->session, &h->stop, err) && open_display(h, err) &&
         work(h, err);
    stop_request(&h->stop);
    notifying_join(notifying);
    if (h->display != NULL)
        h->summary.view = display_view(h->display, now_of(h));
    display_close(h->display);
    stop_close(&h->stop);
    return ok;
}

static bool sum_up(struct harvest *h, struct error *err)
{
    const struct trouble_filter filter = { .source = h->partition.source,
                                           .partition = &h->partition,
                                           .since_us = h->started_us,
                                           .limit = TROUBLES_MAX };
    const struct view_reader reader = session_reader(h->session);
    struct harvest_summary *summary = &h->summary;

    if (!store_retry_ready(&h->retry, err))
        return false;
    summary->source = h->partition.source;
    summary->first = &h->first;
    return count_tasks(h, &h->session->arena, &summary->count, err) &&
           trouble_list(h->session->store, &h->session->arena, &filter, &summary->troubles, err) &&
           (summary->troubles.holes == 0 ||
            view_signals_are_taken(&reader, summary->source, &summary->takes_signals, err)) &&
           load_cursor(h, &summary->after, err);
}

static bool check_secrets_of(struct harvest *h, const struct spec *spec, struct error *err)
{
    struct unset_list unset;

    if (!unset_find(&h->session->arena, spec, &unset, err))
        return false;
    for (size_t i = 0; i < unset.count; i++) {
        if (unset.items[i].is_required)
            return error_set(
                err, ERROR_FATAL, "secret.missing",
                "%.*s needs %.*s, which is not set on this machine. Nothing was sent. Set "
                "it and run the same command again",
                STR_ARG(h->partition.source), STR_ARG(unset.items[i].reference));
    }
    return true;
}

/* Checked here, because a worker that finds it out stops the source for all processes. */
static bool check_secrets(struct harvest *h, struct error *err)
{
    const struct spec *spec;
    struct plan plan;
    bool found, ok;

    if (!store_plan_get(h->session->store, &h->session->arena, h->first.plan_id, &plan, &found,
                        err))
        return false;
    if (!found)
        return true;
    if (!spec_cache_hold(h->session->specs, plan.expr_proto_snapshot, &spec, err))
        return false;
    ok = check_secrets_of(h, spec, err);
    spec_cache_release(h->session->specs, spec);
    return ok;
}

static bool run(struct harvest *h, enum exit_code *code, struct error *err)
{
    const struct invocation *invocation = h->invocation;
    struct partition_count count;
    int64_t local_us = clock_now_us(&h->session->clock), now_us;

    if (!session_time(h->session, &now_us, err))
        return false;
    h->clock_offset_us = now_us - local_us;
    h->started_us = now_us;
    if (!plan_once(h, err))
        return false;
    h->first = h->latest;
    if (!load_cursor(h, &h->summary.before, err) ||
        !count_tasks(h, &h->session->arena, &count, err))
        return false;
    h->summary.end = end_of_plan(h);
    if ((count.queued + count.running > 0 && (!check_secrets(h, err) || !work_watched(h, err))) ||
        !sum_up(h, err))
        return false;
    *code = harvest_exit(&h->summary);
    if (invocation_flag(invocation, "json"))
        return harvest_print_json(&h->summary, now_of(h), &h->session->arena, invocation->out, err);
    harvest_print(&h->summary, &h->session->arena, invocation->out);
    return true;
}

/* Spans of the plans and of the work, where somebody wants them. */
static bool run_traced(struct harvest *h, enum exit_code *code, struct error *err)
{
    struct session *session = h->session;
    bool ok;

    if (!tracing_start(&h->tracing, session, NULL, NULL, err))
        return false;
    plan_trace_init(&h->plans, &(struct plan_trace_parts){ tracing_tracer(h->tracing),
                                                           &session->clock, &session->random });
    ok = run(h, code, err);
    tracing_join_told(h->tracing, h->invocation->talk);
    return ok;
}

static bool read_options(struct harvest *h, struct error *err)
{
    const struct invocation *invocation = h->invocation;
    const char *operation = invocation_value(invocation, "operation");

    h->wait_us = WAIT_US;
    return invocation_duration(invocation, "wait", &h->wait_us, err) &&
           workers_count(invocation, &h->worker_count, err) &&
           trigger_request_read(&h->request, invocation, h->session,
                                str_of(operation != NULL ? operation : invocation->command->name),
                                err);
}

static bool harvest(const struct invocation *invocation, struct session *session,
                    enum exit_code *code, struct error *err)
{
    struct harvest h = { .turn = { harvest_turn },
                         .invocation = invocation,
                         .session = session,
                         .retry = { .store = session->store } };
    bool ok;

    arena_init(&h.look_arena, LOOK_BYTES_MAX);
    ok = read_options(&h, err) && run_traced(&h, code, err);
    trigger_request_close(&h.request);
    arena_release(&h.look_arena);
    return ok || trigger_waits(invocation, err, code);
}

static enum exit_code cmd_harvest(const struct invocation *invocation)
{
    return session_run(invocation, harvest);
}

/* ---- the commands ---- */

#define HARVEST_END                                                                           \
    "\n\nShows progress while it works, and a summary at the end. The exit code is 0 when\n"  \
    "everything was fetched, 1 when slices failed, have holes or were cancelled, 3 when it\n" \
    "cannot continue now (quota, pause), 4 when the source is stopped, and 130 when it was\n" \
    "interrupted. Run the same command again to continue."

#define RUN_OPTIONS                                                                            \
    TRIGGER_SET_OPTION, { "operation", "NAME", "The operation's name in the source's file." }, \
        WORKERS_OPTION,                                                                        \
        { "wait", "DURATION", "Give up when no task may run for this long (15m)." },           \
        { "json", NULL, "Print JSON lines: events as they happen, then a summary." },          \
        { "quiet", NULL, "Show only the summary, no progress." }, SESSION_OPTION
#define HARVEST_OPTIONS                     \
    {                                       \
        TRIGGER_WINDOW_OPTIONS, RUN_OPTIONS \
    }
#define CAMPAIGN_OPTIONS                                                      \
    {                                                                         \
        TRIGGER_WINDOW_OPTIONS, TRIGGER_CAMPAIGN_OPTION("Start"), RUN_OPTIONS \
    }
#define IDS_OPTIONS                                                      \
    {                                                                    \
        TRIGGER_WINDOW_OPTIONS, TRIGGER_IDS_OPTIONS("Only"), RUN_OPTIONS \
    }

const struct command COMMAND_HARVEST = {
    .name = "harvest",
    .summary = "fetch what is new in a source, and wait for it",
    .operands = "SOURCE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Plans a harvest, as patra trigger does, and runs its tasks in this process. Its window\n"
        "begins at the source's cursor and ends at the current time minus the lag. Tasks that\n"
        "an earlier plan left in the queue are run as well." HARVEST_END,
    .options = HARVEST_OPTIONS,
    .run = cmd_harvest,
};

const struct command COMMAND_BACKFILL = {
    .name = "backfill",
    .summary = "fetch the past of a source, and wait for it",
    .operands = "SOURCE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Plans a backfill and runs its tasks in this process, newest window first. It does not\n"
        "move the cursor of harvest." HARVEST_END,
    .options = CAMPAIGN_OPTIONS,
    .run = cmd_harvest,
};

const struct command COMMAND_UPDATE = {
    .name = "update",
    .summary = "request known records of a source again, and wait for it",
    .operands = "SOURCE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Plans an update and runs its tasks in this process. It requests records that are\n"
        "stale, were read with an older version of the source's file, are named by --ids, or\n"
        "have a signal. Of an endpoint with a parent it requests the children of those records\n"
        "of the parent whose children were not fetched yet, or are stale." HARVEST_END,
    .options = IDS_OPTIONS,
    .run = cmd_harvest,
};

const struct command COMMAND_METRICS = {
    .name = "metrics",
    .summary = "fetch the metrics of known records, and wait for it",
    .operands = "SOURCE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Plans a metrics operation (citation counts, say) and runs its tasks in this process. It\n"
        "requests the metrics of records that have none yet or whose metrics are stale, or of\n"
        "those that --ids names." HARVEST_END,
    .options = IDS_OPTIONS,
    .run = cmd_harvest,
};

const struct command COMMAND_REPLAY = {
    .name = "replay",
    .summary = "fetch a window of a source again, and wait for it",
    .operands = "SOURCE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Plans a replay of the window and runs its tasks in this process. It does not move the\n"
        "cursor of harvest, and records that have not changed stay as they are." HARVEST_END,
    .options = CAMPAIGN_OPTIONS,
    .run = cmd_harvest,
};
