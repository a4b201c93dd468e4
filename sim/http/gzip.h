/* gzip: compression of bodies, and of the bomb fault. The same input gives the same bytes. */
#ifndef PATRA_SIM_HTTP_GZIP_H
#define PATRA_SIM_HTTP_GZIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* False when there is no memory; `small` is then untouched. */
bool gzip_compress(struct arena *arena, struct str bytes, int level, struct str *small) MUST_CHECK;

/* `first` and then `mb` megabytes of blanks, handed to `take` piece by piece as they come out of
 * the compressor: about a thousandth of their size. False when `take` returns false. */
bool gzip_blanks(struct str first, int64_t mb, bool (*take)(void *context, struct str piece),
                 void *context) MUST_CHECK;

#endif
