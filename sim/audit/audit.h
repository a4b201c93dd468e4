/* audit: records every request, and every violation of the rules of politeness.
 *
 *      rate              more requests in some interval than rate * its length + burst
 *      concurrency       more requests at once than the limit
 *      retry_after       a request before the end of a Retry-After
 *      credential_host   a credential sent to the other host
 *      credential_plain  a credential sent over plain HTTP where its rule says tls_only
 *      agent             no User-Agent
 *      contact           no contact: no address or URL in the User-Agent, no From header, no mailto
 *                        or email parameter
 *      repeat            the same page fetched twice without cause
 *
 * Time. A request with X-Sim-Now is on the client's virtual time, all others are on the machine's.
 * rate and retry_after are judged separately on each. With `virtual_time`, requests without the
 * header are judged by the simulator's clock instead of the machine's.
 *
 * Scope. A Retry-After, and a cause for repeating a page, apply to a scope: the longest limit path
 * that the request's path begins with, else its first segment ("/crossref").
 *
 * Retry-After counts on responses of status 300 and above. A request violates it when it arrives
 * before the given time, but later than `grace` after the response was sent: an earlier one may
 * already have been on its way.
 *
 * Repeat. A page is what the protocol says it is (http/call.h), else the request itself. It counts
 * as fetched when the response had status 200, was complete, and had no fault. Fetching it again is
 * a violation unless
 *   - something has failed in its scope since: a fault, a status not 2xx, a lost connection;
 *   - `repeat_window` has passed in virtual time: the client polls;
 *   - the protocol set `confirmable` (an empty or last page) and it was repeated at most `repeats`
 *     times;
 *   - the tester declared a cause (it killed the client): POST /_sim/audit?cause=1.
 *
 * Memory is bounded; what does not fit is counted in `dropped`. All functions may be called from
 * any thread, except audit_add_limit(), which must be called before serving.
 */
#ifndef PATRA_SIM_AUDIT_AUDIT_H
#define PATRA_SIM_AUDIT_AUDIT_H

#include "sim/fault/fault_plan.h"
#include "sim/http/call.h"

enum audit_rule {
    RULE_RATE,
    RULE_CONCURRENCY,
    RULE_RETRY_AFTER,
    RULE_CREDENTIAL_HOST,
    RULE_CREDENTIAL_PLAIN,
    RULE_AGENT,
    RULE_CONTACT,
    RULE_REPEAT,
    RULE_COUNT,
};

struct audit_options {
    bool off[RULE_COUNT];
    bool virtual_time;
    int64_t grace_us;
    int64_t repeat_window_us;
    int64_t repeats;
    size_t bytes_max; /* of the list of requests */
};

struct audit;
struct audit_entry;

struct audit_ticket { /* what a request keeps between audit_begin() and audit_end() */
    uint64_t ordinal; /* 0: not audited */
    uint64_t generation;
    struct audit_entry *entry;
    bool on_client_time; /* on the client's virtual time */
    bool other_host;
    int64_t at_us;
    bool refused;     /* an enforced limit is exceeded: respond with 429 */
    int64_t retry_us; /* ... with this Retry-After, unless 0 */
};

struct audit_facts { /* what the audit cannot see in the call */
    bool other_host;
    bool carries_secret;
    bool secret_needs_tls;
    struct str client;
    int64_t clock_us; /* the simulator's clock */
};

bool audit_open(const struct audit_options *options, struct audit **audit,
                struct error *err) MUST_CHECK;
void audit_close(struct audit *audit);

/* "path=/crossref rate=10 window=1s burst=20 concurrency=3 slack=50ms"; rate counts per window
 * (default 1 s); burst is 1 by default; slack is added to every interval, because the network
 * changes the spacing of requests. With `enforce`, a request that exceeds the limit is refused and
 * does not count against the rate; enforce=5 also sends Retry-After: 5. The line must outlive the
 * audit. */
bool audit_add_limit(struct audit *audit, struct str line, struct error *err) MUST_CHECK;

void audit_begin(struct audit *audit, const struct http_call *call, const struct audit_facts *facts,
                 struct audit_ticket *ticket);

struct audit_outcome {
    const struct fault *fault;
    uint64_t identity; /* the request's (http/request.h) */
    bool complete;
};
void audit_end(struct audit *audit, const struct audit_ticket *ticket, const struct http_call *call,
               const struct audit_outcome *outcome);

/* The client did not receive the response: it may fetch the page again. */
void audit_broken(struct audit *audit, const struct audit_ticket *ticket,
                  const struct http_call *call);

void audit_allow_repeats(struct audit *audit); /* every page may be fetched again */
void audit_reset(
    struct audit *audit); /* forgets everything but the limits and the requests in progress */
void audit_write_json(struct audit *audit, bool with_requests, struct buf *json);

/* "rate", ...; -1 for an unknown name. */
int audit_rule_named(struct str name);

#endif
