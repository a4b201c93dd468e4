/* id_range: a half-open stretch of ids that are whole numbers, [from, to), and parts of windows.
 *
 * A day that time can not cut any further is cut by ids. Its parts have the same window, and of the
 * window's records each has those whose ids are in its range:
 *
 *      ids    (... 100)     [100 ... 200)     [200 ...)
 *      window |== 1 ==|     |==== 2 ====|     |== 3 ==|
 *
 * The first range has no lower end and the last no upper one, so that ranges laid end to end hold
 * every id there is, and every one there will be. A window is covered when its parts hold all ids:
 * of whichever plan they are, and however often they were cut.
 */
#ifndef PATRA_CORE_ID_RANGE_H
#define PATRA_CORE_ID_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "core/window.h"

struct id_range {
    int64_t from; /* ID_LOWEST: no lower end */
    int64_t to;   /* ID_HIGHEST: no upper end */
};

#define ID_LOWEST INT64_MIN
#define ID_HIGHEST INT64_MAX

struct id_range_list {
    struct id_range *items;
    size_t count;
};

/* True for a range that holds at least one id. The zero value, which holds none, stands for "not
 * cut by ids" wherever a range is optional. */
bool id_range_is_valid(struct id_range range);

bool id_range_has(struct id_range range, int64_t id);

/* For people: "ids 100 to 199", "ids up to 99", "ids from 200", "all ids"; at least
 * ID_RANGE_TEXT_MAX bytes. */
enum { ID_RANGE_TEXT_MAX = 64 };
void id_range_text(struct id_range range, char text[ID_RANGE_TEXT_MAX]);

/* ---- parts of windows ---- */

struct id_part {
    struct window window;
    struct id_range ids;
};

struct id_part_list {
    struct id_part *items;
    size_t count;
};

/* By window, then by ids; in place. The questions below want it done. */
void id_parts_sort(struct id_part_list parts);

/* Adds to `whole` the windows, each once, whose parts hold all ids. */
bool id_parts_whole(struct arena *arena, struct id_part_list parts, struct window_list *whole,
                    struct error *err) MUST_CHECK;

/* What of `of.ids` no part of the very window `of.window` holds; from the lowest. */
bool id_parts_missing(struct arena *arena, struct id_part_list parts, struct id_part of,
                      struct id_range_list *missing, struct error *err) MUST_CHECK;

#endif
