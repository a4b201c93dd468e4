/* lone: a list that is one response must not say that there is more of it.
 *
 * A child endpoint and page.type: single have no further pages. What such a response has not,
 * nobody would request. Signs that it is a part: status 206, a Link header with a next page,
 * has_more, and for children a total above the distinct ids (of other lists engine/fetch/proof.h
 * judges it).
 */
#ifndef PATRA_ENGINE_FETCH_LONE_H
#define PATRA_ENGINE_FETCH_LONE_H

#include "engine/fetch/listing.h"

struct lone_input {
    const struct http_response *reply;
    const struct listing *listing;
    bool is_of_parent; /* the items are children */
};

/* Errors, all L2: "answer.status", "answer.next", "answer.has_more", "answer.total". */
bool lone_check(const struct lone_input *input, struct arena *arena, struct error *err) MUST_CHECK;

#endif
