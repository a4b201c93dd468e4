/* json_number: numbers of JSON to machine numbers, and doubles to their canonical text.
 *
 * Texts must be in JSON's grammar (json_parse checked it). A double is printed in the form
 * of ECMAScript's Number::toString, which RFC 8785 requires: the fewest digits that read back to
 * the same double, among those the nearest one; "1e+21" from there on, "1e-7" from there down.
 */
#ifndef PATRA_DATA_JSON_NUMBER_H
#define PATRA_DATA_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* False when the number is not an integer or does not fit: "1.5", "9223372036854775808". Exact:
 * "9223372036854775807.0" and "10e-1" are integers. */
bool json_number_i64(struct str text, int64_t *value);

/* The nearest double, ties to even; ±infinity beyond the largest. Patra never calls setlocale(),
 * so the decimal point is a point. */
double json_number_double(struct str text);

/* "-1.2345678901234567e-308" is the longest. The value must be finite; -0 gives "0". */
enum { JSON_NUMBER_TEXT_MAX = 32 };
size_t json_number_format(double value, char text[JSON_NUMBER_TEXT_MAX]);

#endif
