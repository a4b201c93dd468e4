/* json_storable: JSON that every database can keep as a value of its own and take apart again.
 *
 * RFC 8259 allows more than databases do. PostgreSQL's jsonb has no \u0000, no half of a surrogate
 * pair, and no number beyond its numeric. Here the first two become U+FFFD, and such a number
 * becomes a text of the same characters.
 */
#ifndef PATRA_DATA_JSON_STORABLE_H
#define PATRA_DATA_JSON_STORABLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* `json` must be valid. *out is `json` itself where nothing had to be replaced, else in the arena.
 */
bool json_storable(struct arena *arena, struct str json, struct str *out,
                   struct error *err) MUST_CHECK;

/* Of a number in JSON's grammar: at most 400 characters, and an exponent of at most three digits.
 */
bool json_number_is_storable(struct str number);

#endif
