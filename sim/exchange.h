/* exchange: one request to the simulator and its answer, as the protocols see it.
 *
 * The server (server.c) fills the request side, asks the fault plan for a twist, and calls the
 * protocol that owns the path; the protocol fills the answer side. What happens to the bytes on the
 * wire afterwards (gzip, truncation, resets, drips) is the server's alone; what must be wrong
 * inside the answer itself is the protocol's, and named by the twist.
 */
#ifndef PATRA_SIM_EXCHANGE_H
#define PATRA_SIM_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
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
    struct str query;  /* raw */
    struct exchange_pair
        params[EXCHANGE_PARAMS_MAX]; /* of the query, then of a form body; decoded */
    size_t param_count;
    struct exchange_pair headers[EXCHANGE_HEADERS_MAX]; /* as sent */
    size_t header_count;
    struct str body;
    int64_t now_us; /* virtual */
    enum exchange_twist twist;

    /* The answer. */
    int status;
    struct str content_type;
    struct exchange_pair out[EXCHANGE_HEADERS_MAX];
    size_t out_count;
    struct buf reply;
};

/* The first parameter of that name, or the empty view. */
struct str exchange_param(const struct exchange *exchange, struct str name);
bool exchange_has_param(const struct exchange *exchange, struct str name);
struct str exchange_header(const struct exchange *exchange, struct str name); /* case-insensitive */
void exchange_out(struct exchange *exchange, struct str name, struct str value);

#endif
