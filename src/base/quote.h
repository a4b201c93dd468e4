/* quote: foreign bytes made fit for an error text.
 *
 *      error_set(err, ERROR_DATA, "date.syntax", "not a date: %s", QUOTE(text));
 *
 * The bytes come out between double quotes; controls, quotes, backslashes and whatever is not
 * UTF-8 as \n, \" or \x1f; longer values are cut, end in "... and tell how long they were.
 */
#ifndef PATRA_BASE_QUOTE_H
#define PATRA_BASE_QUOTE_H

#include "base/str.h"

enum { QUOTE_BYTES_MAX = 80, QUOTE_TEXT_MAX = 4 * QUOTE_BYTES_MAX + 48 };

struct quote {
    char text[QUOTE_TEXT_MAX];
};

struct quote quote_of(struct str s);

/* Lives to the end of the full expression, which is as long as a call that prints it needs. */
#define QUOTE(s) (quote_of(s).text)

#endif
