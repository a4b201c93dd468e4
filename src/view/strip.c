/* Strips: coverage of the store, cut into pieces. */
#include "view/strip.h"

#include <stdlib.h>

#include "base/list.h"
#include "core/coverage.h"
#include "engine/coverage/coverage.h"
#include "engine/cursor/cursor_event.h"
#include "engine/cursor/cursor_members.h"

#define MONTH_US (30 * US_PER_DAY)

static const struct code_item STATE_ITEMS[] = {
    [STRIP_COVERED] = CODE_ITEM("COVERED", "its records are here"),
    [STRIP_OPEN] = CODE_ITEM("OPEN", "no task has it yet"),
    [STRIP_LIVE] = CODE_ITEM("LIVE", "a task waits or runs"),
    [STRIP_RETRYING] = CODE_ITEM("RETRYING", "a task failed and is tried again"),
    [STRIP_MISSING] = CODE_ITEM("MISSING", "the last task for it ended without it"),
};
const struct code_table STRIP_STATE_CODES =
    CODE_TABLE("view_strip_state", "What is known of a piece of time", STATE_ITEMS);

struct pieces {
    struct strip_piece *items;
    size_t count;
};

struct gathering {
    const struct view_reader *reader;
    const struct view_strip_filter *filter;
    struct coverage_namespace of;
    struct view_strip *strip;
    struct error *err;
};

/* ---- which time ---- */

static bool campaign_start(struct gathering *g, int64_t *from_us)
{
    struct cursor_event_list events;

    if (!store_cursor_event_list(g->reader->store, g->reader->arena, &g->strip->cursor.name,
                                 (struct store_page){ .limit = 1 }, &events, g->err))
        return false;
    if (events.count > 0 && window_is_valid(events.items[0].window))
        *from_us = events.items[0].window.from_us;
    return true;
}

static bool choose_window(struct gathering *g)
{
    const int64_t now_us = g->reader->now_us;
    const int64_t at_us = g->strip->cursor.value.instant_us;
    struct window window = { now_us - MONTH_US, now_us };

    if (at_us < window.from_us + MONTH_US / 10)
        window.from_us = at_us - (now_us - at_us) / 4;
    if (at_us > window.to_us)
        window.to_us = at_us;
    if (g->strip->way.is_campaign && g->strip->way.is_known) {
        window.to_us = g->strip->way.end_us;
        if (!campaign_start(g, &window.from_us))
            return false;
    }
    if (g->filter->from.is_set)
        window.from_us = g->filter->from.at_us;
    if (g->filter->to.is_set)
        window.to_us = g->filter->to.at_us;
    if (!window_is_valid(window))
        return error_set(g->err, ERROR_REQUEST, "request.parameter", "from: is not before to");
    g->strip->window = window;
    return true;
}

/* ---- the pieces ---- */

/* The windows of a set, as pieces of one state; `pieces` stays sorted where both are. */
static bool add_pieces(struct gathering *g, struct pieces *pieces, struct window_list set,
                       enum strip_state state)
{
    const struct pieces old = *pieces;
    struct pieces all = { .items = ARENA_ARRAY(g->reader->arena, struct strip_piece,
                                               old.count + set.count + 1) };
    size_t a = 0, b = 0;

    if (all.items == NULL)
        return arena_error(g->reader->arena, g->err);
    while (a < old.count || b < set.count) {
        if (b == set.count ||
            (a < old.count && old.items[a].window.from_us < set.items[b].from_us)) {
            all.items[all.count++] = old.items[a++];
            continue;
        }
        all.items[all.count++] =
            (struct strip_piece){ .window = set.items[b++], .state = state, .parts = 1 };
    }
    *pieces = all;
    return true;
}

/* What of `rest` is in `set` becomes pieces, and is taken from the rest. */
static bool take(struct gathering *g, struct pieces *pieces, struct window_list set,
                 enum strip_state state, struct window_list *rest)
{
    struct arena *arena = g->reader->arena;
    struct window_list left, taken;

    if (!coverage_of(arena, set, &set, g->err) ||
        !coverage_subtract(arena, *rest, set, &left, g->err) ||
        !coverage_subtract(arena, *rest, left, &taken, g->err) ||
        !add_pieces(g, pieces, taken, state))
        return false;
    *rest = left;
    return true;
}

/* Windows that only parts by id were lost of. */
static bool add_lost_parts(struct gathering *g, struct coverage_list *list)
{
    for (size_t i = 0; i < list->parts.lost.count; i++) {
        struct window *window = LIST_ADD(g->reader->arena, &list->lost);

        if (window == NULL)
            return arena_error(g->reader->arena, g->err);
        *window = list->parts.lost.items[i].window;
    }
    return true;
}

static bool read_pieces(struct gathering *g, struct pieces *pieces)
{
    const struct coverage_query query = { g->of, SLICE_TIME, g->strip->window.from_us };
    struct window whole = g->strip->window;
    struct window_list rest = { &whole, 1 };
    struct window behind = { whole.from_us, g->strip->cursor.value.instant_us };
    struct coverage_list list;

    if (!coverage_load(g->reader->store, g->reader->arena, &query, &list, g->err) ||
        !add_lost_parts(g, &list))
        return false;
    /* What is cut by pages, or was forgotten, has no windows: the cursor says how far it is. */
    if (list.covered.count + list.live.count + list.lost.count == 0)
        list.covered = (struct window_list){ &behind, window_is_valid(behind) };
    return take(g, pieces, list.covered, STRIP_COVERED, &rest) &&
           take(g, pieces, list.live, STRIP_LIVE, &rest) &&
           take(g, pieces, list.lost, STRIP_MISSING, &rest) &&
           add_pieces(g, pieces, rest, STRIP_OPEN);
}

/* Neighbours are joined until each piece is long enough to be seen. */
static void join(struct pieces *pieces, struct window window, size_t pieces_max)
{
    const int64_t least_us = window_length_us(window) / (int64_t)pieces_max;
    size_t kept = 0;

    if (pieces->count <= pieces_max)
        return;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct strip_piece next = pieces->items[i];
        struct strip_piece *last = kept > 0 ? &pieces->items[kept - 1] : NULL;

        if (last == NULL || (window_length_us(last->window) >= least_us)) {
            pieces->items[kept++] = next;
            continue;
        }
        last->window.to_us = next.window.to_us;
        last->parts += next.parts;
        if (next.state > last->state) {
            last->state = next.state;
            last->task = next.task;
        }
    }
    pieces->count = kept;
}

/* What lies before everything that was ever planned is not wanted. */
static void trim(struct gathering *g, struct pieces *pieces)
{
    if (g->filter->from.is_set || pieces->count < 2 || pieces->items[0].state != STRIP_OPEN)
        return;
    pieces->items++;
    pieces->count--;
    g->strip->window.from_us = pieces->items[0].window.from_us;
}

/* ---- their tasks ---- */

static bool is_live(const struct task *task)
{
    return task->status == TASK_QUEUED || task->status == TASK_DISPATCHED ||
           task->status == TASK_EXECUTING;
}

static enum strip_state state_of(const struct task *task)
{
    if (is_live(task))
        return task->last_error.len > 0 ? STRIP_RETRYING : STRIP_LIVE;
    /* One that succeeded and covers nothing was reset: it is wanted again. */
    return task->status == TASK_SUCCEEDED ? STRIP_OPEN : STRIP_MISSING;
}

/* What of `left` the task had becomes pieces. */
static bool cut_by_task(struct gathering *g, const struct task *task, struct window_list *left,
                        struct pieces *cut)
{
    struct arena *arena = g->reader->arena;
    struct window window = task->window;
    const struct window_list own = { &window, 1 };
    struct window_list rest, taken;

    if (!window_is_valid(window))
        return true;
    if (!coverage_subtract(arena, *left, own, &rest, g->err) ||
        !coverage_subtract(arena, *left, rest, &taken, g->err))
        return false;
    for (size_t i = 0; i < taken.count; i++) {
        struct strip_piece *piece = LIST_ADD(arena, cut);

        if (piece == NULL)
            return arena_error(arena, g->err);
        *piece = (struct strip_piece){ .window = taken.items[i],
                                       .state = state_of(task),
                                       .parts = 1,
                                       .task = state_of(task) == STRIP_OPEN ? NULL : task };
    }
    *left = rest;
    return true;
}

static int by_window(const void *a, const void *b)
{
    const int64_t left = ((const struct strip_piece *)a)->window.from_us;
    const int64_t right = ((const struct strip_piece *)b)->window.from_us;

    return (left > right) - (left < right);
}

/* The windows of all pieces of a state. */
static bool windows_in(struct gathering *g, const struct pieces *pieces, enum strip_state state,
                       struct window_list *windows)
{
    *windows = (struct window_list){ 0 };
    for (size_t i = 0; i < pieces->count; i++) {
        struct window *window;

        if (pieces->items[i].state != state)
            continue;
        window = LIST_ADD(g->reader->arena, windows);
        if (window == NULL)
            return arena_error(g->reader->arena, g->err);
        *window = pieces->items[i].window;
    }
    return true;
}

/* Pieces of `state`, cut by the newest tasks of each instant; what no task was read for stays. */
static bool cut_state(struct gathering *g, const struct pieces *pieces, enum strip_state state,
                      const struct task_list *tasks, struct pieces *named)
{
    struct window_list left;

    if (!windows_in(g, pieces, state, &left))
        return false;
    for (size_t i = 0; i < tasks->count && left.count > 0; i++) {
        if (is_live(&tasks->items[i]) == (state == STRIP_LIVE) &&
            !cut_by_task(g, &tasks->items[i], &left, named))
            return false;
    }
    for (size_t i = 0; i < left.count; i++) {
        struct strip_piece *rest = LIST_ADD(g->reader->arena, named);

        if (rest == NULL)
            return arena_error(g->reader->arena, g->err);
        *rest = (struct strip_piece){ .window = left.items[i], .state = state, .parts = 1 };
    }
    return true;
}

/* Neighbours of one state without a task are one piece again. */
static void merge(struct pieces *pieces)
{
    size_t kept = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        const struct strip_piece *next = &pieces->items[i];
        struct strip_piece *last = kept > 0 ? &pieces->items[kept - 1] : NULL;

        if (last != NULL && last->state == next->state && last->task == NULL && next->task == NULL)
            last->window.to_us = next->window.to_us;
        else
            pieces->items[kept++] = *next;
    }
    pieces->count = kept;
}

static bool name_pieces(struct gathering *g, struct pieces *pieces)
{
    const struct window_query query = { .of = &g->of,
                                        .window = g->strip->window,
                                        .limit = (int64_t)g->filter->named_max };
    struct pieces named = { 0 };
    struct task_list tasks;

    if (!store_coverage_open(g->reader->store, g->reader->arena, &query, &tasks, g->err) ||
        !cut_state(g, pieces, STRIP_MISSING, &tasks, &named) ||
        !cut_state(g, pieces, STRIP_LIVE, &tasks, &named))
        return false;
    for (size_t i = 0; i < pieces->count; i++) {
        struct strip_piece *same;

        if (pieces->items[i].state == STRIP_MISSING || pieces->items[i].state == STRIP_LIVE)
            continue;
        same = LIST_ADD(g->reader->arena, &named);
        if (same == NULL)
            return arena_error(g->reader->arena, g->err);
        *same = pieces->items[i];
    }
    qsort(named.items, named.count, sizeof(*named.items), by_window);
    merge(&named);
    *pieces = named;
    return true;
}

/* ---- all of it ---- */

static bool gather_strip(struct gathering *g)
{
    struct pieces pieces = { 0 };

    if (!read_pieces(g, &pieces))
        return false;
    trim(g, &pieces);
    if (!name_pieces(g, &pieces))
        return false;
    for (size_t i = 0; i < pieces.count; i++)
        g->strip->missing += pieces.items[i].state == STRIP_MISSING;
    join(&pieces, g->strip->window, g->filter->pieces_max);
    g->strip->items = pieces.items;
    g->strip->count = pieces.count;
    return true;
}

static bool add_strips(const struct view_reader *reader, const struct view_strip_filter *filter,
                       const struct view_cursor *of, struct view_strip_list *list,
                       struct error *err)
{
    struct view_strip strip = { .cursor = of->cursor, .way = of->way };
    struct gathering g = { reader, filter, cursor_namespace(&of->cursor.name), &strip, err };
    struct endpoint_list members;
    struct window window;

    if (!choose_window(&g) || !cursor_members(reader->store, reader->arena, &g.of,
                                              (struct cursor_sharing){ 0 }, &members, err))
        return false;
    window = strip.window;
    for (size_t i = 0; i < members.count; i++) {
        struct view_strip *slot;

        strip.endpoint = members.items[i];
        strip.window = window;
        strip.missing = 0;
        g.of.endpoint = members.items[i];
        if (!gather_strip(&g))
            return false;
        slot = LIST_ADD(reader->arena, list);
        if (slot == NULL)
            return arena_error(reader->arena, err);
        *slot = strip;
    }
    return true;
}

static bool is_over(const struct cursor_way *way)
{
    return way->is_campaign && way->is_known && way->left_us == 0;
}

static bool gather(const struct view_reader *reader, const struct view_strip_filter *filter,
                   struct view_strip_list *list, struct error *err)
{
    struct view_cursor_list cursors;

    if (!view_cursor_list(reader, &filter->cursors, &cursors, err))
        return false;
    for (size_t i = 0; i < cursors.count; i++) {
        if (cursors.items[i].cursor.value.type != CURSOR_TIME ||
            (filter->without_finished && is_over(&cursors.items[i].way)))
            continue;
        if (!add_strips(reader, filter, &cursors.items[i], list, err))
            return false;
    }
    return true;
}

bool view_strips(const struct view_reader *reader, const struct view_strip_filter *filter,
                 struct view_strip_list *list, struct error *err)
{
    bool ok;

    *list = (struct view_strip_list){ 0 };
    if (!store_begin_read(reader->store, err))
        return false;
    ok = gather(reader, filter, list, err);
    store_rollback(reader->store);
    return ok;
}
