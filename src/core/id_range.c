/* id_range: ranges as text, and which ids the parts of a window cover. */
#include "core/id_range.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"

bool id_range_is_valid(struct id_range range)
{
    return range.from < range.to;
}

bool id_range_has(struct id_range range, int64_t id)
{
    return range.from <= id && id < range.to;
}

void id_range_text(struct id_range range, char text[ID_RANGE_TEXT_MAX])
{
    if (range.from == ID_LOWEST && range.to == ID_HIGHEST)
        (void)snprintf(text, ID_RANGE_TEXT_MAX, "all ids");
    else if (range.from == ID_LOWEST)
        (void)snprintf(text, ID_RANGE_TEXT_MAX, "ids up to %" PRId64, range.to - 1);
    else if (range.to == ID_HIGHEST)
        (void)snprintf(text, ID_RANGE_TEXT_MAX, "ids from %" PRId64, range.from);
    else
        (void)snprintf(text, ID_RANGE_TEXT_MAX, "ids %" PRId64 " to %" PRId64, range.from,
                       range.to - 1);
}

/* ---- parts of windows ---- */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_windows(struct window a, struct window b)
{
    return a.from_us != b.from_us ? compare(a.from_us, b.from_us) : compare(a.to_us, b.to_us);
}

static int compare_parts(const void *a, const void *b)
{
    const struct id_part *x = a, *y = b;
    const int by_window = compare_windows(x->window, y->window);

    return by_window != 0 ? by_window : compare(x->ids.from, y->ids.from);
}

void id_parts_sort(struct id_part_list parts)
{
    if (parts.count > 0)
        qsort(parts.items, parts.count, sizeof(*parts.items), compare_parts);
}

/* The first part of this window or of a later one. */
static size_t first_of(struct id_part_list parts, struct window window)
{
    size_t from = 0, to = parts.count;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (compare_windows(parts.items[middle].window, window) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool is_at(struct id_part_list parts, size_t at, struct window window)
{
    return at < parts.count && compare_windows(parts.items[at].window, window) == 0;
}

bool id_parts_whole(struct arena *arena, struct id_part_list parts, struct window_list *whole,
                    struct error *err)
{
    for (size_t i = 0; i < parts.count;) {
        const struct window window = parts.items[i].window;
        int64_t reached = ID_LOWEST; /* all ids below are covered */
        struct window *slot;

        for (; is_at(parts, i, window); i++) {
            const struct id_range ids = parts.items[i].ids;

            if (ids.from <= reached && ids.to > reached)
                reached = ids.to;
        }
        if (reached != ID_HIGHEST)
            continue;
        slot = LIST_ADD(arena, whole);
        if (slot == NULL)
            return arena_error(arena, err);
        *slot = window;
    }
    return true;
}

static bool add_range(struct arena *arena, struct id_range range, struct id_range_list *list,
                      struct error *err)
{
    struct id_range *slot;

    if (!id_range_is_valid(range))
        return true;
    slot = LIST_ADD(arena, list);
    if (slot == NULL)
        return arena_error(arena, err);
    *slot = range;
    return true;
}

bool id_parts_missing(struct arena *arena, struct id_part_list parts, struct id_part of,
                      struct id_range_list *missing, struct error *err)
{
    struct id_range rest = of.ids;

    assert(id_range_is_valid(of.ids));
    *missing = (struct id_range_list){ 0 };
    for (size_t i = first_of(parts, of.window); is_at(parts, i, of.window); i++) {
        const struct id_range held = parts.items[i].ids;

        if (held.from >= of.ids.to)
            break;
        if (!add_range(arena, (struct id_range){ rest.from, held.from }, missing, err))
            return false;
        if (held.to > rest.from)
            rest.from = held.to;
    }
    return add_range(arena, rest, missing, err);
}
