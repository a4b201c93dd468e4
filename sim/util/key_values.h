/* line: "key=value key=value", in which faults, limits and credentials are written.
 *
 * A value may stand in double quotes and then hold blanks; a key without "=" has the empty value.
 * '#' at a word's beginning ends the line.
 */
#ifndef PATRA_SIM_UTIL_KEY_VALUES_H
#define PATRA_SIM_UTIL_KEY_VALUES_H

#include <stdbool.h>

#include "base/str.h"

struct key_value {
    struct str name;
    struct str value;
};

/* Takes the next pair off `rest`; false at the end, or at a quote that is not closed: then rest is
 * not empty. */
bool key_values_next(struct str *rest, struct key_value *pair);

/* One word of several: returns its position, or -1. The list ends with a NULL. */
int key_values_choice(struct str word, const char *const *words);

bool key_values_number(struct str text, double *value); /* "0.05"; whole string, not negative */

#endif
