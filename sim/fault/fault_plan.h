/* fault_plan: which faults happen, and when. A plan can be repeated exactly.
 *
 * A plan is a list of rules, one per line (util/key_values.h):
 *
 *      path=/crossref rate=0.05 kind=status code=429 retry_after=30
 *      nth=3,7 kind=reset at=mid
 *      path=/oai every=10 times=2 kind=expired_token
 *
 * A rule counts the requests that match its path, method, query, ids and host; n is that count,
 * from 1. All conditions must hold; a rule without any is due on every match.
 *
 *      path=/works          the path begins with this
 *      method=POST
 *      query=cursor         the raw query contains this
 *      ids=31000001,x       the request names one of these ids: a parameter of its query or form,
 *                           an element of one (separated by commas), or a segment of its path
 *      host=other           only on the other host (or: main)
 *      nth=3,7              for these n
 *      every=10             for every 10th n
 *      from=100 to=200      for n in this range, half-open
 *      rate=0.05            for this part of all n, at random
 *      after=T until=T      in this virtual time, half-open
 *      times=N              at most N times
 *      burst=N              also for the next N-1 matches
 *      by=request           n counts the repetitions of one and the same request: nth=1 then makes
 *                           the first attempt at every page fail
 *
 * The decision is a pure function of seed, rule and n (with by=request: of the request as well),
 * except for `times`, which has a memory. The first rule that is due wins; all rules keep counting.
 *
 * kind=... and its parameters are described in docs/simulator.md.
 */
#ifndef PATRA_SIM_FAULT_FAULT_PLAN_H
#define PATRA_SIM_FAULT_FAULT_PLAN_H

#include <pthread.h>

#include "sim/http/call.h"
#include "sim/util/tally.h"

enum fault_kind {
    FAULT_NONE,
    /* Responses instead of the protocol's, which is not called. */
    FAULT_STATUS,
    FAULT_REDIRECT,
    /* The protocol's response, changed. A scroll has advanced by then. */
    FAULT_HTML,
    FAULT_EMPTY,
    FAULT_GARBAGE,
    FAULT_CHARSET,
    FAULT_RESHAPE,
    FAULT_CONTENT,
    /* The right response, sent badly. */
    FAULT_RESET,
    FAULT_CLOSE,
    FAULT_DRIP,
    FAULT_STALL,
    FAULT_TRUNCATE,
    FAULT_LENGTH,
    FAULT_OVERSIZE,
    FAULT_BOMB,
};

enum fault_at { FAULT_AT_BEFORE, FAULT_AT_REPLY, FAULT_AT_MID };
enum fault_retry { RETRY_NONE, RETRY_SECONDS, RETRY_DATE };
enum fault_body { FAULT_BODY_JSON, FAULT_BODY_HTML, FAULT_BODY_TEXT, FAULT_BODY_EMPTY };
enum fault_length { LENGTH_RIGHT, LENGTH_SHORT, LENGTH_NONE, LENGTH_CHUNKED };
enum fault_charset { CHARSET_LATIN1, CHARSET_UTF16 };

/* What a rule does. */
struct fault {
    int64_t rule;      /* its number in the plan, from 1; 0 when there is no fault */
    int kind;          /* enum fault_kind */
    int name;          /* index of fault_name() */
    int content_fault; /* enum content_fault */
    uint64_t random;
    int64_t code;        /* status, redirect */
    int retry;           /* enum fault_retry */
    int64_t retry_us;    /* from the request's time; negative: in the past */
    int body;            /* enum fault_body */
    int at;              /* enum fault_at */
    int length;          /* enum fault_length */
    int charset;         /* enum fault_charset */
    int64_t keep;        /* percent of the body that is sent */
    int64_t delta;       /* added to Content-Length */
    int64_t ms;          /* stall */
    int64_t bps;         /* drip: bytes per second */
    int64_t bytes;       /* garbage */
    int64_t mb;          /* oversize, bomb */
    bool keep_type;      /* HTML or garbage under the protocol's content type */
    struct str message;  /* status: in the body, instead of the status's name; written as it is */
    int as;              /* reshape: enum reshape_as */
    struct str member;   /* reshape; empty: the whole body */
    struct str location; /* redirect; empty: the same path on the other host */
};

struct fault_plan;

bool fault_plan_open(uint64_t seed, struct fault_plan **plan, struct error *err) MUST_CHECK;
void fault_plan_close(struct fault_plan *plan);

/* Adds the rules of `text`, one per line; empty lines and those that begin with '#' are skipped.
 * Adds all or none; the error names the line. Any thread. */
bool fault_plan_add(struct fault_plan *plan, struct str text, struct error *err) MUST_CHECK;
void fault_plan_clear(struct fault_plan *plan);

/* The fault of this request, if any. Every matching rule counts the request. Any thread. */
struct fault fault_plan_decide(struct fault_plan *plan, const struct http_call *call,
                               bool other_host, uint64_t identity);

/* The fault of a single rule, as in a request's X-Sim-Fault header: its conditions are parsed but
 * not applied. The line must outlive the fault. */
bool fault_from_line(const struct fault_plan *plan, struct str line, struct fault *fault,
                     struct error *err) MUST_CHECK;
enum { FAULT_RULE_HEADER = -1 }; /* the number of such a rule */

/* The rules with their counts, as JSON. */
void fault_plan_write_json(struct fault_plan *plan, struct buf *json);

const char *fault_name(const struct fault *fault); /* "status", ..., "" for none */

#endif
