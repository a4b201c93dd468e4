/* Accepting a clock: marks, what was written for later, cursors. */
#include "act/clock.h"

#include "engine/cursor/cursor_reset.h"

enum { EVENTS_PER_PAGE = 500 };

/* Where a cursor was before the clock was wrong. Its events are in the order in which they were
 * written, and those that a reset has settled do not count. */
struct cursor_past {
    bool is_moved; /* while it was wrong */
    struct cursor_value to;
};

static void follow_event(struct cursor_past *past, const struct cursor_event *event, int64_t now_us)
{
    if (event->reason == CURSOR_EVENT_RESET) {
        past->is_moved = false;
        return;
    }
    if (past->is_moved || event->created_us <= now_us)
        return;
    past->is_moved = true;
    /* A cursor that began then began at the start of its first window. */
    past->to = event->has_prev ? event->prev : event->next;
    if (past->to.type == CURSOR_TIME && past->to.instant_us > now_us)
        past->to.instant_us = now_us;
}

static bool read_past(const struct view_reader *reader, const struct cursor_name *name,
                      int64_t now_us, struct cursor_past *past, struct error *err)
{
    struct store_page page = { .limit = EVENTS_PER_PAGE };
    struct cursor_event_list events;

    *past = (struct cursor_past){ 0 };
    do {
        if (!store_cursor_event_list(reader->store, reader->arena, name, page, &events, err))
            return false;
        for (size_t i = 0; i < events.count; i++) {
            follow_event(past, &events.items[i], now_us);
            page.after = events.items[i].id;
        }
    } while (events.count == EVENTS_PER_PAGE);
    return true;
}

/* Of cursors by time only: what an id or a token stands for does not depend on a clock. */
static bool set_back(const struct view_reader *reader, struct str who, int64_t now_us,
                     int64_t *count, struct error *err)
{
    struct cursor_list cursors;

    if (!store_cursor_list(reader->store, reader->arena, STR(""), &cursors, err))
        return false;
    for (size_t i = 0; i < cursors.count; i++) {
        const struct cursor *cursor = &cursors.items[i];
        struct cursor_reset_request request = {
            .name = cursor->name, .who = who, .reason = STR("the clock was ahead"), .now_us = now_us
        };
        struct cursor_reset_result result;
        struct cursor_past past;

        if (cursor->value.type != CURSOR_TIME)
            continue;
        if (!read_past(reader, &cursor->name, now_us, &past, err))
            return false;
        if (!past.is_moved)
            continue;
        request.to = past.to;
        if (!cursor_reset(reader->store, reader->arena, &request, &result, err))
            return false;
        *count += result.is_moved;
    }
    return true;
}

static bool mend_rows(struct store *store, struct act_clock_accepted *accepted, struct error *err)
{
    const struct store_time *time = &accepted->time;
    const struct store_mark_mending mending = { .seen_us = time->seen_us,
                                                .now_us = time->calendar_us,
                                                .with_rates = !time->has_line };
    const int64_t off_line_us = time->off_line_us + (time->calendar_us - time->now_us);

    if (time->has_line && !store_mark_shift(store, off_line_us, err))
        return false;
    return time->jump != CLOCK_BEHIND || time->seen_us <= time->calendar_us ||
           store_mark_mend(store, &mending, &accepted->mended, err);
}

static bool mend(const struct view_reader *reader, struct act_clock_accepted *accepted,
                 struct error *err)
{
    struct store *store = reader->store;
    struct store_mark mark = accepted->time.at;

    mark.seen_us = accepted->time.calendar_us;
    if (!store_begin(store, err))
        return false;
    if (mend_rows(store, accepted, err) && store_mark_save(store, &mark, true, err) &&
        store_commit(store, err))
        return true;
    store_rollback(store);
    return false;
}

bool act_clock_accept(const struct view_reader *reader, struct str who,
                      struct act_clock_accepted *accepted, struct error *err)
{
    *accepted = (struct act_clock_accepted){ 0 };
    if (!store_time_look(reader->store, reader->clock, &accepted->time, err))
        return false;
    if (accepted->time.jump == CLOCK_STEADY)
        return true;
    /* The cursors first: until the mark is written, this can be repeated. */
    if (accepted->time.jump == CLOCK_BEHIND &&
        !set_back(reader, who, accepted->time.calendar_us, &accepted->cursors, err))
        return false;
    return mend(reader, accepted, err);
}
