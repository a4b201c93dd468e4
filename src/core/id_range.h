/* id_range: a half-open range of numeric ids, [from, to), and parts of windows.
 *
 * A day that cannot be divided further by time is divided by ids. Its parts have the same window,
 * and each part holds the window's records whose ids are in its range:
 *
 *      ids    (... 100)     [100 ... 200)     [200 ...)
 *      window |== 1 ==|     |==== 2 ====|     |== 3 ==|
 *
 * The first range has no lower end and the last no upper one, so that adjacent ranges hold every id
 * that exists or will exist. A window is covered when its parts hold all ids, no matter which plans
 * they belong to and how often they were divided.
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

/* True for a range that holds at least one id. The zero value, which holds none, means "not
 * divided by ids" where a range is optional. */
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

/* By window, then by ids; in place. The functions below require sorted parts. */
void id_parts_sort(struct id_part_list parts);

/* Adds to `whole` the windows, each once, whose parts hold all ids. */
bool id_parts_whole(struct arena *arena, struct id_part_list parts, struct window_list *whole,
                    struct error *err) MUST_CHECK;

/* The ranges of `of.ids` that no part of exactly the window `of.window` holds, lowest first. */
bool id_parts_missing(struct arena *arena, struct id_part_list parts, struct id_part of,
                      struct id_range_list *missing, struct error *err) MUST_CHECK;

#endif
