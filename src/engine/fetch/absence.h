/* absence: whether what a page lacks makes its response a broken one.
 *
 * A source declares where the total, the next token or URL and has_more are. In a response with
 * items, a declared path that finds nothing means that the response has another shape than the
 * source's author saw: a member was renamed, a cache returned something else. To take a missing
 * next for the end, or to go without the total, would lose records without a trace. So such a
 * response is broken (L1: it is requested again, and then the task fails), unless
 *
 *   - the source says that the part may be absent (response.may_be_absent);
 *   - for next: the distinct ids so far are exactly as many as the total, or has_more is false:
 *     the end is known by other signs.
 *
 * A next that is null or empty is not absent: it says that this page is the last. Where has_more is
 * true, the two contradict each other, and the response is broken. On the first page
 * nothing needs to be there when it has no items. A later page without items still needs its next.
 *
 * Where the list itself may be absent, something else that the source declares must be there: the
 * total, a next, has_more. A body with none of them is not a response of this source.
 *
 * A list without items must not be a list of something else (data/xml_container.h), unless the
 * total is 0: a forgotten prefix or a wrong name in the path would look like a source without
 * records.
 *
 * A list of which no item has an id is broken, too: it is a list of something else. Where the total
 * says that these items are records, they are only bad ones.
 */
#ifndef PATRA_ENGINE_FETCH_ABSENCE_H
#define PATRA_ENGINE_FETCH_ABSENCE_H

#include "engine/fetch/listing.h"

struct absence_input {
    const struct reader *reader;
    const struct response *response;
    const struct listing *listing;
    bool is_first;         /* no page of this sweep came before */
    bool is_total_reached; /* see proof_is_reached(); where absence_needs_total() */
};

/* True for the few pages where the total may decide. */
bool absence_needs_total(const struct listing *listing);

/* Errors, all L1: "answer.total", "answer.next", "answer.has_more", "answer.items",
 * "answer.ids". */
bool absence_check(const struct absence_input *input, struct arena *arena,
                   struct error *err) MUST_CHECK;

/* True when the page is an end only because there is no next: it is absent, null or empty. */
bool absence_is_end(const struct listing *listing);

#endif
