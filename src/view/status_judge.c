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

static struct str span(struct arena *arena, int64_t span_us)
{
    struct buf text;

    buf_init(&text, arena, 64);
    text_span(&text, span_us > 0 ? span_us : 0);
    return buf_str(&text);
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
                                   STR_ARG(span(arena, status->now_us - pause->created_us)),
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
                                   STR_ARG(span(arena, late_us))),
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
                                   STR_ARG(span(arena, late_us))),
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
                                   STR_ARG(source->code), task->id, STR_ARG(span(arena, late_us))),
                      err))
            return false;
    }
    return true;
}

static bool judge_troubles(struct view_status *status, const struct view_source_status *source,
                           struct arena *arena, struct error *err)
{
    const int64_t missing = source->troubles.missing;
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

bool view_status_judge(struct view_status *status, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < status->sources.count; i++) {
        const struct view_source_status *source = &status->sources.items[i];

        if (!judge_pauses(status, source, arena, err) || !judge_queue(status, source, arena, err) ||
            !judge_schedules(status, source, arena, err) ||
            !judge_leases(status, source, arena, err) ||
            !judge_troubles(status, source, arena, err))
            return false;
    }
    return true;
}
