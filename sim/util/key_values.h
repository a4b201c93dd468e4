/* key_values: "key=value key=value", the syntax of faults, limits and credentials.
 *
 * A value in double quotes may contain blanks; a key without "=" has an empty value. '#' at the
 * start of a word ends the line.
 */
#ifndef PATRA_SIM_UTIL_KEY_VALUES_H
#define PATRA_SIM_UTIL_KEY_VALUES_H

#include <stdbool.h>

#include "base/str.h"

struct key_value {
    struct str name;
    struct str value;
};

/* Takes the next pair off `rest`. False at the end, or at an unclosed quote: then `rest` is not
 * empty. */
bool key_values_next(struct str *rest, struct key_value *pair);

/* The position of the word in a list that ends with NULL, or -1. */
int key_values_choice(struct str word, const char *const *words);

bool key_values_number(struct str text, double *value); /* "0.05"; the whole text, not negative */

#endif
