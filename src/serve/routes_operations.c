/* Whatever changes something: the verbs of the commands, each with who asked. Without a body, a
 * change that needs nothing is made; `dryRun` shows what it would be where the command can. */
#include <inttypes.h>

#include "act/cursor.h"
#include "act/pause.h"
#include "act/subscription.h"
#include "engine/execute/quarantine_retry.h"
#include "engine/housekeeping/housekeeping.h"
#include "engine/plan/cancel.h"
#include "port/store_signal.h"
#include "serve/call.h"
#include "view/plan.h"
#include "view/settled.h"
#include "view/trigger.h"

enum {
    ROWS_MAX = 1000,
    RESLICES_MAX = 1000,
    SLICES_MAX = 10000,
    REASON_MAX = 200,
    NAME_MAX_BYTES = 200
};

/* {"RESULT": "..."} with what it was done to. */
static bool say(struct call *call, const char *what, struct str which, struct str outcome)
{
    json_write_object(&call->w);
    json_write_member_str(&call->w, str_of(what), which);
    json_write_member_str(&call->w, STR("outcome"), outcome);
    json_write_end(&call->w);
    return true;
}

static bool say_row(struct call *call, const char *what, int64_t id, struct str outcome)
{
    json_write_object(&call->w);
    json_write_member_i64(&call->w, str_of(what), id);
    json_write_member_str(&call->w, STR("outcome"), outcome);
    json_write_end(&call->w);
    return true;
}

/* ---- trigger ---- */

struct given_ids {
    struct id_reader reader; /* first */
    const struct param_value *from;
    size_t next;
};

static bool next_id(struct id_reader *reader, struct str *id, bool *has, struct error *err)
{
    struct given_ids *given = (struct given_ids *)reader;

    (void)err;
    *has = given->next < given->from->count;
    if (*has)
        *id = given->from->texts[given->next++];
    return true;
}

static bool read_overrides(struct call *call, struct override_list *list, struct error *err)
{
    const struct param_value *set = call_value(call, "set");
    struct override *items = ARENA_ARRAY(call->reader.arena, struct override, set->count + 1);

    if (items == NULL)
        return arena_error(call->reader.arena, err);
    for (size_t i = 0; i < set->count; i++)
        items[i] = (struct override){ set->names[i], set->texts[i] };
    *list = (struct override_list){ items, set->count };
    return true;
}

static bool fire(struct call *call, struct plan_request *request, struct error *err)
{
    struct housekeeping_request first = { .owner = STR("patra api"),
                                          .tickets_max = RESLICES_MAX,
                                          .specs = request->specs };
    const bool is_dry = call_flag(call, "dryRun");
    struct housekeeping_result done;
    struct trigger_preview preview;
    struct plan_result result = { 0 };

    if (!(is_dry ? call_clock : call_time)(call, &request->now_us, err))
        return false;
    first.now_us = request->now_us;
    trigger_preview_init(&preview, call->reader.arena, call_number(call, "limit"));
    /* First re-slice what executors asked for; else it would be planned as it was. */
    if (is_dry ? !plan_preview(call->reader.store, call->reader.arena, request, &preview.viewer,
                               &result, err)
               : !housekeeping_run(call->reader.store, &first, &done, err) ||
                     !plan_trigger(call->reader.store, call->reader.arena, request, &result, err))
        return false;
    if (preview.failed)
        return arena_error(call->reader.arena, err);
    view_trigger_write(&call->w,
                       &(struct view_trigger){ request, &result, is_dry ? &preview : NULL });
    return true;
}

static bool trigger(struct call *call, struct error *err)
{
    const struct api_settings *settings = api_settings(call->api);
    struct given_ids ids = { { next_id }, call_value(call, "ids"), 0 };
    struct plan_request request = {
        .source = call_text(call, "source"),
        .operation = call_has(call, "operation") ? call_text(call, "operation") : STR("harvest"),
        .now_us = call->reader.now_us,
        .trigger = TRIGGER_MANUAL,
        .scheduler = call_has(call, "scheduler") ? call_text(call, "scheduler") : STR("api"),
        .job_id = call_has(call, "jobId") ? call_text(call, "jobId") : call_who(call),
        .log_id = call_text(call, "logId"),
        .from = { call_has(call, "from"), call_number(call, "from") },
        .to = { call_has(call, "to"), call_number(call, "to") },
        .campaign = call_text(call, "campaign"),
        .stale_us = call_number(call, "stale"),
        .ids = call_has(call, "ids") ? &ids.reader : NULL,
        .specs = settings->specs,
        .secrets = settings->secrets,
        .random = settings->random,
    };

    if (call_has(call, "stale") && request.stale_us == 0)
        request.stale_us = 1; /* "0": everything checked before now */
    if (request.from.is_set && request.to.is_set && request.from.at_us > request.to.at_us)
        return error_set(err, ERROR_REQUEST, "request.parameter", "from: is after to");
    return read_overrides(call, &request.overrides, err) && fire(call, &request, err);
}

/* ---- plans and tasks ---- */

static bool cancel_plan(struct call *call, struct error *err)
{
    const int64_t id = call_number(call, "plan");
    struct plan plan;
    int64_t cancelled;

    if (!view_plan_find(&call->reader, id, &plan, err) ||
        !plan_cancel(call->reader.store, id, call->reader.now_us, &cancelled, err))
        return false;
    json_write_object(&call->w);
    json_write_member_i64(&call->w, STR("plan"), id);
    json_write_member_str(&call->w, STR("outcome"),
                          plan.status == PLAN_CANCELLED || plan.status == PLAN_FAILED
                              ? STR("had already ended")
                              : STR("cancelled"));
    json_write_member_i64(&call->w, STR("tasks"), cancelled);
    json_write_end(&call->w);
    return true;
}

static bool cancel_task(struct call *call, struct error *err)
{
    static const struct str words[] = { [TASK_IS_CANCELLED] = STR_INIT("cancelled"),
                                        [TASK_WILL_STOP] = STR_INIT("stops after its batch"),
                                        [TASK_HAD_ENDED] = STR_INIT("had already ended") };
    const struct str reason = call_text(call, "reason");
    struct task_cancel_request request = { .id = call_number(call, "task"),
                                           .now_us = call->reader.now_us };
    enum task_cancel_result result;

    request.reason = arena_printf(call->reader.arena, "%.*s%s%.*s", STR_ARG(call_who(call)),
                                  reason.len > 0 ? ": " : "", STR_ARG(reason));
    if (request.reason.data == NULL)
        return arena_error(call->reader.arena, err);
    return task_cancel(call->reader.store, &request, &result, err) &&
           say_row(call, "task", request.id, words[result]);
}

/* ---- pause and resume ---- */

static bool pause_source(struct call *call, struct error *err)
{
    const struct pause pause = { .source = call_text(call, "source"),
                                 .endpoint = call_text(call, "endpoint"),
                                 .kind = PAUSE_PAUSED,
                                 .reason = call_text(call, "reason"),
                                 .created_by = call_who(call),
                                 .created_us = call->reader.now_us };
    bool added;

    return act_pause(&call->reader, &pause, &added, err) &&
           say(call, "source", pause.source, added ? STR("paused") : STR("already paused"));
}

static bool resume_source(struct call *call, struct error *err)
{
    const struct str source = call_text(call, "source");
    bool changed;

    return act_resume(&call->reader, source, call_text(call, "endpoint"), &changed, err) &&
           say(call, "source", source, changed ? STR("resumed") : STR("was not paused"));
}

/* ---- cursors ---- */

static void write_value(struct json_writer *w, struct str name, const struct cursor_value *value)
{
    if (value->type == CURSOR_TIME)
        json_write_member_instant(w, name, value->instant_us);
    else
        json_write_member_str(w, name, value->text);
}

static bool reset_cursor(struct call *call, struct error *err)
{
    const struct view_cursor_filter filter = {
        .source = call_text(call, "source"),
        .has_operation = true,
        .operation = call_has(call, "operation") ? (enum operation)call_number(call, "operation")
                                                 : OPERATION_HARVEST,
        .namespace_prefix = call_text(call, "namespace"),
    };
    struct cursor_reset_request request = { .who = call_who(call),
                                            .reason = call_text(call, "reason"),
                                            .now_us = call->reader.now_us };
    struct cursor_reset_result result = { 0 };
    struct view_cursor_list list;

    if (!act_cursor_choose(&call->reader, &filter, &list, err) ||
        !act_cursor_value(list.items[0].cursor.value.type, call_text(call, "to"), request.now_us,
                          &request.to, err))
        return false;
    request.name = list.items[0].cursor.name;
    result.prev = list.items[0].cursor.value;
    if (!call_flag(call, "dryRun") &&
        !cursor_reset(call->reader.store, call->reader.arena, &request, &result, err))
        return false;
    json_write_object(&call->w);
    json_write_member_bool(&call->w, STR("dryRun"), call_flag(call, "dryRun"));
    json_write_member_str(&call->w, STR("source"), filter.source);
    json_write_member_str(&call->w, STR("operation"),
                          code_of(&OPERATION_CODES, (int)filter.operation));
    write_value(&call->w, STR("from"), &result.prev);
    write_value(&call->w, STR("to"), &request.to);
    json_write_member_bool(&call->w, STR("moved"), result.is_moved);
    json_write_member_i64(&call->w, STR("tasks"), result.tasks);
    json_write_end(&call->w);
    return true;
}

/* ---- quarantine and signals: a list of rows, each by itself ---- */

static bool retry_one(struct call *call, int64_t id, struct error *err)
{
    const struct api_settings *settings = api_settings(call->api);
    const struct quarantine_retry_request request = { .id = id,
                                                      .by = call_who(call),
                                                      .note = call_text(call, "note"),
                                                      .now_us = call->reader.now_us,
                                                      .is_dry = call_flag(call, "dryRun"),
                                                      .specs = settings->specs };
    struct quarantine_retried retried;

    if (!quarantine_retry(call->reader.store, call->reader.arena, settings->random, &request,
                          &retried, err))
        return false;
    view_settled_write(&call->w,
                       &(struct view_settled){ id, view_retried_word(retried.outcome), &retried });
    return true;
}

static bool drop_one(struct call *call, int64_t id, struct error *err)
{
    const struct quarantine_resolve resolve = { .id = id,
                                                .resolution = QUARANTINE_DROPPED,
                                                .by = call_who(call),
                                                .note = call_text(call, "note"),
                                                .now_us = call->reader.now_us };
    bool resolved;

    if (!store_quarantine_resolve(call->reader.store, &resolve, &resolved, err))
        return false;
    view_settled_write(
        &call->w, &(struct view_settled){ id, resolved ? STR("dropped") : STR("not open"), NULL });
    return true;
}

static bool drop_signal(struct call *call, int64_t id, struct error *err)
{
    bool dropped;

    if (!store_signal_drop(call->reader.store, id, call_who(call), call->reader.now_us, &dropped,
                           err))
        return false;
    return say_row(call, "id", id, dropped ? STR("dropped") : STR("not open"));
}

static bool each_row(struct call *call,
                     bool (*one)(struct call *call, int64_t id, struct error *err),
                     struct error *err)
{
    const struct param_value *ids = call_value(call, "ids");

    json_write_array(&call->w);
    for (size_t i = 0; i < ids->count; i++) {
        if (!one(call, ids->rows[i], err))
            return error_wrap(err, "%" PRId64, ids->rows[i]);
    }
    json_write_end(&call->w);
    return true;
}

static bool retry_quarantine(struct call *call, struct error *err)
{
    return each_row(call, retry_one, err);
}

static bool drop_quarantine(struct call *call, struct error *err)
{
    return each_row(call, drop_one, err);
}

static bool drop_signals(struct call *call, struct error *err)
{
    return each_row(call, drop_signal, err);
}

/* ---- subscriptions ---- */

static bool hold(struct call *call, bool is_paused, struct error *err)
{
    const struct act_hold request = { .name = call_text(call, "name"),
                                      .is_paused = is_paused,
                                      .who = call_who(call),
                                      .note = is_paused ? call_text(call, "reason") : STR("") };
    bool changed;

    if (!act_subscription_hold(&call->reader, &request, &changed, err))
        return false;
    if (is_paused)
        return say(call, "subscription", request.name,
                   changed ? STR("paused") : STR("already paused"));
    return say(call, "subscription", request.name,
               changed ? STR("resumed") : STR("was not paused"));
}

static bool pause_subscription(struct call *call, struct error *err)
{
    return hold(call, true, err);
}

static bool resume_subscription(struct call *call, struct error *err)
{
    return hold(call, false, err);
}

/* One KEY, or all of them: never all by an oversight. */
static bool read_key(struct call *call, struct str *key, struct error *err)
{
    *key = call_text(call, "key");
    return (key->len > 0) != call_flag(call, "all") ||
           error_set(err, ERROR_REQUEST, "request.parameter", "key: name one, or set all");
}

static bool with_home(struct call *call,
                      bool (*act)(struct call *call, const struct subscription_home *home,
                                  struct error *err),
                      struct error *err)
{
    struct subscription_home home = { 0 };
    const bool ok = subscription_home_open(&call->reader, api_settings(call->api)->sinks,
                                           call_text(call, "name"), &home, err) &&
                    act(call, &home, err);

    subscription_home_close(&home);
    return ok;
}

static bool retry_at(struct call *call, const struct subscription_home *home, struct error *err)
{
    struct str key;
    int64_t count;

    if (!read_key(call, &key, err) || !act_parked_retry(home, key, &count, err))
        return false;
    json_write_object(&call->w);
    json_write_member_i64(&call->w, STR("keys"), count);
    json_write_end(&call->w);
    return true;
}

static bool skip_at(struct call *call, const struct subscription_home *home, struct error *err)
{
    const struct act_skip skip = { .key = call_text(call, "key"),
                                   .who = call_who(call),
                                   .note = call_text(call, "reason") };
    struct given_up given;

    if (!act_parked_skip(home, call->reader.arena, &skip, &given, err))
        return false;
    json_write_object(&call->w);
    json_write_member_str(&call->w, STR("key"), skip.key);
    json_write_member_i64(&call->w, STR("events"), given.events);
    json_write_end(&call->w);
    return true;
}

static bool redrive_at(struct call *call, const struct subscription_home *home, struct error *err)
{
    struct redriven redriven;
    struct str key;

    if (!read_key(call, &key, err) || !act_redrive(home, key, call_who(call), &redriven, err))
        return false;
    json_write_object(&call->w);
    json_write_member_i64(&call->w, STR("events"), redriven.events);
    json_write_member_i64(&call->w, STR("gone"), redriven.gone);
    json_write_end(&call->w);
    return true;
}

static bool retry_parked(struct call *call, struct error *err)
{
    return with_home(call, retry_at, err);
}

static bool skip_parked(struct call *call, struct error *err)
{
    return with_home(call, skip_at, err);
}

static bool redrive_dead(struct call *call, struct error *err)
{
    return with_home(call, redrive_at, err);
}

/* ---- the table ---- */

#define SOURCE PARAM_WORD("source", IN_PATH, "The source.")
#define ENDPOINT PARAM_WORD("endpoint", IN_BODY, "Only this endpoint; else the whole source.")
#define REASON                                                                      \
    {                                                                               \
        .name = "reason", .place = IN_BODY, .kind = PARAM_TEXT, .most = REASON_MAX, \
        .help = "Why, for those who look at it later."                              \
    }
#define NOTE PARAM_WORD("note", IN_BODY, "Why it is done, kept with the rows.")
#define DRY_RUN PARAM_SWITCH("dryRun", IN_BODY, "Show what would happen, and write nothing.")
#define IDS                                                                       \
    {                                                                             \
        .name = "ids", .place = IN_BODY, .kind = PARAM_ROWS, .is_required = true, \
        .most = ROWS_MAX, .help = "Their numbers."                                \
    }
#define SUBSCRIPTION PARAM_WORD("name", IN_PATH, "The subscription.")
#define KEY PARAM_WORD("key", IN_BODY, "The key: an aggregate's id.")
#define ALL PARAM_SWITCH("all", IN_BODY, "Every key.")
#define INSTANT(name_, help_)                                                 \
    {                                                                         \
        .name = name_, .place = IN_BODY, .kind = PARAM_INSTANT, .help = help_ \
    }
#define SHORT(name_, help_)                                                                        \
    {                                                                                              \
        .name = name_, .place = IN_BODY, .kind = PARAM_TEXT, .most = NAME_MAX_BYTES, .help = help_ \
    }
#define CHANGE(path_, name_, summary_, command_, run_, ...)                                       \
    {                                                                                             \
        .method = "POST", .path = path_, .name = name_, .summary = summary_, .command = command_, \
        .access = ROUTE_CHANGES, .params = { __VA_ARGS__ }, .run = run_                           \
    }

static const struct route ROUTES[] = {
    CHANGE("/v1/sources/{source}/trigger", "trigger", "Plan an operation of a source",
           "patra trigger SOURCE [OPERATION] --json", trigger, SOURCE,
           PARAM_WORD("operation", IN_BODY,
                      "HARVEST, BACKFILL, UPDATE, METRICS, REPLAY, or the "
                      "name of one in the source's file (harvest)."),
           INSTANT("from", "Start of the window: a date, or how long ago (7d)."),
           INSTANT("to", "End of the window, exclusive."),
           PARAM_WORD("campaign", IN_BODY, "Start or continue this campaign."),
           { .name = "ids",
             .place = IN_BODY,
             .kind = PARAM_TEXTS,
             .help = "Update, metrics: only these records." },
           { .name = "stale",
             .place = IN_BODY,
             .kind = PARAM_SPAN,
             .help = "Update, metrics: only records that were not checked for this long." },
           { .name = "set",
             .place = IN_BODY,
             .kind = PARAM_PAIRS,
             .most = 64,
             .help = "Settings for this plan: {\"window.max\": \"6h\"}." },
           SHORT("scheduler", "The scheduler that fires this; kept with the plan."),
           SHORT("jobId", "That scheduler's name for the job."),
           SHORT("logId", "That scheduler's name for this run of the job."), DRY_RUN,
           { .name = "limit",
             .place = IN_BODY,
             .kind = PARAM_NUMBER,
             .most = SLICES_MAX,
             .otherwise = 20,
             .help = "How many slices a dry run shows." }),
    CHANGE("/v1/sources/{source}/pause", "pauseSource", "Pause a source or an endpoint",
           "patra pause SOURCE[/ENDPOINT]", pause_source, SOURCE, ENDPOINT, REASON),
    CHANGE("/v1/sources/{source}/resume", "resumeSource",
           "Resume a paused or stopped source or endpoint", "patra resume SOURCE[/ENDPOINT]",
           resume_source, SOURCE, ENDPOINT),
    CHANGE("/v1/plans/{plan}/cancel", "cancelPlan", "Cancel a plan and its waiting tasks",
           "patra plan cancel PLAN", cancel_plan, PARAM_ROW("plan", "Its number.")),
    CHANGE("/v1/tasks/{task}/cancel", "cancelTask", "Cancel one task and its slice",
           "patra task cancel TASK", cancel_task, PARAM_ROW("task", "Its number."), REASON),
    CHANGE("/v1/cursors/{source}/reset", "resetCursor", "Set a cursor back or forward",
           "patra cursor reset SOURCE --to VALUE --yes", reset_cursor, SOURCE,
           { .name = "to",
             .place = IN_BODY,
             .kind = PARAM_TEXT,
             .is_required = true,
             .help = "The new value: a date, or how long ago; for a feed, an id or a token." },
           { .name = "operation",
             .place = IN_BODY,
             .kind = PARAM_CODE,
             .codes = &OPERATION_CODES,
             .help = "The cursor of this operation (harvest)." },
           PARAM_WORD("namespace", IN_BODY, "The cursor whose namespace key begins with this."),
           REASON, DRY_RUN),
    CHANGE("/v1/quarantine/retry", "retryQuarantine", "Read quarantined records again",
           "patra quarantine retry ID... --json", retry_quarantine, IDS, NOTE, DRY_RUN),
    CHANGE("/v1/quarantine/drop", "dropQuarantine", "Drop quarantined records",
           "patra quarantine drop ID... --yes --json", drop_quarantine, IDS, NOTE),
    CHANGE("/v1/signals/drop", "dropSignals", "Drop signals", "patra signal drop ID... --yes",
           drop_signals, IDS),
    CHANGE("/v1/subscriptions/{name}/pause", "pauseSubscription", "Hold a subscription",
           "patra outbox pause NAME", pause_subscription, SUBSCRIPTION, REASON),
    CHANGE("/v1/subscriptions/{name}/resume", "resumeSubscription",
           "Let a paused or stopped subscription go on", "patra outbox resume NAME",
           resume_subscription, SUBSCRIPTION),
    CHANGE("/v1/subscriptions/{name}/retry", "retryParked", "Try parked keys at once",
           "patra outbox retry NAME KEY", retry_parked, SUBSCRIPTION, KEY, ALL),
    CHANGE("/v1/subscriptions/{name}/skip", "skipParked",
           "Give up the events that wait for a parked key", "patra outbox skip NAME KEY",
           skip_parked, SUBSCRIPTION,
           { .name = "key",
             .place = IN_BODY,
             .kind = PARAM_TEXT,
             .is_required = true,
             .help = "The key: an aggregate's id." },
           REASON),
    CHANGE("/v1/subscriptions/{name}/redrive", "redriveDead", "Deliver events that were given up",
           "patra outbox redrive NAME KEY", redrive_dead, SUBSCRIPTION, KEY, ALL),
};

const struct route_group ROUTES_OPERATIONS = { "Operations", ROUTES, ARRAY_LEN(ROUTES) };
