/* guess_dates: dates in the text of a URL, replaced by the window of a request.
 *
 *      from-index-date:2023-02-06,until-index-date:2023-02-14
 *      from-index-date:${date(window.from)},until-index-date:${date(window.last)}
 */
#ifndef PATRA_ENGINE_GUESS_GUESS_DATES_H
#define PATRA_ENGINE_GUESS_GUESS_DATES_H

#include "engine/guess/guess.h"

struct guess_dates_input {
    struct str name; /* of the parameter; empty: the path */
    struct str text;
};

/* The text as a template. The first two dates of a URL become the ends of the window, and `window`
 * keeps how they are written; further dates stay as they are. Empty: the arena is full. */
struct str guess_dates(struct guess_date_text *window, struct arena *arena,
                       const struct guess_dates_input *input);

#endif
