/* response: what a response is, before records are read from it.
 *
 *      reply ── rules of the source (error_when: the first that applies decides)
 *            ── status
 *            ── the body: is there one, is it in the format, is it whole
 *            ── rules of the source (success_when: all must hold)
 *            ── the list of items
 *
 * HTTP 200 does not mean success, and a response that cannot be read never means "no records":
 *
 *      L1  answer.status     429, 5xx, and what retry.statuses adds
 *          answer.throttled  too fast            answer.quota    the quota is used up
 *          answer.expired    the token expired   answer.syntax   broken or cut off
 *          body.empty  body.html  body.kind  body.charset        (data/media_type.h)
 *          answer.items      well-formed, but without the list, or with something else in its place
 *      L2  answer.status     other 4xx, 3xx      answer.too_deep beyond what the source hands out
 *          answer.limit      nested too deep, declares entities, ...
 *      L4  answer.status     401, 407
 *      any answer.rule       as the source's rule says; its name is in the text
 *
 * `contains` without path or header searches the body only where no records were found: an abstract
 * may well mention exceeded rate limits.
 *
 * The list of an endpoint with pages must be a list. Where one request returns one record (a lookup
 * by id, page.type single), the value may be the record itself.
 *
 * 429 has two meanings. A rule may say which; otherwise rate.meaning_429 does.
 */
#ifndef PATRA_ENGINE_FETCH_RESPONSE_H
#define PATRA_ENGINE_FETCH_RESPONSE_H

#include "data/http_message.h"
#include "data/rate_hints.h"
#include "engine/fetch/reader.h"

/* What to do about it. */
enum response_kind {
    RESPONSE_PAGE,      /* read it */
    RESPONSE_EMPTY,     /* nothing: there are no records, by a rule of the source; or no children */
    RESPONSE_THROTTLED, /* wait */
    RESPONSE_QUOTA,     /* wait long: until the quota is reset */
    RESPONSE_EXPIRED,   /* walk again from the beginning */
    RESPONSE_TOO_DEEP,  /* re-slice */
    RESPONSE_OVERSIZED, /* request less */
    RESPONSE_ERROR,     /* as the error's level says */
};

struct response {
    enum response_kind kind;
    const struct spec_rule *rule; /* that decided; NULL: none */
    struct rate_hints hints;
    struct str excerpt; /* of a failure: the beginning of the body, masked (request.h) */
    bool is_open;       /* the document must be closed */
    struct document document;
    struct document_items items;
};

/* True for PAGE and EMPTY. Otherwise err says what it is, without the request's URL, which the
 * caller knows. Close it in any case. */
struct response_input {
    const struct reader *reader;
    const struct http_response *reply;
    const struct spec_endpoint *access; /* whose credential was sent; NULL: the reader's */
    int64_t now_us;
    bool ids_only;     /* phase one: a list of ids, which no object can be */
    bool is_of_parent; /* of children of one parent: 404 and 410 say that it has none */
};
bool response_read(struct response *response, struct arena *arena,
                   const struct response_input *input, struct error *err) MUST_CHECK;

void response_close(struct response *response); /* accepts the zero value */

/* A request that failed in port/http.h's words: OVERSIZED where a smaller page may fit, else ERROR.
 */
enum response_kind response_kind_of_failure(const struct error *err);

#endif
