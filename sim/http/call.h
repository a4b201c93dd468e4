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

/* Faults that only the protocol can make, because they live inside a well-formed answer. A protocol
 * that has no such notion (no token, say) answers as if there were no twist. */
enum exchange_twist {
    TWIST_NONE,
    TWIST_REPEAT_PAGE,     /* the page before this one again */
    TWIST_SHIFT_PAGE,      /* the window slid by one record: one repeated, one skipped */
    TWIST_REPEAT_TOKEN,    /* the right page, but the next token is the one that was sent */
    TWIST_EXPIRED_TOKEN,   /* the protocol's own way of saying that the token is gone */
    TWIST_MOVING_TOTAL,    /* a total that differs from the page before */
    TWIST_NEXT_ELSEWHERE,  /* a next link that points to another host */
    TWIST_RECORD_NO_ID,    /* one record of the page has no id */
    TWIST_RECORD_NO_DATE,  /* ... no date */
    TWIST_RECORD_BAD_DATE, /* ... a date nobody can read */
    TWIST_EMPTY_PAGE,      /* a well-formed page without its records */
    TWIST_BODY_ERROR,      /* the protocol's own error inside HTTP 200 */
    TWIST_MISSING_DETAILS, /* some of the asked ids are not in the answer */
};

enum { EXCHANGE_PARAMS_MAX = 64, EXCHANGE_HEADERS_MAX = 64 };

struct exchange_pair {
    struct str name;
    struct str value;
};

struct exchange {
    struct arena *arena; /* lives as long as the exchange; for both sides' memory */

    /* The request. */
    struct str method;
    struct str scheme; /* "http" or "https" */
    struct str host;   /* of the Host header, with its port */
    struct str path;   /* percent-decoded */
    struct str raw_path;
    struct str query; /* raw */
    struct exchange_pair
        params[EXCHANGE_PARAMS_MAX]; /* of the query, then of a form body; decoded */
    size_t param_count;
    struct exchange_pair headers[EXCHANGE_HEADERS_MAX]; /* as sent */
    size_t header_count;
    struct str body;
    int64_t now_us; /* virtual: the simulator's clock, or what the client said its own shows */
    enum exchange_twist twist;
    uint64_t roll; /* of the twist, from the fault seed: which record to spoil, by how much */
    struct str other_base; /* "http://127.0.0.1:4711": the other host, for links that lead astray */

    /* The answer. */
    int status;
    struct str content_type;
    struct exchange_pair out[EXCHANGE_HEADERS_MAX];
    size_t out_count;
    struct buf reply;
    /* A body that outlives the exchange, sent in place of `reply` where its data is not NULL: what
     * is already in memory need not be copied. */
    struct str fixed;
    /* For the audit's "same page fetched twice". A protocol that knows which page this is says so
     * here (any bytes); otherwise the request itself (method, path, sorted query, body) is taken.
     * PAGE_NONE excludes the answer: it is not a page (Identify, a token's sibling), or asking
     * again gives another one (Crossref's scroll). */
    enum exchange_page { PAGE_BY_REQUEST, PAGE_BY_KEY, PAGE_NONE } page;
    struct str page_key;
    bool confirmable; /* an empty or last page, which a careful client asks for once more */
};

/* Adds the pairs of `raw` ("a=1&b=%20+") to the parameters, decoded; false when they are too many
 * or an escape is broken. */
bool exchange_add_params(struct exchange *exchange, struct str raw, struct error *err) MUST_CHECK;

int exchange_hex_digit(char c); /* 0..15, or -1 */

/* "%41+b" -> "A+b", or "A b" where plus_is_space. False when an escape is broken. */
bool exchange_unescape(struct arena *arena, struct str raw, bool plus_is_space, struct str *text,
                       struct error *err) MUST_CHECK;

/* The first parameter of that name, or the empty view. */
struct str exchange_param(const struct exchange *exchange, struct str name);
bool exchange_has_param(const struct exchange *exchange, struct str name);
struct str exchange_header(const struct exchange *exchange, struct str name); /* case-insensitive */

/* Adds a header to the answer. The views must live as long as the exchange. A protocol sends fewer
 * than EXCHANGE_HEADERS_MAX. */
void exchange_out(struct exchange *exchange, struct str name, struct str value);
struct str exchange_out_header(const struct exchange *exchange, struct str name);

/* What will be sent as the body: fixed or reply. */
struct str exchange_body(const struct exchange *exchange);

/* The status and a whole body of that type; what was in the reply before is gone. */
void exchange_answer(struct exchange *exchange, int status, struct str content_type,
                     struct str body);

#endif
