/* pool: what the threads of one process share, key by key. Only engine/gate includes it.
 *
 * All times are the process's monotonic ones, not the store's. A key is made when it is first used
 * and lives as long as the pool. Everything in it but its name is read and written under its lock,
 * which is never held during a call to the store.
 *
 * At the end: how permits are taken out of a bucket, be it the shared one or the process's own.
 */
#ifndef PATRA_ENGINE_GATE_POOL_H
#define PATRA_ENGINE_GATE_POOL_H

#include <pthread.h>

#include "core/bucket.h"
#include "core/budget.h"
#include "engine/gate/gate.h"
#include "engine/gate/limit.h"

/* Of a block; what `quantum` may be at most. */
enum { GATE_PERMITS_MAX = 1000 };
/* Slots on their way from one thread of the process to another. */
enum { GATE_SLOTS_MAX = 64 };

struct gate_permit {
    int64_t due_us;   /* good from here on, for limit.late_us */
    int64_t slack_us; /* and for this, which was paid for (draw_request) */
    enum quota_class rank;
    bool is_degraded; /* not out of the shared bucket */
};

/* Feedback that is not written yet. */
struct gate_feedback {
    bool is_any;
    bool has_ok;
    struct bucket_signal ok; /* the last of them */
    bool has_bad;
    struct bucket_signal bad;
    int64_t park_until_us; /* 0: no */
    int refused_status;    /* the credential was refused; 0: no */
    int64_t debit;         /* millionths of a permit, used while degraded or beyond a permit */
    int64_t used[QUOTA_CLASSES]; /* requests to be counted; negative: permits that were lost */
};

struct gate_slot {
    int64_t id; /* 0: none */
    int64_t taken_us;
    int64_t until_us;
    int64_t uses;  /* in a row, by this process */
    bool is_spare; /* when it was taken, others were free: nobody waits for it */
};

struct gate_key {
    struct gate_key *next;
    struct str name;
    pthread_mutex_t lock;

    /* as last seen in the row */
    bool is_seen;
    int64_t seen_at_us;
    int64_t offset_us; /* the store's clock less ours */
    int64_t rate;
    int64_t silent_until_us;   /* cool-down, parked or both */
    int64_t received_until_us; /* the same, as this process received it from the source itself */
    int64_t parked_until_us;   /* of both: the part that is due to a quota */
    int64_t line_until_us;     /* nothing is free before */
    int64_t lead_us;           /* how long it takes until a permit is in hand */
    int64_t quota_left;        /* INT64_MAX: there is none */
    bool is_refused;           /* the credential was refused: another one is used */

    /* taken along for any thread, by due_us */
    struct gate_permit permits[GATE_PERMITS_MAX];
    size_t permit_count;
    bool is_taking; /* one thread at a time takes a block */
    int64_t beat_us;
    int64_t uses, uses_before; /* in this beat and in the one before */

    struct gate_slot slots[GATE_SLOTS_MAX]; /* free, for those who wait for one */
    size_t slot_count;
    int64_t slot_waiters;
    int64_t flights; /* requests under way */

    struct gate_feedback feedback;
    int64_t reported_at_us;
    int64_t turns;           /* transactions begun so far: each takes the feedback along, */
    int64_t turns_open;      /* and while one is open, that is neither here nor in the row */
    struct gate_limit limit; /* of the last feedback: for the thread that writes it */
    struct spec_rate settings;

    bool is_failing; /* the last call of the store failed */
    int64_t failing_since_us;
    bool is_degraded; /* for too long */
    int64_t probe_at_us;
    struct bucket degraded;
    struct bucket_config degraded_config;
    int64_t degraded_left;
};

/* The key of this name, made if it does not exist; NULL: no memory. */
struct gate_key *gate_pool_key(struct gate_pool *pool, struct str name);

/* The key that was made last; `next` of each leads to the others, which stay until the end. */
struct gate_key *gate_pool_first(struct gate_pool *pool);

void gate_key_lock(struct gate_key *key);
void gate_key_unlock(struct gate_key *key);

/* ---- under the lock ---- */

/* Nothing may be sent before this. */
int64_t gate_key_silence(const struct gate_key *key);
enum wait_reason gate_key_silence_reason(const struct gate_key *key);

/* The first permit taken along that is still good; those that are not are counted back. */
bool gate_key_pop(struct gate_key *key, const struct gate_limit *limit, enum quota_class rank,
                  int64_t now_us, struct gate_permit *permit);

void gate_key_push(struct gate_key *key, const struct gate_permit *permit);

/* Whether it comes too late for a permit. */
bool gate_permit_is_over(const struct gate_permit *permit, const struct gate_limit *limit,
                         int64_t now_us);

/* A permit that was not used. */
void gate_key_lose(struct gate_key *key, const struct gate_permit *permit);

/* How many permits to take at once: what the process will use by itself in the next beat. */
int64_t gate_key_block(struct gate_key *key, const struct gate_limit *limit, int64_t now_us);

void gate_key_count_use(struct gate_key *key, int64_t now_us);

/* Whether the process sends requests one soon after the other. */
bool gate_key_is_busy(struct gate_key *key, int64_t now_us);

/* What the source demands is pending: other processes do not know of it. */
bool gate_key_is_untold(const struct gate_key *key);

/* Adds feedback to what is pending; also to return feedback that could not be written. */
void gate_key_add(struct gate_key *key, const struct gate_feedback *feedback);

/* ---- out of a bucket, ahead of time ----
 *
 * A bucket gives permits for now. A permit that is taken now and used at the instant at which the
 * bucket would have given it is as good: the bucket is called with that instant, and is ahead of
 * the clock from then on. The next caller is served at the bucket's own time, so that nobody
 * overtakes, and all instants keep the bucket's promise.
 */

struct draw_request {
    int64_t cost;
    int64_t from_us;  /* nothing is due before */
    int64_t first_us; /* the first permit may be due until here, */
    int64_t rest_us;  /* the others until there */
    int64_t slack_us; /* nothing flows in for so long after a permit, so it may be used so late */
    size_t count;
};

/* Returns how many permits were taken, and when each is due. With none, *at_us is when the first
 * would have been due, and the bucket is unchanged. */
size_t draw(struct bucket *bucket, const struct bucket_config *config,
            const struct draw_request *request, int64_t *dues_us, int64_t *at_us);

/* After the clock was set back, a bucket may be further ahead than any wait can be; it then starts
 * again, empty, now. */
void draw_heal(struct bucket *bucket, int64_t now_us, int64_t ahead_max_us);

#endif
