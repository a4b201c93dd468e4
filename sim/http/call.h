/* exchange: one request to the simulator and its answer, as the protocols see it.
 *
 * The server (server.c) fills the request side, asks the fault plan for a twist, and calls the
 * protocol that owns the path; the protocol fills the answer side. What happens to the bytes on the
 * wire afterwards (gzip, truncation, resets, drips) is the server's alone; what must be wrong
 * inside the answer itself is the protocol's, and named by the twist.
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

/* Faults that only the protocol can make, because they live inside a well-formed answer. A protocol
 * that has no such notion (no token, say) answers as if there were no twist. */
enum content_fault {
    CONTENT_FAULT_NONE,
    CONTENT_FAULT_REPEAT_PAGE,     /* the page before this one again */
    CONTENT_FAULT_SHIFT_PAGE,      /* the window slid by one record: one repeated, one skipped */
    CONTENT_FAULT_REPEAT_TOKEN,    /* the right page, but the next token is the one that was sent */
    CONTENT_FAULT_EXPIRED_TOKEN,   /* the protocol's own way of saying that the token is gone */
    CONTENT_FAULT_MOVING_TOTAL,    /* a total that differs from the page before */
    CONTENT_FAULT_NEXT_ELSEWHERE,  /* a next link that points to another host */
    CONTENT_FAULT_RECORD_NO_ID,    /* one record of the page has no id */
    CONTENT_FAULT_RECORD_NO_DATE,  /* ... no date */
    CONTENT_FAULT_RECORD_BAD_DATE, /* ... a date nobody can read */
    CONTENT_FAULT_EMPTY_PAGE,      /* a well-formed page without its records */
    CONTENT_FAULT_BODY_ERROR,      /* the protocol's own error inside HTTP 200 */
    CONTENT_FAULT_MISSING_DETAILS, /* some of the asked ids are not in the answer */
};

enum { CALL_PARAMS_MAX = 64, CALL_HEADERS_MAX = 64 };

struct http_call {
    struct arena *arena; /* lives as long as the exchange; for both sides' memory */

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
    int64_t now_us; /* virtual: the simulator's clock, or what the client said its own shows */
    enum content_fault content_fault;
    uint64_t random; /* of the twist, from the fault seed: which record to spoil, by how much */
    struct str other_base; /* "http://127.0.0.1:4711": the other host, for links that lead astray */

    /* The answer. */
    int status;
    struct str content_type;
    struct key_value response_headers[CALL_HEADERS_MAX];
    size_t response_header_count;
    struct buf response;
    /* A body that outlives the exchange, sent in place of `reply` where its data is not NULL: what
     * is already in memory need not be copied. */
    struct str fixed;
    /* For the audit's "same page fetched twice". A protocol that knows which page this is says so
     * here (any bytes); otherwise the request itself (method, path, sorted query, body) is taken.
     * PAGE_NONE excludes the answer: it is not a page (Identify, a token's sibling), or asking
     * again gives another one (Crossref's scroll). */
    enum call_page { PAGE_BY_REQUEST, PAGE_BY_KEY, PAGE_NONE } page;
    struct str page_key;
    bool confirmable; /* an empty or last page, which a careful client asks for once more */
};

/* Adds the pairs of `raw` ("a=1&b=%20+") to the parameters, decoded; false when they are too many
 * or an escape is broken. */
bool call_add_params(struct http_call *call, struct str raw, struct error *err) MUST_CHECK;

/* The first parameter of that name, or the empty view. */
struct str call_param(const struct http_call *call, struct str name);
bool call_has_param(const struct http_call *call, struct str name);
struct str call_header(const struct http_call *call, struct str name); /* case-insensitive */

/* Adds a header to the answer. The views must live as long as the exchange. A protocol sends fewer
 * than CALL_HEADERS_MAX. */
void call_add_header(struct http_call *call, struct str name, struct str value);
struct str call_response_header(const struct http_call *call, struct str name);

/* What will be sent as the body: fixed or reply. */
struct str call_body(const struct http_call *call);

/* The status and a whole body of that type; what was in the reply before is gone. */
void call_respond(struct http_call *call, int status, struct str content_type, struct str body);

#endif
