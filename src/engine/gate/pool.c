/* Keys of the pool: permits and pending feedback; and how permits come out of a bucket. */
#include "engine/gate/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The time for which a process takes permits along. */
#define BEAT_US (100 * US_PER_MS)

struct gate_pool {
    pthread_mutex_t lock;
    struct gate_key *keys;
};

bool gate_pool_open(struct gate_pool **pool, struct error *err)
{
    struct gate_pool *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for the gate's pool");
    (void)pthread_mutex_init(&made->lock, NULL);
    *pool = made;
    return true;
}

void gate_pool_close(struct gate_pool *pool)
{
    struct gate_key *next;

    if (pool == NULL)
        return;
    for (struct gate_key *key = pool->keys; key != NULL; key = next) {
        next = key->next;
        (void)pthread_mutex_destroy(&key->lock);
        free(key);
    }
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static struct gate_key *key_make(struct str name)
{
    struct gate_key *key = calloc(1, sizeof(*key) + name.len + 1);

    if (key == NULL)
        return NULL;
    memcpy(key + 1, name.data, name.len);
    key->name = (struct str){ (const char *)(key + 1), name.len };
    key->quota_left = INT64_MAX;
    (void)pthread_mutex_init(&key->lock, NULL);
    return key;
}

struct gate_key *gate_pool_key(struct gate_pool *pool, struct str name)
{
    struct gate_key *key;

    (void)pthread_mutex_lock(&pool->lock);
    for (key = pool->keys; key != NULL && !str_eq(key->name, name);)
        key = key->next;
    if (key == NULL) {
        key = key_make(name);
        if (key != NULL) {
            key->next = pool->keys;
            pool->keys = key;
        }
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return key;
}

struct gate_key *gate_pool_first(struct gate_pool *pool)
{
    struct gate_key *key;

    (void)pthread_mutex_lock(&pool->lock);
    key = pool->keys;
    (void)pthread_mutex_unlock(&pool->lock);
    return key;
}

void gate_key_lock(struct gate_key *key)
{
    (void)pthread_mutex_lock(&key->lock);
}

void gate_key_unlock(struct gate_key *key)
{
    (void)pthread_mutex_unlock(&key->lock);
}

int64_t gate_key_silence(const struct gate_key *key)
{
    return key->received_until_us > key->silent_until_us ? key->received_until_us
                                                         : key->silent_until_us;
}

enum wait_reason gate_key_silence_reason(const struct gate_key *key)
{
    /* The two come from clocks that differ a little. */
    const int64_t parked_us = key->parked_until_us + US_PER_SECOND;

    return gate_key_silence(key) <= parked_us ? WAIT_QUOTA : WAIT_RETRY_AFTER;
}

/* ---- permits ---- */

static void drop_permit(struct gate_key *key, size_t at)
{
    key->permit_count--;
    memmove(key->permits + at, key->permits + at + 1,
            (key->permit_count - at) * sizeof(key->permits[0]));
}

bool gate_permit_is_over(const struct gate_permit *permit, const struct gate_limit *limit,
                         int64_t now_us)
{
    return now_us >= permit->due_us + limit->late_us + permit->slack_us;
}

void gate_key_lose(struct gate_key *key, const struct gate_permit *permit)
{
    key->uses_before = 0; /* it was taken for later and not used */
    if (permit->is_degraded)
        return;
    key->feedback.used[permit->rank]--;
    key->feedback.is_any = true;
}

bool gate_key_pop(struct gate_key *key, const struct gate_limit *limit, enum quota_class rank,
                  int64_t now_us, struct gate_permit *permit)
{
    const int64_t silence_us = gate_key_silence(key);

    for (size_t i = 0; i < key->permit_count;) {
        *permit = key->permits[i];
        if (gate_permit_is_over(permit, limit, now_us) || permit->due_us < silence_us) {
            gate_key_lose(key, permit);
            drop_permit(key, i);
        } else if (permit->rank == rank) {
            drop_permit(key, i);
            return true;
        } else {
            i++;
        }
    }
    return false;
}

void gate_key_push(struct gate_key *key, const struct gate_permit *permit)
{
    size_t at = key->permit_count;

    if (key->permit_count == GATE_PERMITS_MAX) {
        gate_key_lose(key, permit);
        return;
    }
    while (at > 0 && key->permits[at - 1].due_us > permit->due_us)
        at--;
    memmove(key->permits + at + 1, key->permits + at,
            (key->permit_count - at) * sizeof(key->permits[0]));
    key->permits[at] = *permit;
    key->permit_count++;
}

/* ---- how much is used ---- */

static void turn_beat(struct gate_key *key, int64_t now_us)
{
    if (now_us < key->beat_us + BEAT_US)
        return;
    key->uses_before = now_us < key->beat_us + 2 * BEAT_US ? key->uses : 0;
    key->uses = 0;
    key->beat_us = now_us;
}

void gate_key_count_use(struct gate_key *key, int64_t now_us)
{
    turn_beat(key, now_us);
    key->uses++;
}

bool gate_key_is_busy(struct gate_key *key, int64_t now_us)
{
    turn_beat(key, now_us);
    return key->uses_before > 1;
}

int64_t gate_key_block(struct gate_key *key, const struct gate_limit *limit, int64_t now_us)
{
    int64_t block;

    turn_beat(key, now_us);
    block = key->uses_before * 3 / 4; /* better too few than some that are lost */
    if (block > limit->quantum)
        block = limit->quantum;
    if (block > GATE_PERMITS_MAX)
        block = GATE_PERMITS_MAX;
    return block > 1 ? block : 1;
}

/* ---- feedback ---- */

/* Of two failures, the one that demands more. */
static void merge_bad(struct bucket_signal *into, const struct bucket_signal *signal)
{
    struct bucket_signal both = *signal;

    if (into->outcome == BUCKET_THROTTLED)
        both.outcome = BUCKET_THROTTLED;
    if (into->sent_at_us > both.sent_at_us)
        both.sent_at_us = into->sent_at_us;
    if (into->now_us + into->retry_after_us > both.now_us + both.retry_after_us)
        both.retry_after_us = into->now_us + into->retry_after_us - both.now_us;
    if (!both.has_remaining) {
        both.has_remaining = into->has_remaining;
        both.remaining = into->remaining;
        both.reset_at_us = into->reset_at_us;
    }
    if (both.provider_rate == 0)
        both.provider_rate = into->provider_rate;
    *into = both;
}

bool gate_key_is_untold(const struct gate_key *key)
{
    return key->feedback.has_bad || key->feedback.park_until_us != 0 ||
           key->feedback.refused_status != 0;
}

void gate_key_add(struct gate_key *key, const struct gate_feedback *feedback)
{
    struct gate_feedback *all = &key->feedback;

    all->is_any = all->is_any || feedback->is_any;
    if (feedback->has_ok && (!all->has_ok || feedback->ok.now_us >= all->ok.now_us)) {
        all->has_ok = true;
        all->ok = feedback->ok;
    }
    if (feedback->has_bad && all->has_bad)
        merge_bad(&all->bad, &feedback->bad);
    else if (feedback->has_bad)
        all->bad = feedback->bad;
    all->has_bad = all->has_bad || feedback->has_bad;
    if (feedback->park_until_us > all->park_until_us)
        all->park_until_us = feedback->park_until_us;
    if (feedback->refused_status != 0)
        all->refused_status = feedback->refused_status;
    all->debit += feedback->debit;
    for (int i = 0; i < QUOTA_CLASSES; i++)
        all->used[i] += feedback->used[i];
}

/* ---- out of a bucket ---- */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* One permit, at the bucket's own time. The second call is made for the instant that the first one
 * returned. */
static bool draw_one(struct bucket *bucket, const struct bucket_config *config,
                     const struct draw_request *request, int64_t until_us, int64_t *due_us)
{
    struct bucket next = *bucket;
    struct bucket_ask one = {
        .now_us = later(request->from_us, bucket->refilled_at_us),
        .cost = request->cost,
        .deadline_us = INT64_MAX,
        .is_waking = true,
    };
    struct bucket_answer result = bucket_acquire(&next, config, &one);

    if (result.decision == RATE_WAIT) {
        one.now_us = result.at_us;
        result = bucket_acquire(&next, config, &one);
    }
    *due_us = result.at_us;
    if (result.decision != RATE_ALLOW || result.at_us > until_us)
        return false;
    next.refilled_at_us += request->slack_us; /* that was due_us */
    *bucket = next;
    return true;
}

size_t draw(struct bucket *bucket, const struct bucket_config *config,
            const struct draw_request *request, int64_t *dues_us, int64_t *at_us)
{
    size_t count = 0;

    assert(request->cost <= config->burst);
    while (count < request->count) {
        const int64_t until_us = count == 0 ? request->first_us : request->rest_us;

        if (!draw_one(bucket, config, request, until_us, at_us))
            break;
        dues_us[count++] = *at_us;
    }
    return count;
}

void draw_heal(struct bucket *bucket, int64_t now_us, int64_t ahead_max_us)
{
    if (bucket->refilled_at_us <= now_us + ahead_max_us)
        return;
    bucket->refilled_at_us = now_us;
    bucket->line_until_us = now_us;
    if (bucket->tokens > 0)
        bucket->tokens = 0;
}
