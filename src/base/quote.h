/* quote: makes untrusted bytes printable in an error text.
 *
 *      error_set(err, ERROR_DATA, "date.syntax", "not a date: %s", QUOTE(text));
 *
 * The bytes are put between double quotes. Controls, quotes, backslashes and invalid UTF-8 are
 * escaped as \n, \" or \x1f. Long values are shortened, end in "... and show their length.
 */
#ifndef PATRA_BASE_QUOTE_H
#define PATRA_BASE_QUOTE_H

#include "base/arena.h"
#include "base/str.h"

enum { QUOTE_BYTES_MAX = 80, QUOTE_TEXT_MAX = 4 * QUOTE_BYTES_MAX + 48 };

struct quote {
    char text[QUOTE_TEXT_MAX];
};

struct quote quote_of(struct str s);

/* Lives to the end of the full expression: long enough for the call that prints it. */
#define QUOTE(s) (quote_of(s).text)

/* The same in the arena, with up to bytes_max bytes of the value; data NULL: the arena is full. */
struct str quote_copy(struct arena *arena, struct str s, size_t bytes_max);

#endif
