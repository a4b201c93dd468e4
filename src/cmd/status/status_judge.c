#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "cmd/status/status.h"

/* A task that is due and that nobody takes for so long: no executor runs, or none may. */
#define OVERDUE_US (15 * US_PER_MINUTE)
/* A lease that ran out is put back by any executor within seconds. */
#define EXPIRED_US US_PER_MINUTE

static bool add_need(struct status *status, struct arena *arena, struct str text, struct error *err)
{
    struct status_need *need = LIST_ADD(arena, &status->needs);

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

static bool judge_pauses(struct status *status, const struct status_source *source,
                         struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < source->pauses.count; i++) {
        const struct pause *pause = &source->pauses.items[i];
        const bool is_whole = pause->endpoint.len == 0;

        if (pause->kind == PAUSE_STOPPED &&
            !add_need(status, arena,
                      arena_printf(arena,
                                   "%.*s%s%.*s was stopped %.*s ago: %.*s. When that is mended: "
                                   "patra resume %.*s%s%.*s",
                                   STR_ARG(source->code), is_whole ? "" : "/",
                                   STR_ARG(pause->endpoint),
                                   STR_ARG(span(arena, status->now_us - pause->created_us)),
                                   STR_ARG(pause->reason), STR_ARG(source->code),
                                   is_whole ? "" : "/", STR_ARG(pause->endpoint)),
                      err))
            return false;
    }
    return true;
}

static bool judge_queue(struct status *status, const struct status_source *source,
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
                                   "%.*s: tasks of %.*s are due for %.*s and nobody takes them. "
                                   "Does patra serve or patra work run?",
                                   STR_ARG(source->code), STR_ARG(count->partition.endpoint),
                                   STR_ARG(span(arena, late_us))),
                      err))
            return false;
    }
    return true;
}

/* Who never had it fired may well trigger by hand. */
static bool judge_schedules(struct status *status, const struct status_source *source,
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
                                   "%.*s: %.*s is due for %.*s and nobody fires it. Does patra "
                                   "serve run?",
                                   STR_ARG(source->code), STR_ARG(view->operation),
                                   STR_ARG(span(arena, late_us))),
                      err))
            return false;
    }
    return true;
}

static bool judge_leases(struct status *status, const struct status_source *source,
                         struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < source->running.count; i++) {
        const struct task *task = &source->running.items[i].task;
        const int64_t late_us = status->now_us - task->leased_until_us;

        if (late_us >= EXPIRED_US &&
            !add_need(status, arena,
                      arena_printf(arena,
                                   "%.*s: the lease of task %" PRId64 " ran out %.*s ago and "
                                   "nobody put it back. Does patra serve or patra work run?",
                                   STR_ARG(source->code), task->id, STR_ARG(span(arena, late_us))),
                      err))
            return false;
    }
    return true;
}

static bool judge_troubles(struct status *status, const struct status_source *source,
                           struct arena *arena, struct error *err)
{
    const int64_t missing = source->troubles.missing;

    return missing == 0 ||
           add_need(status, arena,
                    arena_printf(arena,
                                 "%.*s: %" PRId64 " slice%s failed and %s missing still. Mend what "
                                 "the reasons name; the next trigger plans them again",
                                 STR_ARG(source->code), missing, missing == 1 ? "" : "s",
                                 missing == 1 ? "is" : "are"),
                    err);
}

bool status_judge(struct status *status, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < status->sources.count; i++) {
        const struct status_source *source = &status->sources.items[i];

        if (!judge_pauses(status, source, arena, err) || !judge_queue(status, source, arena, err) ||
            !judge_schedules(status, source, arena, err) ||
            !judge_leases(status, source, arena, err) ||
            !judge_troubles(status, source, arena, err))
            return false;
    }
    return true;
}
