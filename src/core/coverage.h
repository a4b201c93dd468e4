/* coverage: sets of instants, kept as lists of half-open windows.
 *
 * Interval arithmetic answers which periods of a source have been fetched, which are being fetched,
 * and which must therefore still be planned:
 *
 *      wanted     |=========================================|
 *      covered       |=====|        |====|
 *      live                             |======|
 *      to plan    |=|      |========|          |============|
 *
 * A list is in *normal form* when its windows are valid, sorted, and neither overlap nor touch:
 * every set then has exactly one form. coverage_normalise() produces it; all other functions
 * require it of their inputs and preserve it. Results are in the arena; inputs are not changed.
 * Everything is linear except sorting, which is O(n log n) in place; nothing recurses.
 *
 * These functions fail only if the arena reaches its limit.
 */
#ifndef PATRA_CORE_COVERAGE_H
#define PATRA_CORE_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "core/window.h"

/* In place: drops windows without an instant, sorts, joins what overlaps or touches. */
void coverage_normalise(struct window_list *list);
bool coverage_is_normal(struct window_list set);

/* A copy in normal form; `list` may be in any order. */
bool coverage_of(struct arena *arena, struct window_list list, struct window_list *set,
                 struct error *err) MUST_CHECK;

bool coverage_union(struct arena *arena, struct window_list a, struct window_list b,
                    struct window_list *out, struct error *err) MUST_CHECK;
bool coverage_subtract(struct arena *arena, struct window_list from, struct window_list what,
                       struct window_list *out, struct error *err) MUST_CHECK;

/* The parts of `within` that the set does not contain. */
bool coverage_gaps(struct arena *arena, struct window_list set, struct window within,
                   struct window_list *out, struct error *err) MUST_CHECK;

/* O(log n). A window without an instant is contained in every set. */
bool coverage_contains(struct window_list set, struct window window);

/* What a plan has to fetch. `covered` and `live` may be in any order and overlap.
 *
 * The window begins before `cursor_us` because of the lookback or the alignment. Records may have
 * arrived late there, so this part is planned even if it was covered before. A live slice is
 * enough, though: it will fetch the period soon. For an operation without lookback pass
 * wanted.from_us.
 *
 * The caller must read covered and live, decide, and write the new slices under one lock per
 * namespace (the lock of the cursor's row is enough). Otherwise two planners could plan the same
 * period twice, and because `to` moves, no unique key would detect it.
 */
struct coverage_request {
    struct window wanted;
    int64_t cursor_us;
    struct window_list
        covered;             /* slices that succeeded, and the finished parts of re-sliced ones */
    struct window_list live; /* slices that wait or run */
};

/* `out` is in normal form: sorted, oldest first. Empty if there is nothing to do. */
bool coverage_plan(struct arena *arena, const struct coverage_request *request,
                   struct window_list *out, struct error *err) MUST_CHECK;

#endif
