/* coverage: sorting, the normal form, and set operations on windows. */
#include "core/coverage.h"

#include <assert.h>
#include <string.h>

/* ---- sorting: by from_us, in place, without recursion or memory (qsort may take both) ---- */

static bool is_sorted(struct window_list list)
{
    for (size_t i = 1; i < list.count; i++) {
        if (list.items[i - 1].from_us > list.items[i].from_us)
            return false;
    }
    return true;
}

static void swap(struct window *a, struct window *b)
{
    const struct window kept = *a;

    *a = *b;
    *b = kept;
}

/* Moves the item at `root` down until both its children begin before it. */
static void sink(struct window *items, size_t root, size_t count)
{
    for (;;) {
        size_t child = 2 * root + 1;

        if (child >= count)
            return;
        if (child + 1 < count && items[child].from_us < items[child + 1].from_us)
            child++;
        if (items[root].from_us >= items[child].from_us)
            return;
        swap(&items[root], &items[child]);
        root = child;
    }
}

static void sort(struct window_list list)
{
    if (is_sorted(list))
        return; /* the usual case: a store returns them in order */
    for (size_t root = list.count / 2; root > 0; root--)
        sink(list.items, root - 1, list.count);
    for (size_t end = list.count - 1; end > 0; end--) {
        swap(&list.items[0], &list.items[end]);
        sink(list.items, 0, end);
    }
}

/* ---- the normal form ---- */

/* Adds a window that does not begin before the last one; joins the two if they meet. */
static void add(struct window_list *list, struct window window)
{
    struct window *last = list->count > 0 ? &list->items[list->count - 1] : NULL;

    if (last != NULL && window.from_us <= last->to_us) {
        if (window.to_us > last->to_us)
            last->to_us = window.to_us;
        return;
    }
    list->items[list->count++] = window;
}

void coverage_normalise(struct window_list *list)
{
    struct window_list set = { .items = list->items };
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (window_is_valid(list->items[i]))
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    sort(*list);
    for (size_t i = 0; i < list->count; i++)
        add(&set, list->items[i]); /* never writes beyond what has been read */
    *list = set;
    assert(coverage_is_normal(*list));
}

bool coverage_is_normal(struct window_list set)
{
    for (size_t i = 0; i < set.count; i++) {
        if (!window_is_valid(set.items[i]))
            return false;
        if (i > 0 && set.items[i - 1].to_us >= set.items[i].from_us)
            return false;
    }
    return true;
}

static bool make(struct arena *arena, size_t capacity, struct window_list *out, struct error *err)
{
    *out = (struct window_list){ .items = ARENA_ARRAY(arena, struct window, capacity) };
    return out->items != NULL || arena_error(arena, err);
}

bool coverage_of(struct arena *arena, struct window_list list, struct window_list *set,
                 struct error *err)
{
    if (!make(arena, list.count, set, err))
        return false;
    if (list.count > 0)
        memcpy(set->items, list.items, list.count * sizeof(list.items[0]));
    set->count = list.count;
    coverage_normalise(set);
    return true;
}

/* ---- the algebra ---- */

bool coverage_union(struct arena *arena, struct window_list a, struct window_list b,
                    struct window_list *out, struct error *err)
{
    size_t i = 0, j = 0;

    assert(coverage_is_normal(a));
    assert(coverage_is_normal(b));
    if (!make(arena, a.count + b.count, out, err))
        return false;
    while (i < a.count || j < b.count) {
        if (j == b.count || (i < a.count && a.items[i].from_us <= b.items[j].from_us))
            add(out, a.items[i++]);
        else
            add(out, b.items[j++]);
    }
    return true;
}

bool coverage_subtract(struct arena *arena, struct window_list from, struct window_list what,
                       struct window_list *out, struct error *err)
{
    size_t j = 0;

    assert(coverage_is_normal(from));
    assert(coverage_is_normal(what));
    /* Each window that is removed splits at most one other. */
    if (!make(arena, from.count + what.count, out, err))
        return false;
    for (size_t i = 0; i < from.count; i++) {
        struct window rest = from.items[i];

        while (j < what.count && what.items[j].to_us <= rest.from_us)
            j++;
        /* `what` may reach into the next window as well, so j stays on it. */
        for (size_t k = j; k < what.count && what.items[k].from_us < rest.to_us; k++) {
            if (what.items[k].from_us > rest.from_us)
                add(out, (struct window){ rest.from_us, what.items[k].from_us });
            rest.from_us = what.items[k].to_us;
            j = k;
        }
        if (window_is_valid(rest))
            add(out, rest);
    }
    return true;
}

bool coverage_gaps(struct arena *arena, struct window_list set, struct window within,
                   struct window_list *out, struct error *err)
{
    const struct window_list whole = { &within, window_is_valid(within) ? 1 : 0 };

    return coverage_subtract(arena, whole, set, out, err);
}

bool coverage_contains(struct window_list set, struct window window)
{
    size_t low = 0, high = set.count;

    if (!window_is_valid(window))
        return true;
    while (low < high) { /* the first window that ends after the start */
        const size_t middle = low + (high - low) / 2;

        if (set.items[middle].to_us > window.from_us)
            high = middle;
        else
            low = middle + 1;
    }
    return low < set.count && window_contains(set.items[low], window);
}

/* ---- the plan ---- */

/* Keeps only what is at or after `at_us`, in normal form. */
static void remove_before(struct window_list *set, int64_t at_us)
{
    size_t kept = 0;

    for (size_t i = 0; i < set->count; i++) {
        struct window window = set->items[i];

        if (window.from_us < at_us)
            window.from_us = at_us;
        if (window_is_valid(window))
            set->items[kept++] = window;
    }
    set->count = kept;
}

bool coverage_plan(struct arena *arena, const struct coverage_request *request,
                   struct window_list *out, struct error *err)
{
    struct window_list covered, live, spared;

    if (!coverage_of(arena, request->covered, &covered, err))
        return false;
    if (!coverage_of(arena, request->live, &live, err))
        return false;
    remove_before(&covered, request->cursor_us);
    if (!coverage_union(arena, covered, live, &spared, err))
        return false;
    return coverage_gaps(arena, spared, request->wanted, out, err);
}
