/* listing: columns for people, as wide as their widest cell; the last one is not padded.
 *
 *      struct listing listing;
 *      listing_init(&listing, arena, (const char *[]){ "SOURCE", "VERSION" }, 2);
 *      listing_cell(&listing, code); listing_i64(&listing, version);   ... row by row ...
 *      if (!listing_print(&listing, out, err)) return false;
 */
#ifndef PATRA_CMD_LISTING_H
#define PATRA_CMD_LISTING_H

#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/str.h"

enum { LISTING_COLUMNS_MAX = 12 };

struct listing {
    struct arena *arena;
    struct str *cells; /* row by row, the heads first */
    size_t count;
    size_t capacity;
    size_t columns;
    bool failed;
};

void listing_init(struct listing *listing, struct arena *arena, const char *const *heads,
                  size_t columns);
void listing_cell(struct listing *listing, struct str text); /* borrowed */
void listing_i64(struct listing *listing, int64_t value);
void listing_instant(struct listing *listing, int64_t at_us);

/* Nothing but the heads is printed as "(none)". False when memory ran out on the way. */
bool listing_print(const struct listing *listing, FILE *out, struct error *err) MUST_CHECK;

#endif
