/* What needs a person, and what that person is to do. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/list.h"
#include "base/text.h"
#include "view/status.h"

/* A task or a tick that has been due for this long is late because no process is there for it. */
#define OVERDUE_US (15 * US_PER_MINUTE)
/* Any executor puts the task of an expired lease back within seconds. */
#define EXPIRED_US US_PER_MINUTE

static bool add_need(struct view_status *status, struct arena *arena, struct str text,
                     struct error *err)
{
    struct view_need *need = LIST_ADD(arena, &status->needs);

    if (need == NULL || text.data == NULL)
        return arena_error(arena, err);
    need->text = text;
    return true;
}

static bool judge_pauses(struct view_status *status, const struct view_source_status *source,
                         struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < source->pauses.count; i++) {
        const struct pause *pause = &source->pauses.items[i];
        const char *slash = pause->endpoint.len == 0 ? "" : "/";

        if (pause->kind != PAUSE_STOPPED)
            continue;
        if (!add_need(status, arena,
                      arena_printf(arena,
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

        if (count->queued == 0 || count->running > 0 || late_us < OVERDUE_US ||
            pause_list_has(&source->pauses, source->code, count->partition.endpoint))
            continue;
        if (!add_need(status, arena,
                      arena_printf(arena,
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

        if (!view->is_due || !view->has_last || late_us < OVERDUE_US ||
            pause_list_has(&source->pauses, source->code, view->endpoint))
            continue;
        if (!add_need(status, arena,
                      arena_printf(arena,
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

        if (late_us < EXPIRED_US)
            continue;
        if (!add_need(status, arena,
                      arena_printf(arena,
                                   "%.*s: the lease of task %" PRId64 " expired %.*s ago and no "
                                   "worker has put it back. Is patra serve or patra work running?",
                                   STR_ARG(source->code), task->id,
                                   STR_ARG(text_span_in(arena, late_us))),
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
        arena_printf(arena,
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
    return last == NULL ||
           add_need(status, arena,
                    arena_printf(arena,
                                 "%.*s: %" PRId64 " slice%s cannot be read to the end as the "
                                 "source file is; the last one: %.*s. Correct the file (patra "
                                 "source test shows what a page holds) and apply it; until then "
                                 "%s tried only now and then",
                                 STR_ARG(source->code), *held, *held == 1 ? "" : "s",
                                 STR_ARG(last->ended.task.last_error),
                                 *held == 1 ? "it is" : "they are"),
                    err);
}

static bool judge_troubles(struct view_status *status, const struct view_source_status *source,
                           int64_t held, struct arena *arena, struct error *err)
{
    const int64_t missing = source->troubles.missing - held;
    const bool is_one = missing == 1;

    return missing == 0 ||
           add_need(status, arena,
                    arena_printf(arena,
                                 "%.*s: %" PRId64 " slice%s failed and %s still missing. Fix what "
                                 "the error%s; the next trigger plans %s again",
                                 STR_ARG(source->code), missing, is_one ? "" : "s",
                                 is_one ? "is" : "are", is_one ? " names" : "s name",
                                 is_one ? "it" : "them"),
                    err);
}

/* Where the schedule does not fire, that is the cause and has been said. */
static bool is_overdue(const struct view_status *status, const struct view_source_status *source,
                       struct str operation)
{
    for (size_t i = 0; i < source->schedules.count; i++) {
        const struct schedule_view *view = &source->schedules.items[i];

        if (str_eq(view->operation, operation))
            return view->is_due && view->has_last && status->now_us - view->due_us >= OVERDUE_US;
    }
    return false;
}

static bool judge_cursors(struct view_status *status, const struct view_source_status *source,
                          struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < source->behind.count; i++) {
        const struct view_behind *behind = &source->behind.items[i];

        if (is_overdue(status, source, behind->operation))
            continue;
        if (!add_need(status, arena,
                      arena_printf(arena,
                                   "%.*s: the cursor of %.*s is %.*s behind and has not moved for "
                                   "%.*s. See what holds it back: patra cursor show %.*s",
                                   STR_ARG(source->code), STR_ARG(behind->operation),
                                   STR_ARG(text_span_in(arena, behind->behind_us)),
                                   STR_ARG(text_span_in(arena, behind->still_us)),
                                   STR_ARG(source->code)),
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
    return count == 0 ||
           add_need(status, arena,
                    arena_printf(arena,
                                 "%.*s: %" PRId64 " record%s in quarantine. See patra quarantine "
                                 "list %.*s; fix the source and run patra quarantine retry %.*s, "
                                 "or drop %s%s%.*s",
                                 STR_ARG(source->code), count, count == 1 ? " is" : "s are",
                                 STR_ARG(source->code), STR_ARG(source->code),
                                 count == 1 ? "it" : "them",
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
        if (!add_need(
                status, arena,
                arena_printf(arena,
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

/* One sentence for each: the first thing that is wrong; '': nothing. */
static struct str wrong_of(struct arena *arena, const struct view_subscription *s)
{
    const struct str name = s->subscription.name;

    if (s->subscription.state == SUBSCRIPTION_STOPPED)
        return arena_printf(arena,
                            "%.*s was stopped: %.*s. Fix the cause, then run: patra outbox resume "
                            "%.*s",
                            STR_ARG(name), STR_ARG(s->subscription.state_reason), STR_ARG(name));
    if (s->subscription.state != SUBSCRIPTION_ACTIVE)
        return STR("");
    if (s->trouble != NULL)
        return arena_printf(arena, "%.*s cannot go on: %.*s", STR_ARG(name),
                            STR_ARG(s->trouble->error));
    if (s->waiting > 0 && s->lag_us > OVERDUE_US)
        return arena_printf(arena, "%.*s is %.*s behind, with %" PRId64 " events%s", STR_ARG(name),
                            STR_ARG(text_span_in(arena, s->lag_us)), s->waiting,
                            s->readers.count == 0 ? ": nobody reads it, start patra serve" : "");
    if (s->parked > 0)
        return arena_printf(arena,
                            "%" PRId64 " keys of %.*s wait: patra outbox parked %.*s says why",
                            s->parked, STR_ARG(name), STR_ARG(name));
    if (s->dead > 0)
        return arena_printf(arena,
                            "%" PRId64 " events of %.*s were given up: patra outbox dead %.*s says "
                            "why",
                            s->dead, STR_ARG(name), STR_ARG(name));
    return STR("");
}

static bool judge_subscriptions(struct view_status *status, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < status->subscriptions.count; i++) {
        const struct str wrong = wrong_of(arena, &status->subscriptions.items[i]);

        if (arena->failed)
            return arena_error(arena, err);
        if (wrong.len > 0 && !add_need(status, arena, wrong, err))
            return false;
    }
    return true;
}

bool view_status_judge(struct view_status *status, struct arena *arena, struct error *err)
{
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
    return judge_subscriptions(status, arena, err) && judge_credentials(status, arena, err);
}
