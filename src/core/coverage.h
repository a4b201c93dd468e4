/* coverage: sets of instants, kept as lists of half-open windows.
 *
 * Which stretches of a source have been fetched, which are being fetched, and which are therefore
 * still to be planned, is interval arithmetic:
 *
 *      wanted     |=========================================|
 *      covered       |=====|        |====|
 *      live                             |======|
 *      to plan    |=|      |========|          |============|
 *
 * A list is in *normal form* when its windows are valid, sorted, and neither overlap nor touch:
 * every set then has exactly one form. coverage_normalise() makes it; all other functions
 * expect it of their inputs and give it back. Results live in the arena; inputs are not changed.
 * Each is linear but the sorting, which is O(n log n) in place; nothing recurses.
 *
 * What fails, fails by the arena's ceiling alone.
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

/* What of `within` the set does not hold. */
bool coverage_gaps(struct arena *arena, struct window_list set, struct window within,
                   struct window_list *out, struct error *err) MUST_CHECK;

/* O(log n). A window without an instant is contained in every set. */
bool coverage_contains(struct window_list set, struct window window);

/* What a plan has to fetch. `covered` and `live` may be in any order and overlap.
 *
 * What lies before `cursor_us` is wanted because the window decision reached back for it
 * (lookback, alignment): records may have arrived late there, so having been covered once does not
 * spare it. A live slice does spare it: it will be fetched soon enough. For an operation
 * without lookback pass wanted.from_us.
 *
 * The caller's part: reading covered and live, deciding, and writing the new slices is one step
 * under one lock per namespace (that of the cursor's row will do). Two planners that read the same
 * and write apart would plan the same time twice, and with a moving `to` no unique key can see it.
 */
struct coverage_request {
    struct window wanted;
    int64_t cursor_us;
    struct window_list covered; /* slices that succeeded, and the finished parts of cut ones */
    struct window_list live;    /* slices that wait or run */
};

/* `out` is in normal form: sorted, oldest first. Empty when there is nothing to do. */
bool coverage_plan(struct arena *arena, const struct coverage_request *request,
                   struct window_list *out, struct error *err) MUST_CHECK;

#endif
