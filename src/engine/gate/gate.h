/* gate: the rate gate, shared by all processes through the store. It implements port/gate.h over
 * the arithmetic of core/bucket.h and core/budget.h.
 *
 *      gate_pool_open(&pool, &err);                      once per process
 *      store_another(store, &session, &err);             once per worker, only for its gate
 *      gate_open(&gate, &(struct gate_parts){ .pool = pool, .store = session, ... }, &err);
 *      loop:
 *          gate_begin(gate, &(struct gate_task){ .source = ..., .operation = ... });
 *          fetch_open(... .gate = gate_port(gate) ...); ... fetch_close();
 *      gate_close(gate); store_close(session); ... gate_pool_close(pool);
 *
 * Promise. For any number of threads, processes and hosts that share a rate key, the instants at
 * which acquire() returns ALLOW keep to  count <= rate * t + burst  in every span of time t, none
 * of them is in a cool-down that this process knows of, no quota is exceeded, and no more requests
 * are under way than `concurrency` says. When there is always a request waiting, at least 97 % of
 * the rate is used.
 *
 * How. A transaction takes a permit out of the shared bucket for the instant at which it is due,
 * up to wait_max ahead; the worker sleeps until then. So workers wait in the order of their
 * transactions, and none needs a second one.
 *
 *      store   ---|----|----|----|----|----|--->   due: by the bucket, one after the other
 *      A takes    x         x         x            uses each within [due, due + late)
 *      B takes         x         x                 a worker later than that loses it
 *
 * A permit that is used late moves a request towards the next one. So the bucket holds a little
 * less than `burst` (or, where burst is one request, fills at 98 % of the rate), and a permit is
 * good for as long as that compensates, less a margin for the network: see limit.h. A process that
 * sends often enough takes further permits of the next 100 ms along, at most `quantum` in all, for
 * any of its threads.
 *
 * A slot is taken with the permit and returned after the request. A worker whose requests follow
 * each other keeps it between them, a fifth of a second at most and only while others are free.
 *
 * Silence. What a source demands (429, 5xx, Retry-After, what remains, its limit) is written at
 * once; successes at most once a second. A process reads the row again when it last read it more
 * than GATE_LOOK_AGE_US before a permit is due. So all processes are silent at the latest
 * GATE_LOOK_AGE_US after a Retry-After was written; the threads of the process that received it,
 * at once. What cannot be written, because the store is locked or away, is kept by the process and
 * written by the first of its threads that reaches the store again, whatever that works on; until
 * then other processes cannot know of it. Those get no permits out of a locked store either, and
 * are slow without one (degraded). Cool-downs, the learned rate and parking are in the row and
 * survive a restart.
 *
 * Quota. A request is counted when its permit is taken, in the class of the task's operation, and
 * moves there from booked to used; lost permits are counted back. When the hour or the day has
 * nothing left for the class, or the source says so itself (is_quota: the key is parked), the
 * decision is REJECT, with the instant at which to try again.
 *
 * Degraded: the store is out of reach (L1). A failing call is repeated every 100 ms, and nothing
 * is sent meanwhile. After GATE_DEGRADED_AFTER_US the process continues by itself with a
 * GATE_DEGRADED_PARTS'th of the rate last seen, from an empty bucket of one request, and of the
 * quota last seen. It tries the store every second, and then writes what it has used and learned.
 * With more processes than GATE_DEGRADED_PARTS, or where others still reach the store, the sum of
 * all may exceed the rate by these parts for that time.
 *
 * A redirect that was followed, and a request repeated with a fresh token, had no permit of their
 * own: they are taken from the bucket before the next permit is given.
 *
 * A wait longer than the task's wait_max_us is not waited for: REJECT, with retry_at_us.
 *
 * Errors of acquire: "fetch.cancelled" (L1: wake_fd), those of rate_key(), and of the store where
 * they are not L1.
 *
 * Threads. A gate belongs to one worker; a pool belongs to all threads of the process.
 */
#ifndef PATRA_ENGINE_GATE_GATE_H
#define PATRA_ENGINE_GATE_GATE_H

#include "base/instant.h"
#include "core/codes.h"
#include "port/clock.h"
#include "port/gate.h"
#include "port/random.h"
#include "port/secret.h"
#include "port/store.h"

/* How old the last read of the row may be when a permit is used. */
#define GATE_LOOK_AGE_US (50 * US_PER_MS)

/* After the store was out of reach for so long, each process uses this part of the rate. */
#define GATE_DEGRADED_AFTER_US (2 * US_PER_SECOND)
enum { GATE_DEGRADED_PARTS = 8 };

/* ---- the process ---- */

struct gate_pool;

bool gate_pool_open(struct gate_pool **pool, struct error *err) MUST_CHECK;

/* After its gates. Accepts NULL. */
void gate_pool_close(struct gate_pool *pool);

/* ---- the worker ---- */

struct gate_parts { /* all must outlive the gate */
    struct gate_pool *pool;
    struct store *store; /* a session that only the gate uses; the caller closes it */
    struct clock *clock;
    struct random_source *random;
    struct secret_source *secrets; /* only to know whether an optional credential is set */
    struct str owner;              /* for people who look at the slots: host and worker */
    int wake_fd;                   /* CLOCK_NO_WAKE: none */
};

struct gate_task {
    struct str source; /* must live until the next gate_begin */
    enum operation operation;
    int64_t wait_max_us; /* 0: a minute; at most GATE_WAIT_MAX_US */
};

#define GATE_WAIT_MAX_US (2 * US_PER_MINUTE)

struct gate;

bool gate_open(struct gate **gate, const struct gate_parts *parts, struct error *err) MUST_CHECK;

/* Says whose requests come next. Needed before the first; every permit of the last task must have
 * had its feedback, and the last task its gate_end(). */
void gate_begin(struct gate *gate, const struct gate_task *task);

/* The task makes no more requests: returns the slot that was kept for the next one. */
void gate_end(struct gate *gate);

struct permit_gate *gate_port(struct gate *gate);

/* Looks at the rows of keys for which a source demanded silence. True when a person has lifted one
 * (gate_lift): its threads are not silent any more, and tasks that were put off may be taken. */
bool gate_hear_lifted(struct gate *gate);

/* Writes what a source demanded while the store was out of reach, for every key of the process:
 * whoever received it has been silent since then, and may have no request that would write it.
 * Each acquire does this first; a worker without a task calls it. */
void gate_tell(struct gate *gate);

/* Writes pending feedback and returns the slots. Accepts NULL. */
void gate_close(struct gate *gate);

/* ---- for people ---- */

struct gate_view {
    bool is_known;             /* false: no request was made yet, all else is 0 */
    int64_t rate;              /* now, in millionths of a permit per second: the learned ceiling */
    int64_t tokens;            /* permits at hand, in millionths */
    int64_t provider_rate;     /* what the source reports; 0: nothing */
    int64_t cooldown_until_us; /* not later than now: none */
    int64_t parked_until_us;   /* INT64_MIN: not parked */
    bool has_credential;       /* the last requests were sent with a credential */
    int64_t refused_us;        /* when its credential was refused; 0: it was not */
    int64_t refused_status;
    struct gate_view_quota {
        int64_t limit; /* 0: none */
        int64_t used;
        int64_t booked;
        int64_t until_us; /* the window's end */
    } hour, day;
};

/* The state of the key, by one read. `key` is of rate_key(); `rate` has the limits. */
struct gate_view_request {
    struct str key;
    const struct spec_rate *rate;
    int64_t now_us;
};
bool gate_view(struct store *store, const struct gate_view_request *request, struct gate_view *view,
               struct error *err) MUST_CHECK;

/* A person says that requests may be sent: a credential that was refused is used again, and the
 * silence that a header demanded is over. *changed is false when there was neither. Processes that
 * run hear of it by gate_hear_lifted(). */
bool gate_lift(struct store *store, struct str key, int64_t now_us, bool *changed,
               struct error *err) MUST_CHECK;

#endif
