/* suggest: "did you mean ...?" for names that people type.
 */
#ifndef PATRA_BASE_SUGGEST_H
#define PATRA_BASE_SUGGEST_H

#include <stddef.h>

#include "base/str.h"

/* The candidate closest to what was typed, or NULL if none is close enough: at most a third of its
 * letters may differ (two swapped neighbours count as one difference). */
const char *suggest(struct str typed, const char *const *candidates, size_t count);

#endif
