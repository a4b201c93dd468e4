/* line: "key=value key=value", in which faults, limits and credentials are written.
 *
 * A value may stand in double quotes and then hold blanks; a key without "=" has the empty value.
 * '#' at a word's beginning ends the line.
 */
#ifndef PATRA_SIM_UTIL_KEY_VALUES_H
#define PATRA_SIM_UTIL_KEY_VALUES_H

#include "sim/http/call.h"

/* Takes the next pair off `rest`; false at the end, or at a quote that is not closed: then rest is
 * not empty. */
bool line_next(struct str *rest, struct exchange_pair *pair);

/* One word of several: returns its position, or -1. The list ends with a NULL. */
int line_choice(struct str word, const char *const *words);

bool line_number(struct str text, double *value); /* "0.05"; whole string, not negative */

#endif
