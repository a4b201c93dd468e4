/* gzip: compression of bodies, and of the bomb fault. The same input gives the same bytes. */
#ifndef PATRA_SIM_HTTP_GZIP_H
#define PATRA_SIM_HTTP_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* False when there is no memory; `small` is then untouched. */
bool gzip_compress(struct arena *arena, struct str bytes, int level, struct str *small) MUST_CHECK;

/* A file of any size, packed or not (level 0), in memory of its own (malloc). */
struct gzip_out {
    char *bytes; /* the caller's, after the end */
    size_t len;
    size_t room;
    int level;
    void *stream;
    bool failed;
};
bool gzip_out_open(struct gzip_out *out, int level) MUST_CHECK;
bool gzip_out_add(struct gzip_out *out, struct str bytes) MUST_CHECK;
bool gzip_out_end(struct gzip_out *out) MUST_CHECK; /* false also after an earlier failure */

/* `first` and then `mb` megabytes of blanks, handed to `take` piece by piece as they come out of
 * the compressor: about a thousandth of their size. False when `take` returns false. */
bool gzip_blanks(struct str first, int64_t mb, bool (*take)(void *context, struct str piece),
                 void *context) MUST_CHECK;

#endif
