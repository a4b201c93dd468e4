/* gate: the rate gate, shared by all processes through the store. It implements port/gate.h
 * over the arithmetic of core/bucket.h and core/budget.h.
 *
 *      gate_pool_open(&pool, &err);                      once per process
 *      store_another(store, &session, &err);             once per worker, for its gate alone
 *      gate_open(&gate, &(struct gate_parts){ .pool = pool, .store = session, ... }, &err);
 *      loop:
 *          gate_begin(gate, &(struct gate_task){ .source = ..., .operation = ... });
 *          fetch_open(... .gate = gate_port(gate) ...); ... fetch_close();
 *      gate_close(gate); store_close(session); ... gate_pool_close(pool);
 *
 * Promise. Whatever number of threads, processes and hosts share a rate key, the instants at which
 * acquire() answers ALLOW keep to  count <= rate * t + burst  in every stretch of time t, none of
 * them lies in a cool-down that this process knows of, no quota is exceeded, and no more requests
 * are under way than `concurrency` says. And when there is always somebody who waits, at least 97 %
 * of the rate is used.
 *
 * How. A transaction takes a permit out of the shared bucket for the instant at which it falls due,
 * up to wait_max ahead; the worker sleeps until then. So the line of those who wait is the order of
 * their transactions, and nobody asks twice.
 *
 *      store   ---|----|----|----|----|----|--->   due: by the bucket, one behind the other
 *      A takes    x         x         x            uses each within [due, due + late)
 *      B takes         x         x                 who is later than that loses it
 *
 * A permit that is used late moves a request towards the next one; so the bucket is filled with a
 * little less than `burst` (or, where burst is one request, at 98 % of the rate), and a permit is
 * good for as long as that makes up for, less something for the network: see limit.h. A process
 * which sends so often that it would use them takes further permits of the next 100 ms along, at
 * most `quantum` in all, for any of its threads.
 *
 * Silence. What a source says (429, 5xx, Retry-After, what remains, its limit) is written at once;
 * that all is well, at most once a second. A process looks at the row again when it last saw it
 * more than GATE_LOOK_AGE_US before a permit falls due. So after a Retry-After all processes are
 * silent at the latest GATE_LOOK_AGE_US after it was written; the threads of the process that heard
 * it, at once. Cool-downs, the learned rate and parking survive a restart with the row.
 *
 * Quota. A request is counted when its permit is taken, in the class of the task's operation, and
 * moves there from booked to used; permits which were lost are counted back. When the hour or the
 * day has nothing left for the class, or the source says so itself (is_quota: the key is parked),
 * the answer is REJECT, with the instant at which to come back.
 *
 * The store out of reach (L1). A failing call is tried again every 100 ms, and nothing is sent
 * meanwhile. After GATE_DEGRADED_AFTER_US the process goes on by itself with a
 * GATE_DEGRADED_PARTS'th of the rate last seen, from an empty bucket of one request, and of the
 * quota last seen; it tries the store every second, and hands in then what it has used and heard.
 * With more processes than GATE_DEGRADED_PARTS, or where others still reach the store, the sum of
 * all may exceed the rate by these parts for that time.
 *
 * A redirect that was followed, and a request repeated with a fresh token, had no permit of their
 * own: they are owed, and paid before the next permit is given.
 *
 * Waits longer than the task's wait_max_us are not waited for: REJECT, with retry_at_us.
 *
 * Errors of acquire: "fetch.cancelled" (L1: wake_fd), those of rate_key(), and of the store where
 * they are not L1.
 *
 * Threads. A gate is its worker's alone; a pool belongs to all threads of the process.
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

/* How old what we know of the row may be when a permit is used. */
#define GATE_LOOK_AGE_US (50 * US_PER_MS)

/* When the store is out of reach for so long, each process has this part of the rate. */
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
    struct store *store; /* a session that the gate alone uses; the caller closes it */
    struct clock *clock;
    struct random_source *random;
    struct secret_source *secrets; /* asked whether an optional credential is there, no more */
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

/* Whose requests come next. Needed before the first; every permit of the task before must have had
 * its feedback. */
void gate_begin(struct gate *gate, const struct gate_task *task);

struct permit_gate *gate_port(struct gate *gate);

/* Writes what is not written yet, and returns its slots. Accepts NULL. */
void gate_close(struct gate *gate);

/* ---- for people ---- */

struct gate_view {
    bool is_known;             /* false: nobody has asked yet, all else is 0 */
    int64_t rate;              /* now, in millionths of a permit per second: the learned ceiling */
    int64_t tokens;            /* permits at hand, in millionths */
    int64_t provider_rate;     /* what the source told itself; 0: nothing */
    int64_t cooldown_until_us; /* not later than now: none */
    int64_t parked_until_us;   /* INT64_MIN: not parked */
    struct gate_view_quota {
        int64_t limit; /* 0: none */
        int64_t used;
        int64_t booked;
        int64_t until_us; /* the window's end */
    } hour, day;
};

/* How the key stands, by one read. `key` is of rate_key(); `rate` tells the limits. */
struct gate_view_ask {
    struct str key;
    const struct spec_rate *rate;
    int64_t now_us;
};
bool gate_view(struct store *store, const struct gate_view_ask *ask, struct gate_view *view,
               struct error *err) MUST_CHECK;

#endif
