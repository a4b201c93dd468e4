/* call: one request to the simulator and its response, as the protocols see them.
 *
 * The server fills in the request, the fault plan may choose a content fault, and the protocol that
 * owns the path fills in the response. Faults in how a response is sent (gzip, truncation, resets,
 * drips) are the server's (server/response.h); faults inside a well-formed response are the
 * protocol's, and named by `content_fault`.
 */
#ifndef PATRA_SIM_HTTP_CALL_H
#define PATRA_SIM_HTTP_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "sim/util/key_values.h"

/* Faults that only the protocol can make, because they are inside a well-formed response. A
 * protocol to which one does not apply (it has no token, for example) responds as without the
 * fault. */
enum content_fault {
    CONTENT_FAULT_NONE,
    CONTENT_FAULT_REPEAT_PAGE,  /* the previous page again */
    CONTENT_FAULT_SHIFT_PAGE,   /* the page starts one record early: one is repeated, one skipped */
    CONTENT_FAULT_REPEAT_TOKEN, /* the right page, but the next token is the one that was sent */
    CONTENT_FAULT_EXPIRED_TOKEN,   /* the protocol's own error for an expired token */
    CONTENT_FAULT_MOVING_TOTAL,    /* a total that differs from the previous page's */
    CONTENT_FAULT_NEXT_ELSEWHERE,  /* a next link that points to another host */
    CONTENT_FAULT_RECORD_NO_ID,    /* one record of the page has no id */
    CONTENT_FAULT_RECORD_NO_DATE,  /* ... no date */
    CONTENT_FAULT_RECORD_BAD_DATE, /* ... an invalid date */
    CONTENT_FAULT_EMPTY_PAGE,      /* a well-formed page without its records */
    CONTENT_FAULT_BODY_ERROR,      /* the protocol's own error with status 200 */
    CONTENT_FAULT_MISSING_DETAILS, /* some of the requested ids are missing */
};

enum { CALL_PARAMS_MAX = 64, CALL_HEADERS_MAX = 64 };

struct http_call {
    struct arena *arena; /* lives as long as the call; for request and response */

    /* The request. */
    struct str method;
    struct str scheme; /* "http" or "https" */
    struct str host;   /* of the Host header, with its port */
    struct str path;   /* percent-decoded */
    struct str raw_path;
    struct str query;                         /* raw */
    struct key_value params[CALL_PARAMS_MAX]; /* of the query, then of a form body; decoded */
    size_t param_count;
    struct key_value headers[CALL_HEADERS_MAX]; /* as sent */
    size_t header_count;
    struct str body;
    int64_t now_us; /* virtual: the simulator's clock, or the time the client sent */
    enum content_fault content_fault;
    uint64_t random;       /* from the fault seed: which record is faulty, how far a total is off */
    struct str other_base; /* "http://127.0.0.1:4711": the other host, for faulty links */

    /* The response. */
    int status;
    struct str content_type;
    struct key_value response_headers[CALL_HEADERS_MAX];
    size_t response_header_count;
    struct buf response;
    /* A body that outlives the call, sent instead of `response` unless its data is NULL. Saves a
     * copy of what is already in memory. */
    struct str fixed;
    /* For the audit's "same page fetched twice". A protocol that knows which page this is sets
     * page_key to any bytes; otherwise the request itself (method, path, sorted query, body) is the
     * key. PAGE_NONE excludes the response: it is not a page (Identify), or the same request
     * returns another page each time (Crossref's scroll). */
    enum call_page { PAGE_BY_REQUEST, PAGE_BY_KEY, PAGE_NONE } page;
    struct str page_key;
    bool confirmable; /* an empty or last page, which a careful client fetches once more */
};

/* Adds the pairs of `raw` ("a=1&b=%20+") to the parameters, decoded; false when they are too many
 * or an escape is broken. */
bool call_add_params(struct http_call *call, struct str raw, struct error *err) MUST_CHECK;

/* The first parameter of that name, or the empty view. */
struct str call_param(const struct http_call *call, struct str name);
bool call_has_param(const struct http_call *call, struct str name);
struct str call_header(const struct http_call *call, struct str name); /* case-insensitive */

/* Adds a header to the response. The views must live as long as the call. A protocol sends fewer
 * than CALL_HEADERS_MAX. */
void call_add_header(struct http_call *call, struct str name, struct str value);
struct str call_response_header(const struct http_call *call, struct str name);

/* What will be sent as the body: fixed or response. */
struct str call_body(const struct http_call *call);

/* Sets the status and the body with its type; replaces any earlier body. */
void call_respond(struct http_call *call, int status, struct str content_type, struct str body);

#endif
