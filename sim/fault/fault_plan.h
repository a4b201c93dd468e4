/* fault: what goes wrong, and when, on a plan that can be repeated.
 *
 * A plan is a list of rules, one per line, in the words of line.h:
 *
 *      path=/crossref rate=0.05 kind=status code=429 retry_after=30
 *      nth=3,7 kind=reset at=mid
 *      path=/oai every=10 times=2 kind=expired_token
 *
 * The left half says when. A rule counts the requests that its path, method and query match; n is
 * that count, from 1. All conditions given must hold; a rule without any fires on every match.
 *
 *      path=/works     the path begins so            method=POST
 *      query=cursor    the raw query contains this   host=other      only on the other host (or
 * main) nth=3,7  every=10  from=100 to=200 (half-open)  rate=0.05     of n after=T until=T virtual
 * time, half-open times=N         at most N hits                burst=N         a hit is followed
 * by N-1 more by=request      n counts the repetitions of one and the same request, so that "nth=1
 * by=request" spoils the first attempt at every page
 *
 * The decision is a pure function of seed, rule and n (by=request: of the request as well), but for
 * `times`, which remembers. The first rule that fires wins; all rules count all the same.
 *
 * The right half, kind=... and its parameters, is told in docs/simulator.md.
 */
#ifndef PATRA_SIM_FAULT_FAULT_PLAN_H
#define PATRA_SIM_FAULT_FAULT_PLAN_H

#include <pthread.h>

#include "sim/http/call.h"
#include "sim/util/tally.h"

enum fault_kind {
    FAULT_NONE,
    /* Answers in the protocol's stead, which is not asked. */
    FAULT_STATUS,
    FAULT_REDIRECT,
    /* The protocol's answer, changed. A scroll has moved on by then. */
    FAULT_HTML,
    FAULT_EMPTY,
    FAULT_GARBAGE,
    FAULT_CHARSET,
    FAULT_CONTENT,
    /* The answer as it should be, badly carried. */
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
    int64_t retry_us;    /* from the request's time; negative lies in the past */
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
    struct str location; /* redirect; empty is the same path on the other host */
};

struct fault_plan;

bool fault_plan_open(uint64_t seed, struct fault_plan **plan, struct error *err) MUST_CHECK;
void fault_plan_close(struct fault_plan *plan);

/* Adds the rules of `text`, one per line; empty lines and those that begin with '#' are skipped.
 * All or none: the error names the line. Any thread. */
bool fault_plan_add(struct fault_plan *plan, struct str text, struct error *err) MUST_CHECK;
void fault_plan_clear(struct fault_plan *plan);

/* What happens to this request. Counts it in every rule that matches. Any thread. */
struct fault fault_plan_decide(struct fault_plan *plan, const struct http_call *call,
                               bool other_host, uint64_t identity);

/* The fault of a rule that stands alone, as a request's X-Sim-Fault header gives it: its conditions
 * are read and not applied. The line must outlive the fault. */
bool fault_from_line(const struct fault_plan *plan, struct str line, struct fault *fault,
                     struct error *err) MUST_CHECK;
enum { FAULT_RULE_HEADER = -1 }; /* the number of such a rule */

/* The rules with their counts, as JSON. */
void fault_plan_write_json(struct fault_plan *plan, struct buf *json);

const char *fault_name(const struct fault *fault); /* "status", ..., "" for none */

#endif
