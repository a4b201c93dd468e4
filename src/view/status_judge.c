/* What needs a person, and what that person is to do. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/list.h"
#include "base/text.h"
#include "view/status.h"

static bool add_need(struct view_status *status, struct arena *arena, struct alert_finding finding,
                     struct error *err)
{
    struct alert_finding *need = LIST_ADD(arena, &status->needs);

    if (need == NULL || finding.text.data == NULL || finding.subject.data == NULL)
        return arena_error(arena, err);
    *need = finding;
    return true;
}

static int64_t limit_of(const struct view_status *status, enum alert_rule rule)
{
    return status->limits.of[rule].limit;
}

#define FOUND(rule, source, subject, ...) \
    ((struct alert_finding){ (rule), (source), (subject), arena_printf(arena, __VA_ARGS__) })

static bool judge_pauses(struct view_status *status, const struct view_source_status *source,
                         struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < source->pauses.count; i++) {
        const struct pause *pause = &source->pauses.items[i];
        const char *slash = pause->endpoint.len == 0 ? "" : "/";

        if (pause->kind != PAUSE_STOPPED)
            continue;
        if (!add_need(status, arena,
                      FOUND(ALERT_SOURCE_STOPPED, source->code,
                            arena_printf(arena, "%.*s%s%.*s", STR_ARG(source->code), slash,
                                         STR_ARG(pause->endpoint)),
                            "%.*s%s%.*s was stopped %.*s ago: %.*s. Fix the cause, then "
                            "run: patra resume %.*s%s%.*s",
                            STR_ARG(source->code), slash, STR_ARG(pause->endpoint),
                            STR_ARG(text_span_in(arena, status->now_us - pause->created_us)),
                            STR_ARG(pause->reason), STR_ARG(source->code), slash,
                            STR_ARG(pause->endpoint)),
                      err))
            return false;
    }
    return true;
}

static bool judge_queue(struct view_status *status, const struct view_source_status *source,
                        struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < source->counts.count; i++) {
        const struct partition_count *count = &source->counts.items[i];
        const int64_t late_us = status->now_us - count->first_us;

        if (count->queued == 0 || count->running > 0 ||
            late_us < limit_of(status, ALERT_QUEUE_STUCK) ||
            pause_list_has(&source->pauses, source->code, count->partition.endpoint))
            continue;
        if (!add_need(status, arena,
                      FOUND(ALERT_QUEUE_STUCK, source->code,
                            arena_printf(arena, "%.*s/%.*s %.*s", STR_ARG(source->code),
                                         STR_ARG(count->partition.endpoint),
                                         STR_ARG(code_of(&OPERATION_CODES,
                                                         (int)count->partition.operation))),
                            "%.*s: tasks of %.*s have been due for %.*s and no worker takes "
                            "them. Is patra serve or patra work running?",
                            STR_ARG(source->code), STR_ARG(count->partition.endpoint),
                            STR_ARG(text_span_in(arena, late_us))),
                      err))
            return false;
    }
    return true;
}

/* A schedule that has never fired may belong to someone who triggers by hand. */
static bool judge_schedules(struct view_status *status, const struct view_source_status *source,
                            struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < source->schedules.count; i++) {
        const struct schedule_view *view = &source->schedules.items[i];
        const int64_t late_us = status->now_us - view->due_us;

        if (!view->is_due || !view->has_last || late_us < limit_of(status, ALERT_SCHEDULE_LATE) ||
            pause_list_has(&source->pauses, source->code, view->endpoint))
            continue;
        if (!add_need(status, arena,
                      FOUND(ALERT_SCHEDULE_LATE, source->code,
                            arena_printf(arena, "%.*s %.*s", STR_ARG(source->code),
                                         STR_ARG(view->operation)),
                            "%.*s: %.*s has been due for %.*s and has not fired. Is patra "
                            "serve running?",
                            STR_ARG(source->code), STR_ARG(view->operation),
                            STR_ARG(text_span_in(arena, late_us))),
                      err))
            return false;
    }
    return true;
}

static bool judge_leases(struct view_status *status, const struct view_source_status *source,
                         struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < source->running.count; i++) {
        const struct task *task = &source->running.items[i].task;
        const int64_t late_us = status->now_us - task->leased_until_us;

        if (late_us < limit_of(status, ALERT_LEASE_EXPIRED))
            continue;
        if (!add_need(status, arena,
                      FOUND(ALERT_LEASE_EXPIRED, source->code, source->code,
                            "%.*s: the lease of task %" PRId64 " expired %.*s ago and no "
                            "worker has put it back. Is patra serve or patra work running?",
                            STR_ARG(source->code), task->id, STR_ARG(text_span_in(arena, late_us))),
                      err))
            return false;
    }
    return true;
}

/* A feed that would end in the same way again. */
static bool judge_feed(struct view_status *status, const struct view_source_status *source,
                       const struct task *task, struct arena *arena, struct error *err)
{
    return add_need(
        status, arena,
        FOUND(ALERT_SLICES_HELD, source->code,
              arena_printf(arena, "%.*s/%.*s", STR_ARG(source->code), STR_ARG(task->endpoint)),
              "%.*s: the feed %.*s cannot be read to its end: %.*s. If the source has "
              "begun its ids again, run: patra cursor reset %.*s --to 0. "
              "Otherwise correct the file (patra source test shows what a page "
              "holds) and apply it. Then run: patra harvest %.*s",
              STR_ARG(source->code), STR_ARG(task->endpoint), STR_ARG(task->last_error),
              STR_ARG(source->code), STR_ARG(source->code)),
        err);
}

static bool judge_feeds(struct view_status *status, const struct view_source_status *source,
                        struct arena *arena, int64_t *held, struct error *err)
{
    for (size_t i = 0; i < source->troubles.count; i++) {
        const struct trouble *trouble = &source->troubles.items[i];

        if (!trouble->is_feed || !trouble->is_missing || !trouble_is_held(trouble))
            continue;
        ++*held;
        if (!judge_feed(status, source, &trouble->ended.task, arena, err))
            return false;
    }
    return true;
}

/* Slices that whoever runs them dies of. */
static bool judge_crashed(struct view_status *status, const struct view_source_status *source,
                          const struct trouble *last, int64_t count, struct arena *arena,
                          struct error *err)
{
    static const char *const commands[] = {
        [OPERATION_HARVEST] = "harvest", [OPERATION_BACKFILL] = "backfill",
        [OPERATION_UPDATE] = "update",   [OPERATION_METRICS] = "metrics",
        [OPERATION_REPLAY] = "replay",
    };
    const struct task *task = &last->ended.task;

    return add_need(status, arena,
                    FOUND(ALERT_SLICES_HELD, source->code, source->code,
                          "%.*s: %" PRId64 " slice%s left alone; the last one, task %" PRId64
                          ": %.*s. Find out what the workers died of (patra task show %" PRId64
                          ", the system's log); to let it go on, run: patra %s %.*s",
                          STR_ARG(source->code), count, count == 1 ? " is" : "s are", task->id,
                          STR_ARG(task->last_error), task->id, commands[task->operation],
                          STR_ARG(source->code)),
                    err);
}

/* Slices that would end in the same way again. The last of them is shown. */
static bool judge_held(struct view_status *status, const struct view_source_status *source,
                       struct arena *arena, int64_t *held, struct error *err)
{
    const struct trouble_list *list = &source->troubles;
    const struct trouble *last = NULL;

    *held = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].is_feed || !list->items[i].is_missing ||
            !trouble_is_held(&list->items[i]))
            continue;
        if (last == NULL)
            last = &list->items[i];
        ++*held;
    }
    if (last != NULL && last->ended.reason == PARTIAL_CRASHED)
        return *held < limit_of(status, ALERT_SLICES_HELD) ||
               judge_crashed(status, source, last, *held, arena, err);
    return *held < limit_of(status, ALERT_SLICES_HELD) ||
           add_need(status, arena,
                    FOUND(ALERT_SLICES_HELD, source->code, source->code,
                          "%.*s: %" PRId64 " slice%s cannot be read to the end as the "
                          "source file is; the last one: %.*s. Correct the file (patra "
                          "source test shows what a page holds) and apply it; until then "
                          "%s tried only now and then",
                          STR_ARG(source->code), *held, *held == 1 ? "" : "s",
                          STR_ARG(last->ended.task.last_error), *held == 1 ? "it is" : "they are"),
                    err);
}

static bool judge_troubles(struct view_status *status, const struct view_source_status *source,
                           int64_t held, struct arena *arena, struct error *err)
{
    const int64_t missing = source->troubles.missing - held;
    const bool is_one = missing == 1;

    return missing < limit_of(status, ALERT_SLICES_FAILED) ||
           add_need(status, arena,
                    FOUND(ALERT_SLICES_FAILED, source->code, source->code,
                          "%.*s: %" PRId64 " slice%s failed and %s still missing. Fix what "
                          "the error%s; the next trigger plans %s again",
                          STR_ARG(source->code), missing, is_one ? "" : "s", is_one ? "is" : "are",
                          is_one ? " names" : "s name", is_one ? "it" : "them"),
                    err);
}

/* Where the schedule does not fire, that is the cause and has been said. */
static bool is_overdue(const struct view_status *status, const struct view_source_status *source,
                       struct str operation)
{
    for (size_t i = 0; i < source->schedules.count; i++) {
        const struct schedule_view *view = &source->schedules.items[i];

        if (str_eq(view->operation, operation))
            return view->is_due && view->has_last &&
                   status->now_us - view->due_us >= limit_of(status, ALERT_SCHEDULE_LATE);
    }
    return false;
}

static bool judge_cursors(struct view_status *status, const struct view_source_status *source,
                          struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < source->behind.count; i++) {
        const struct view_behind *behind = &source->behind.items[i];

        if (is_overdue(status, source, behind->operation) ||
            behind->behind_us <= limit_of(status, ALERT_CURSOR_BEHIND))
            continue;
        if (!add_need(status, arena,
                      FOUND(ALERT_CURSOR_BEHIND, source->code,
                            arena_printf(arena, "%.*s %.*s", STR_ARG(source->code),
                                         STR_ARG(behind->operation)),
                            "%.*s: the cursor of %.*s is %.*s behind and has not moved for "
                            "%.*s. See what holds it back: patra cursor show %.*s",
                            STR_ARG(source->code), STR_ARG(behind->operation),
                            STR_ARG(text_span_in(arena, behind->behind_us)),
                            STR_ARG(text_span_in(arena, behind->still_us)), STR_ARG(source->code)),
                      err))
            return false;
    }
    return true;
}

/* What requests the records again, for where the source was wrong and sends them right by now. A
 * harvest does not: their windows are covered, or one record that stays bad would have its window
 * requested by every trigger. */
static struct str requests_again(const struct view_source_status *source, struct window window,
                                 struct arena *arena)
{
    const bool has_update = source->open.signals > 0 && source->takes_signals;
    const char *otherwise = has_update ? "; for those without an id, " : "";
    char from[INSTANT_TEXT_MAX], to[INSTANT_TEXT_MAX];
    struct buf out;

    buf_init(&out, arena, 512);
    if (has_update)
        buf_printf(&out, "patra update %.*s", STR_ARG(source->code));
    if (window_is_valid(window)) {
        const struct str from_text = { from, instant_format(window.from_us, from) };
        const struct str to_text = { to, instant_format(window.to_us, to) };

        buf_printf(&out, "%spatra replay %.*s --from %.*s --to %.*s", otherwise,
                   STR_ARG(source->code), STR_ARG(from_text), STR_ARG(to_text));
    }
    return buf_str(&out);
}

static struct window widened(struct window window, struct window by)
{
    if (!window_is_valid(window))
        return by;
    if (window_is_valid(by) && by.from_us < window.from_us)
        window.from_us = by.from_us;
    if (window_is_valid(by) && by.to_us > window.to_us)
        window.to_us = by.to_us;
    return window;
}

static bool judge_quarantine(struct view_status *status, const struct view_source_status *source,
                             struct arena *arena, struct error *err)
{
    struct window window = { 0, 0 };
    struct str again;
    int64_t count = 0;

    for (size_t i = 0; i < source->quarantine.count; i++) {
        count += source->quarantine.items[i].count;
        window = widened(window, source->quarantine.items[i].window);
    }
    again = requests_again(source, window, arena);
    return count < limit_of(status, ALERT_QUARANTINE_OPEN) ||
           add_need(status, arena,
                    FOUND(ALERT_QUARANTINE_OPEN, source->code, source->code,
                          "%.*s: %" PRId64 " record%s in quarantine. See patra quarantine "
                          "list %.*s; fix the source and run patra quarantine retry %.*s, "
                          "or drop %s%s%.*s",
                          STR_ARG(source->code), count, count == 1 ? " is" : "s are",
                          STR_ARG(source->code), STR_ARG(source->code), count == 1 ? "it" : "them",
                          again.len > 0 ? ". If the source was wrong and is right by now, "
                                          "run: "
                                        : "",
                          STR_ARG(again)),
                    err);
}

/* The others are used meanwhile, so nothing else says that one of them is of no use. */
static bool judge_credentials(struct view_status *status, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < status->gates.count; i++) {
        const struct view_gate *gate = &status->gates.items[i];

        if (gate->view.refused_us == 0 || gate->credential.len == 0)
            continue;
        if (!add_need(status, arena,
                      FOUND(ALERT_CREDENTIAL_REFUSED, gate->source,
                            arena_printf(arena, "%.*s %.*s", STR_ARG(gate->source),
                                         STR_ARG(gate->credential)),
                            "%.*s: the credential %.*s was refused %.*s ago (status %" PRId64
                            ") and is not used; the others are. Replace its value, then "
                            "run: patra resume %.*s",
                            STR_ARG(gate->source), STR_ARG(gate->credential),
                            STR_ARG(text_span_in(arena, status->now_us - gate->view.refused_us)),
                            gate->view.refused_status, STR_ARG(gate->source)),
                      err))
            return false;
    }
    return true;
}

/* A source rarely means so long a wait: the header may be in milliseconds, or an instant. */
static bool judge_silence(struct view_status *status, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < status->gates.count; i++) {
        const struct view_gate *gate = &status->gates.items[i];
        const int64_t left_us = gate->view.cooldown_until_us - status->now_us;

        if (left_us < limit_of(status, ALERT_SOURCE_WAITS))
            continue;
        if (!add_need(status, arena,
                      FOUND(ALERT_SOURCE_WAITS, gate->source, gate->key,
                            "%.*s: it demands silence for another %.*s (Retry-After, or a "
                            "reset of its rate). patra obeys for a day at most and then asks "
                            "again. Ask the provider whether that is meant; to ask the source "
                            "again now, run: patra resume %.*s",
                            STR_ARG(gate->source), STR_ARG(text_span_in(arena, left_us)),
                            STR_ARG(gate->source)),
                      err))
            return false;
    }
    return true;
}

/* One finding for each: the first thing that is wrong; false: nothing is. */
static bool find_wrong(const struct view_status *status, struct arena *arena,
                       const struct view_subscription *s, struct alert_finding *found)
{
    const struct str name = s->subscription.name;
    const struct str none = STR("");

    if (s->subscription.state == SUBSCRIPTION_STOPPED)
        *found = FOUND(ALERT_SUBSCRIPTION_STOPPED, none, name,
                       "%.*s was stopped: %.*s. Fix the cause, then run: patra outbox resume "
                       "%.*s",
                       STR_ARG(name), STR_ARG(s->subscription.state_reason), STR_ARG(name));
    else if (s->subscription.state != SUBSCRIPTION_ACTIVE)
        return false;
    else if (s->trouble != NULL)
        *found = FOUND(ALERT_SUBSCRIPTION_FAILING, none, name, "%.*s cannot go on: %.*s",
                       STR_ARG(name), STR_ARG(s->trouble->error));
    else if (s->waiting > 0 && s->lag_us > limit_of(status, ALERT_SUBSCRIPTION_BEHIND))
        *found = FOUND(ALERT_SUBSCRIPTION_BEHIND, none, name,
                       "%.*s is %.*s behind, with %" PRId64 " events%s", STR_ARG(name),
                       STR_ARG(text_span_in(arena, s->lag_us)), s->waiting,
                       s->readers.count == 0 ? ": nobody reads it, start patra serve" : "");
    else if (s->parked >= limit_of(status, ALERT_SUBSCRIPTION_PARKED))
        *found = FOUND(ALERT_SUBSCRIPTION_PARKED, none, name,
                       "%" PRId64 " keys of %.*s wait: patra outbox parked %.*s says why",
                       s->parked, STR_ARG(name), STR_ARG(name));
    else if (s->dead >= limit_of(status, ALERT_SUBSCRIPTION_DEAD))
        *found = FOUND(ALERT_SUBSCRIPTION_DEAD, none, name,
                       "%" PRId64 " events of %.*s were given up: patra outbox dead %.*s says "
                       "why",
                       s->dead, STR_ARG(name), STR_ARG(name));
    else
        return false;
    return true;
}

static bool judge_subscriptions(struct view_status *status, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < status->subscriptions.count; i++) {
        struct alert_finding found;

        if (find_wrong(status, arena, &status->subscriptions.items[i], &found) &&
            !add_need(status, arena, found, err))
            return false;
    }
    return true;
}

static bool judge_clock(struct view_status *status, struct arena *arena, struct error *err)
{
    const struct str need = view_clock_need(arena, &status->time);

    return status->time.jump == CLOCK_STEADY ||
           add_need(status, arena,
                    FOUND(ALERT_CLOCK_JUMPED, STR(""), STR("clock"), "%.*s", STR_ARG(need)), err);
}

bool view_status_judge(struct view_status *status, struct arena *arena, struct error *err)
{
    if (!judge_clock(status, arena, err))
        return false;
    for (size_t i = 0; i < status->sources.count; i++) {
        const struct view_source_status *source = &status->sources.items[i];
        int64_t held = 0;

        if (!judge_pauses(status, source, arena, err) || !judge_queue(status, source, arena, err) ||
            !judge_schedules(status, source, arena, err) ||
            !judge_leases(status, source, arena, err) ||
            !judge_held(status, source, arena, &held, err) ||
            !judge_feeds(status, source, arena, &held, err) ||
            !judge_troubles(status, source, held, arena, err) ||
            !judge_cursors(status, source, arena, err) ||
            !judge_quarantine(status, source, arena, err))
            return false;
    }
    return judge_subscriptions(status, arena, err) && judge_credentials(status, arena, err) &&
           judge_silence(status, arena, err);
}
