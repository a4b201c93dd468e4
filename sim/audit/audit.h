/* audit: every request seen, and every rule of politeness broken.
 *
 *      rate              more requests in some interval than rate * its length + burst (pace.h)
 *      concurrency       more requests at once than the limit
 *      retry_after       a request before the end of a Retry-After that was given
 *      credential_host   a credential sent to the other host
 *      credential_plain  a credential sent over plain HTTP where its rule says tls_only
 *      agent             no User-Agent
 *      contact           nobody to write to: no address or URL in the User-Agent, no From header,
 * no mailto or email parameter repeat            the same page fetched twice without cause
 *
 * Time. A request that carries X-Sim-Now is on the client's virtual time, all others on the
 * machine's; rate and retry_after are judged on each of the two apart. With `virtual_time` those
 * without the header are judged by the simulator's clock instead of the machine's.
 *
 * Scope. Retry-After and the causes of repetition hold for a scope: the longest limit path that the
 * request's path begins with, else its first segment ("/crossref").
 *
 * Retry-After counts on answers of status 300 and above. A request is inside when it comes later
 * than `grace` after the answer was sent (it may have been on its way already) and before the time
 * told.
 *
 * Repeat. A page is what the protocol says (exchange.h), else the request itself. It counts as
 * fetched when it was answered 200, whole, with no fault. Fetching it again is without cause unless
 *   - something went wrong in its scope since: a fault, a status that is not 2xx, a broken
 * connection;
 *   - `repeat_window` has passed in virtual time: a poll;
 *   - the protocol called it confirmable (empty, or the last one) and it was not yet repeated more
 *     than `repeats` times;
 *   - the tester said there is a cause (it killed the client): POST /_sim/audit?cause=1.
 *
 * Memory is bounded; what no longer fits is counted in `dropped`. Any thread may call anything, but
 * audit_add_limit(), which comes before serving.
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

struct audit_ticket { /* what a request keeps between its coming and its going */
    uint64_t ordinal; /* 0: not audited */
    uint64_t generation;
    struct audit_entry *entry;
    bool driven; /* on the client's virtual time */
    bool other_host;
    int64_t at_us;
    bool refused;     /* an enforced limit is exceeded: answer 429 */
    int64_t retry_us; /* ... with this Retry-After, unless 0 */
};

struct audit_facts { /* what the audit can not see in the exchange */
    bool other_host;
    bool carries_secret;
    bool secret_needs_tls;
    struct str client;
    int64_t clock_us; /* the simulator's clock */
};

bool audit_open(const struct audit_options *options, struct audit **audit,
                struct error *err) MUST_CHECK;
void audit_close(struct audit *audit);

/* "path=/crossref rate=10 window=1s burst=20 concurrency=3 slack=50ms"; rate counts per window (1 s
 * unless told), burst is 1 unless told; slack is added to every interval, for what the network does
 * to a client's spacing. With `enforce` what exceeds the limit is refused and does not count
 * against the rate; enforce=5 tells the client to wait for 5 s. The line must outlive the audit. */
bool audit_add_limit(struct audit *audit, struct str line, struct error *err) MUST_CHECK;

void audit_begin(struct audit *audit, const struct http_call *call, const struct audit_facts *facts,
                 struct audit_ticket *ticket);

/* `identity` is the request's (request.h). */
void audit_end(struct audit *audit, const struct audit_ticket *ticket, const struct http_call *call,
               const struct fault *fault, uint64_t identity, bool complete);

/* The client did not take the reply after all: whatever it does next has a cause. */
void audit_broken(struct audit *audit, const struct audit_ticket *ticket,
                  const struct http_call *call);

void audit_allow_repeats(struct audit *audit); /* all that was fetched may be fetched again */
void audit_reset(struct audit *audit); /* as if nothing had been seen; limits and flights stay */
void audit_write_json(struct audit *audit, bool with_requests, struct buf *json);

/* "rate", ...; -1 for what is none. */
int audit_rule_named(struct str name);

#endif
