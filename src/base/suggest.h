/* suggest: "did you mean ...?" for names that people type.
 */
#ifndef PATRA_BASE_SUGGEST_H
#define PATRA_BASE_SUGGEST_H

#include <stddef.h>

#include "base/str.h"

/* The candidate nearest to what was typed, or NULL when none is near enough to be meant: at most a
 * third of its letters may differ (two neighbours swapped count as one difference). */
const char *suggest(struct str typed, const char *const *candidates, size_t count);

#endif
