/* What is missing of a record, step by step, up to its row in the store. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/list.h"
#include "base/text.h"
#include "view/why_internal.h"

bool why_find(struct view_why *why, struct arena *arena, const struct why_finding *finding,
              struct error *err)
{
    struct why_finding *place = LIST_ADD(arena, &why->findings);

    if (place == NULL || finding->text.data == NULL || finding->command.data == NULL)
        return arena_error(arena, err);
    *place = *finding;
    return true;
}

#define FINDING(step_, reason_, command_, ...)                        \
    (&(struct why_finding){ .step = (step_),                          \
                            .reason = STR(reason_),                   \
                            .text = arena_printf(arena, __VA_ARGS__), \
                            .command = (command_) })

static struct str work_command(const struct view_why *why, struct arena *arena)
{
    return arena_printf(arena, "patra work --drain --source %.*s",
                        STR_ARG(why_word(arena, why->key.source)));
}

/* ---- the source ---- */

static bool judge_source(struct view_why *why, struct arena *arena, struct error *err)
{
    const struct str source = why->key.source;
    const struct str command = arena_printf(arena, "patra source apply sources/%.*s.yaml",
                                            STR_ARG(why_word(arena, source)));

    if (why->source.was_in_force)
        return why_find(why, arena,
                        FINDING(WHY_SOURCE, "source.removed", command,
                                "%.*s was taken out of force: nothing is fetched from it any more",
                                STR_ARG(source)),
                        err);
    return why_find(why, arena,
                    FINDING(WHY_SOURCE, "source.unknown", command,
                            "there is no source %.*s: it was not applied", STR_ARG(source)),
                    err);
}

/* The first pause of an operation that would fetch it. */
static const struct pause *paused(const struct view_why *why)
{
    for (size_t i = 0; i < why->source.pauses.count; i++) {
        const struct pause *pause = &why->source.pauses.items[i];

        for (size_t k = 0; k < why->source.operation_count; k++) {
            if (pause->endpoint.len == 0 ||
                str_eq(pause->endpoint, why->source.operations[k].endpoint))
                return pause;
        }
    }
    return NULL;
}

static bool judge_pause(struct view_why *why, struct arena *arena, const struct pause *pause,
                        struct error *err)
{
    const char *slash = pause->endpoint.len > 0 ? "/" : "";
    const struct str command =
        arena_printf(arena, "patra resume %.*s%s%.*s", STR_ARG(why_word(arena, why->key.source)),
                     slash, STR_ARG(pause->endpoint));

    if (pause->kind == PAUSE_STOPPED)
        return why_find(why, arena,
                        FINDING(WHY_SOURCE, "source.stopped", command,
                                "%.*s%s%.*s was stopped by an error: %.*s. Fix the cause first",
                                STR_ARG(why->key.source), slash, STR_ARG(pause->endpoint),
                                STR_ARG(pause->reason)),
                        err);
    return why_find(why, arena,
                    FINDING(WHY_SOURCE, "source.paused", command,
                            "%.*s%s%.*s was paused by %.*s: %.*s", STR_ARG(why->key.source), slash,
                            STR_ARG(pause->endpoint), STR_ARG(pause->created_by),
                            STR_ARG(pause->reason)),
                    err);
}

/* ---- quarantine ---- */

static const struct quarantined *open_quarantine(const struct view_why *why)
{
    for (size_t i = 0; i < why->quarantine.count; i++) {
        if (why->quarantine.items[i].resolution == QUARANTINE_OPEN)
            return &why->quarantine.items[i];
    }
    return NULL;
}

static bool judge_quarantined(struct view_why *why, struct arena *arena,
                              const struct quarantined *bad, struct error *err)
{
    const struct str again = why_command_again(why, arena);

    return why_find(
        why, arena,
        FINDING(WHY_QUARANTINE, "quarantine.open",
                arena_printf(arena, "patra quarantine retry %" PRId64, bad->id),
                "%s was received at %.*s and could not be judged: %.*s (%.*s). Correct the "
                "source's file and apply it first%s%.*s",
                why->has_record ? "a later state of it" : "it",
                STR_ARG(text_instant_in(arena, bad->observed_us)), STR_ARG(bad->detail),
                STR_ARG(bad->reason),
                again.len > 0 ? "; or, if the source was wrong and is right by now: " : "",
                STR_ARG(again)),
        err);
}

static bool judge_dropped(struct view_why *why, struct arena *arena, const struct quarantined *bad,
                          struct error *err)
{
    return why_find(why, arena,
                    FINDING(WHY_QUARANTINE, "quarantine.dropped", why_command_again(why, arena),
                            "it was quarantined (%.*s), and %.*s dropped it at %.*s%s%.*s",
                            STR_ARG(bad->reason), STR_ARG(bad->resolved_by),
                            STR_ARG(text_instant_in(arena, bad->resolved_us)),
                            bad->note.len > 0 ? ": " : "", STR_ARG(bad->note)),
                    err);
}

/* ---- signals ---- */

static bool takes_signals(const struct view_why *why)
{
    for (size_t i = 0; i < why->source.operation_count; i++) {
        if (why->source.operations[i].takes_signals)
            return true;
    }
    return false;
}

/* "refused: GET ...: status 403" */
static struct str signal_text(struct arena *arena, const struct signal *signal)
{
    return signal->detail.len > 0
               ? arena_printf(arena, "%.*s: %.*s", STR_ARG(signal->reason), STR_ARG(signal->detail))
               : signal->reason;
}

static bool judge_open_signal(struct view_why *why, struct arena *arena,
                              const struct signal *signal, struct error *err)
{
    const struct str text = signal_text(arena, signal);
    const struct pause *pause = paused(why);

    if (!takes_signals(why))
        return why_find(why, arena,
                        FINDING(WHY_REQUEST, "signal.idle", why_command_again(why, arena),
                                "it is to be requested by its id (%.*s), but %.*s has no update "
                                "that takes signals: add one to its file",
                                STR_ARG(text), STR_ARG(why->key.source)),
                        err);
    if (pause != NULL)
        return judge_pause(why, arena, pause, err);
    if (signal->http_status > 0)
        return why_find(why, arena,
                        FINDING(WHY_REQUEST, "signal.refused",
                                why_command(why, arena, OPERATION_UPDATE),
                                "the source listed it and refused it, %" PRId64 " times so far: "
                                "%.*s",
                                signal->tried + 1, STR_ARG(text)),
                        err);
    return why_find(why, arena,
                    FINDING(WHY_REQUEST, "signal.open", why_command(why, arena, OPERATION_UPDATE),
                            "it waits to be requested by its id since %.*s (%.*s)",
                            STR_ARG(text_instant_in(arena, signal->created_us)), STR_ARG(text)),
                    err);
}

static bool judge_past_signal(struct view_why *why, struct arena *arena,
                              const struct signal_past *past, struct error *err)
{
    const int64_t *tasks = why->taken.tasks;

    if (past->plan_id == 0)
        return why_find(why, arena,
                        FINDING(WHY_REQUEST, "signal.dropped", why_command_again(why, arena),
                                "it was to be requested by its id (%.*s), and %.*s dropped that at "
                                "%.*s",
                                STR_ARG(signal_text(arena, &past->signal)),
                                STR_ARG(past->closed_by),
                                STR_ARG(text_instant_in(arena, past->consumed_us))),
                        err);
    if (tasks[TASK_QUEUED] + tasks[TASK_DISPATCHED] + tasks[TASK_EXECUTING] > 0)
        return why_find(why, arena,
                        FINDING(WHY_REQUEST, "signal.planned", work_command(why, arena),
                                "plan %" PRId64 " requests it by its id and has not ended",
                                past->plan_id),
                        err);
    return why_find(why, arena,
                    FINDING(WHY_REQUEST, "source.gone", why_command_again(why, arena),
                            "plan %" PRId64 " requested it by its id, and the source does not "
                            "have it (%.*s)",
                            past->plan_id, STR_ARG(signal_text(arena, &past->signal))),
                    err);
}

/* ---- windows ---- */

static bool judge_running(struct view_why *why, struct arena *arena, const struct task *task,
                          struct error *err)
{
    const struct pause *pause = paused(why);

    if (pause != NULL)
        return judge_pause(why, arena, pause, err);
    if (task->status != TASK_QUEUED && task->leased_until_us > why->now_us)
        return why_find(why, arena,
                        FINDING(WHY_WINDOW, "window.running",
                                arena_printf(arena, "patra task show %" PRId64, task->id),
                                "task %" PRId64 " is fetching its window, at %.*s", task->id,
                                STR_ARG(task->lease_owner)),
                        err);
    return why_find(why, arena,
                    FINDING(WHY_WINDOW, "window.waiting", work_command(why, arena),
                            "task %" PRId64 " is to fetch its window and waits for a worker%s%.*s",
                            task->id, task->last_error.len > 0 ? "; its last try: " : "",
                            STR_ARG(task->last_error)),
                    err);
}

static bool judge_ended(struct view_why *why, struct arena *arena, const struct ended_task *ended,
                        struct error *err)
{
    const struct task *task = &ended->task;
    const bool is_held = ended->has_reason &&
                         (ended->reason == PARTIAL_DEAD_END ||
                          ended->reason == PARTIAL_OVER_BUDGET || ended->reason == PARTIAL_CRASHED);
    const struct str replay = window_is_valid(task->window)
                                  ? why_command_window(why, arena, OPERATION_REPLAY, task->window)
                                  : why_command(why, arena, task->operation);
    const struct str trigger =
        task->operation == OPERATION_HARVEST ? why_command(why, arena, OPERATION_HARVEST) : replay;
    const struct pause *pause = paused(why);

    if (pause != NULL)
        return judge_pause(why, arena, pause, err);
    if (task->is_reset)
        return why_find(why, arena,
                        FINDING(WHY_WINDOW, "window.reset", trigger,
                                "the cursor was set back to before its window, which is to be "
                                "fetched again (task %" PRId64 " had fetched it)",
                                task->id),
                        err);
    if (task->status == TASK_CANCELLED)
        return why_find(why, arena,
                        FINDING(WHY_WINDOW, "window.cancelled", trigger,
                                "task %" PRId64 " was to fetch its window and was cancelled: %.*s",
                                task->id,
                                STR_ARG(task->cancel_reason.len > 0 ? task->cancel_reason
                                                                    : STR("with its plan"))),
                        err);
    if (is_held)
        return why_find(why, arena,
                        FINDING(WHY_WINDOW, "window.held", replay,
                                "task %" PRId64 " could not walk its window to the end, and would "
                                "end there again: %.*s. Correct the source's file and apply it "
                                "first",
                                task->id, STR_ARG(task->last_error)),
                        err);
    if (ended->is_resliced)
        return why_find(why, arena,
                        FINDING(WHY_WINDOW, "window.resliced", work_command(why, arena),
                                "its window was too large for task %" PRId64 ", and its rest "
                                "waits to be re-sliced",
                                task->id),
                        err);
    if (task->status == TASK_PARTIAL)
        return why_find(why, arena,
                        FINDING(WHY_WINDOW, "window.partial", trigger,
                                "task %" PRId64 " ended before it had all of its window: %.*s",
                                task->id, STR_ARG(task->last_error)),
                        err);
    return why_find(why, arena,
                    FINDING(WHY_WINDOW, "window.failed", trigger,
                            "task %" PRId64 " failed to fetch its window: %.*s", task->id,
                            STR_ARG(task->last_error)),
                    err);
}

/* ---- the date, and what holds it ---- */

struct holders { /* the newest of each kind; NULL: none */
    const struct why_window *covered, *live, *lost;
    const struct why_plan *plan_covered, *plan_live, *plan_lost;
    bool is_former; /* a query that is not in force has covered it */
};

static struct holders find_holders(const struct view_why *why)
{
    struct holders found = { 0 };

    for (size_t i = why->windows.count; i-- > 0;) {
        const struct why_window *window = &why->windows.items[i];

        if (window->is_former)
            found.is_former |= window->cover == WHY_COVERED;
        else if (window->cover == WHY_COVERED)
            found.covered = window;
        else if (window->cover == WHY_LIVE)
            found.live = window;
        else
            found.lost = window;
    }
    for (size_t i = why->plans.count; i-- > 0;) {
        const struct why_plan *plan = &why->plans.items[i];

        if (plan->is_former)
            found.is_former |= plan->cover == WHY_COVERED;
        else if (plan->cover == WHY_COVERED)
            found.plan_covered = plan;
        else if (plan->cover == WHY_LIVE)
            found.plan_live = plan;
        else
            found.plan_lost = plan;
    }
    return found;
}

static bool judge_silent(struct view_why *why, struct arena *arena, struct str holder,
                         struct error *err)
{
    const struct str by_id = why_command_id(why, arena);

    return why_find(
        why, arena,
        FINDING(WHY_REQUEST, "source.silent", why_command_again(why, arena),
                "%.*s has fetched all of the window that holds its date, and the source did not "
                "list it%s",
                STR_ARG(holder), by_id.len > 0 ? "; ask for it by its id" : ""),
        err);
}

static const struct why_operation *harvest_of(const struct view_why *why)
{
    for (size_t i = 0; i < why->source.operation_count; i++) {
        if (why->source.operations[i].operation == OPERATION_HARVEST)
            return &why->source.operations[i];
    }
    return NULL;
}

/* No plan in force holds the date: too late for the last one, or too early for the first. */
static bool judge_unplanned(struct view_why *why, struct arena *arena, bool is_former,
                            struct error *err)
{
    const int64_t day_us = instant_floor(why->date_us, US_PER_DAY);
    const struct str backfill = why_command_window(why, arena, OPERATION_BACKFILL,
                                                   (struct window){ day_us, day_us + US_PER_DAY });
    const struct why_operation *harvest = harvest_of(why);
    const struct pause *pause = paused(why);

    if (pause != NULL)
        return judge_pause(why, arena, pause, err);
    if (is_former)
        return why_find(why, arena,
                        FINDING(WHY_PLAN, "plan.former", backfill,
                                "its date was covered by a query that is no longer in force; the "
                                "present one has not been asked for it"),
                        err);
    if (harvest != NULL && why->date_us >= why->now_us - harvest->lag_us)
        return why_find(why, arena,
                        FINDING(WHY_PLAN, "plan.lag", why_command(why, arena, OPERATION_HARVEST),
                                "its date is too new: a harvest ends %.*s before now, because the "
                                "source is not complete earlier. Run it after %.*s",
                                STR_ARG(why_span(arena, harvest->lag_us)),
                                STR_ARG(text_instant_in(arena, why->date_us + harvest->lag_us))),
                        err);
    if (why->has_cursor && why->date_us >= why->cursor_us)
        return why_find(why, arena,
                        FINDING(WHY_PLAN, "plan.later", why_command(why, arena, OPERATION_HARVEST),
                                "no plan holds its date: harvests have come to %.*s",
                                STR_ARG(text_instant_in(arena, why->cursor_us))),
                        err);
    return why_find(why, arena,
                    FINDING(WHY_PLAN, "plan.none", backfill, "no plan holds its date%s",
                            why->has_cursor ? ": it is before the first harvest" : ""),
                    err);
}

static bool judge_lost_plan(struct view_why *why, struct arena *arena, const struct why_plan *plan,
                            struct error *err)
{
    const struct str command =
        plan->plan.operation == OPERATION_HARVEST
            ? why_command(why, arena, OPERATION_HARVEST)
            : why_command_window(why, arena, plan->plan.operation, plan->plan.window);
    const struct pause *pause = paused(why);

    if (pause != NULL)
        return judge_pause(why, arena, pause, err);
    return why_find(why, arena,
                    FINDING(WHY_PLAN, "plan.partial", command,
                            "plan %" PRId64 " holds its date and is %.*s: the next trigger "
                            "continues it",
                            plan->plan.id,
                            STR_ARG(code_of(&PLAN_STATUS_CODES, (int)plan->plan.status))),
                    err);
}

static bool judge_dated(struct view_why *why, struct arena *arena, struct error *err)
{
    const struct holders found = find_holders(why);

    if (found.covered != NULL)
        return judge_silent(
            why, arena, arena_printf(arena, "task %" PRId64, found.covered->ended.task.id), err);
    if (found.plan_covered != NULL)
        return judge_silent(why, arena,
                            arena_printf(arena, "plan %" PRId64, found.plan_covered->plan.id), err);
    if (found.live != NULL)
        return judge_running(why, arena, &found.live->ended.task, err);
    if (found.plan_live != NULL)
        return why_find(why, arena,
                        FINDING(WHY_WINDOW, "window.waiting", work_command(why, arena),
                                "plan %" PRId64 " holds its date and has not ended",
                                found.plan_live->plan.id),
                        err);
    if (found.lost != NULL)
        return judge_ended(why, arena, &found.lost->ended, err);
    if (found.plan_lost != NULL)
        return judge_lost_plan(why, arena, found.plan_lost, err);
    return judge_unplanned(why, arena, found.is_former, err);
}

/* ---- the whole source, where no date is known ---- */

static const struct trouble *missing_trouble(const struct view_why *why)
{
    for (size_t i = 0; i < why->rest.troubles.count; i++) {
        const struct trouble *trouble = &why->rest.troubles.items[i];

        for (size_t k = 0; trouble->is_missing && k < why->source.operation_count; k++) {
            if (str_eq(trouble->ended.task.endpoint, why->source.operations[k].endpoint) &&
                !why->source.operations[k].is_by_id)
                return trouble;
        }
    }
    return NULL;
}

static bool judge_undated(struct view_why *why, struct arena *arena, struct error *err)
{
    const struct trouble *trouble = missing_trouble(why);
    const struct pause *pause = paused(why);

    if (pause != NULL)
        return judge_pause(why, arena, pause, err);
    if (!why->rest.has_plans)
        return why_find(why, arena,
                        FINDING(WHY_PLAN, "plan.never", why_command(why, arena, OPERATION_HARVEST),
                                "nothing was ever fetched from %.*s/%.*s", STR_ARG(why->key.source),
                                STR_ARG(why->key.endpoint)),
                        err);
    if (trouble != NULL)
        return judge_ended(why, arena, &trouble->ended, err);
    if (why->rest.queued > 0)
        return why_find(why, arena,
                        FINDING(WHY_WINDOW, "window.waiting", work_command(why, arena),
                                "%" PRId64 " tasks of %.*s/%.*s wait for a worker",
                                why->rest.queued, STR_ARG(why->key.source),
                                STR_ARG(why->key.endpoint)),
                        err);
    return why_find(
        why, arena,
        FINDING(WHY_REQUEST, "source.silent", why_command_again(why, arena),
                "the source has not listed it in any window that was fetched, and no window "
                "waits. If its date is known, --date says which window holds it"),
        err);
}

/* ---- a record that is not stored ---- */

/* Phase one has it. What phase two was refused or did not receive would have a signal. */
static bool judge_listed(struct view_why *why, struct arena *arena, const struct ended_task *listed,
                         struct error *err)
{
    if (listed->task.status <= TASK_EXECUTING)
        return judge_running(why, arena, &listed->task, err);
    if (listed->task.status != TASK_SUCCEEDED)
        return judge_ended(why, arena, listed, err);
    return why_find(why, arena,
                    FINDING(WHY_REQUEST, "request.lost", why_command_again(why, arena),
                            "task %" PRId64 " listed it, and what the source returned for it is "
                            "not a record of its window",
                            listed->task.id),
                    err);
}

/* How far it is known to have come decides; the newest row of each kind counts. Of an id that is
 * not known at all, another one may have been meant. */
static bool judge_absent(struct view_why *why, struct arena *arena, struct error *err)
{
    const struct quarantined *bad = open_quarantine(why);

    if (why->quarantine.count + why->signals.count + why->listed.count == 0 &&
        !why_judge_case(why, arena, err))
        return false;

    if (bad != NULL)
        return judge_quarantined(why, arena, bad, err);
    if (why->signals.count > 0 && why->signals.items[0].consumed_us == 0)
        return judge_open_signal(why, arena, &why->signals.items[0].signal, err);
    if (why->quarantine.count > 0 && why->quarantine.items[0].resolution == QUARANTINE_DROPPED)
        return judge_dropped(why, arena, &why->quarantine.items[0], err);
    if (why->signals.count > 0)
        return judge_past_signal(why, arena, &why->signals.items[0], err);
    if (why->listed.count > 0)
        return judge_listed(why, arena, &why->listed.items[0], err);
    return why->has_date ? judge_dated(why, arena, err) : judge_undated(why, arena, err);
}

/* ---- one that is ---- */

static bool judge_deleted(struct view_why *why, struct arena *arena, struct error *err)
{
    const struct why_version *newest = why->versions.count > 0 ? why->versions.items : NULL;

    if (newest != NULL && newest->merged_into.len > 0)
        return why_find(why, arena,
                        FINDING(WHY_RECORD, "record.merged",
                                arena_printf(arena, "patra why %.*s %.*s",
                                             STR_ARG(why_word(arena, why->key.source)),
                                             STR_ARG(why_word(arena, newest->merged_into))),
                                "the source has merged it into %.*s (version %" PRId64 ")",
                                STR_ARG(newest->merged_into), why->record.version),
                        err);
    return why_find(why, arena,
                    FINDING(WHY_RECORD, "record.deleted", why_command_again(why, arena),
                            "the source has deleted it: version %" PRId64 " is a tombstone, "
                            "observed at %.*s",
                            why->record.version,
                            STR_ARG(text_instant_in(arena, why->record.observed_us))),
                    err);
}

/* Last: what is stored is as it should be. */
static bool judge_older(struct view_why *why, struct arena *arena, struct error *err)
{
    return !why->is_older_kept ||
           why_find(why, arena,
                    FINDING(WHY_RECORD, WHY_REASON_OLDER,
                            arena_printf(arena, "patra record show %.*s %.*s --history",
                                         STR_ARG(why_word(arena, why->key.source)),
                                         STR_ARG(why_word(arena, why->key.provider_id))),
                            "it was looked at again at %.*s: the answer was older than what is "
                            "stored, or had no record of it, and what is stored was kept",
                            STR_ARG(text_instant_in(arena, why->record.checked_us))),
                    err);
}

static bool judge_present(struct view_why *why, struct arena *arena, struct error *err)
{
    const struct quarantined *bad = open_quarantine(why);

    if (why->signals.count > 0 && why->signals.items[0].consumed_us == 0 &&
        !judge_open_signal(why, arena, &why->signals.items[0].signal, err))
        return false;
    if (bad != NULL && bad->observed_us > why->record.observed_us &&
        !judge_quarantined(why, arena, bad, err))
        return false;
    if (why->record.is_deleted && !judge_deleted(why, arena, err))
        return false;
    return why_judge_deliveries(why, arena, err) && judge_older(why, arena, err);
}

/* A name that is not a source's: a slip, or the type of another service's aggregates. */
static bool judge_unknown(struct view_why *why, struct arena *arena, struct error *err)
{
    if (why->is_foreign)
        return why_judge_imports(why, arena, err) &&
               (!why->has_record || why_judge_deliveries(why, arena, err));
    return why_judge_others(why, arena, err) && judge_source(why, arena, err) &&
           why_judge_imports(why, arena, err);
}

bool why_judge(struct view_why *why, struct arena *arena, struct error *err)
{
    if (!why->source.is_in_force && !why->source.was_in_force &&
        (!why->has_record || why->is_foreign))
        return judge_unknown(why, arena, err);
    if (!why->source.is_in_force && !judge_source(why, arena, err))
        return false;
    if (why->has_record)
        return judge_present(why, arena, err);
    return (!why->source.is_in_force || judge_absent(why, arena, err)) &&
           why_judge_others(why, arena, err);
}
