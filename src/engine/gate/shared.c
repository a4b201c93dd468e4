/* Transactions at the shared row of a key. */
#include "engine/gate/shared.h"

#include <assert.h>

#include "engine/session/store_time.h"
#include "port/store_rate.h"

/* Others take permits along for this long. */
#define AHEAD_US (100 * US_PER_MS)
/* A slot is free again after this, even if its holder died: longer than any request takes, its
 * wait for a permit included. */
#define SLOT_US (15 * US_PER_MINUTE)
/* Lost races for a new row, and deadlocks, are repeated so often. */
enum { TURNS_MAX = 4 };
/* The longest time by which a permit is dated ahead because the store is slow. */
#define LEAD_MAX_US (100 * US_PER_MS)

/* ---- one turn at the row ---- */

struct turn {
    const struct shared *shared;
    const struct shared_request *request;
    struct rate_gate row;
    int64_t now_us;  /* of rates, in the store */
    int64_t mono_us; /* the same instant here */
    struct gate_feedback feedback;
    int64_t quota_left;
    bool is_again; /* another process was first: once more */
};

static bool turn_clock(struct turn *turn, struct error *err)
{
    struct clock *clock = turn->shared->clock;

    if (!store_time_of_rates(turn->shared->store, clock, &turn->now_us, err))
        return false;
    turn->mono_us = clock_monotonic_us(clock); /* not before the store said so: never too early */
    return true;
}

/* Settings may have changed since the row was written. */
static void fit_row(struct turn *turn)
{
    const struct bucket_config *config = &turn->request->limit->config;
    struct bucket *bucket = &turn->row.bucket;

    if (turn->row.version == 0)
        *bucket = bucket_start(config, turn->now_us);
    bucket_fit(bucket, config);
    draw_heal(bucket, turn->now_us, 2 * GATE_WAIT_MAX_US);
}

/* A signal's instants by the store's clock. */
static struct bucket_signal translate(const struct turn *turn, const struct bucket_signal *signal)
{
    const int64_t shift_us = turn->now_us - turn->mono_us;
    struct bucket_signal shifted = *signal;

    shifted.retry_after_us -= turn->mono_us - signal->now_us; /* some of it may be over */
    if (signal->retry_after_us <= 0)
        shifted.retry_after_us = 0;
    shifted.now_us = turn->now_us;
    shifted.sent_at_us += shift_us;
    if (shifted.reset_at_us != 0)
        shifted.reset_at_us += shift_us;
    shifted.random = random_source_u64(turn->shared->random);
    return shifted;
}

static void hand_in(struct turn *turn)
{
    const struct gate_feedback *feedback = &turn->feedback;
    const struct bucket_config *config = &turn->request->limit->config;
    struct bucket_signal signal;

    if (feedback->has_ok) {
        signal = translate(turn, &feedback->ok);
        bucket_feedback(&turn->row.bucket, config, &signal);
    }
    if (feedback->has_bad) {
        signal = translate(turn, &feedback->bad);
        bucket_feedback(&turn->row.bucket, config, &signal);
    }
    if (feedback->park_until_us != 0) {
        const int64_t until_us = feedback->park_until_us + turn->now_us - turn->mono_us;

        if (until_us > turn->row.parked_until_us)
            turn->row.parked_until_us = until_us;
    }
    if (feedback->refused_status != 0 && turn->row.refused_us == 0) {
        turn->row.refused_us = turn->now_us;
        turn->row.refused_status = feedback->refused_status;
    }
    turn->row.bucket.tokens -= feedback->debit;
}

/* ---- quota ---- */

static bool hand_in_used(const struct turn *turn, struct error *err)
{
    const struct shared_request *request = turn->request;

    for (int i = QUOTA_HOUR; i <= QUOTA_DAY; i++) {
        const enum quota_window window = (enum quota_window)i;
        const struct quota_key key = quota_key_at(request->key->name, window, turn->now_us);

        if (quota_limit_of(request->rate, window) == 0)
            continue;
        for (int rank = 0; rank < QUOTA_CLASSES; rank++) {
            if (turn->feedback.used[rank] != 0 &&
                !store_quota_add(turn->shared->store, &key, (enum quota_class)rank,
                                 turn->feedback.used[rank], 0, err))
                return false;
        }
    }
    return true;
}

/* What the operation may send now: what is booked for its class, or what no class has booked. When
 * a window has nothing left, *until_us is its end. */
static bool load_quota_left(struct turn *turn, int64_t *until_us, struct error *err)
{
    const struct shared_request *request = turn->request;
    const enum quota_class rank = quota_class_of(request->operation);

    turn->quota_left = INT64_MAX;
    for (int i = QUOTA_HOUR; i <= QUOTA_DAY; i++) {
        const enum quota_window window = (enum quota_window)i;
        const struct quota_key key = quota_key_at(request->key->name, window, turn->now_us);
        struct quota_count count;
        int64_t left, unused;

        if (quota_limit_of(request->rate, window) == 0)
            continue;
        if (!store_quota_load(turn->shared->store, &key, &count, err))
            return false;
        left = quota_left(request->rate, request->operation, window, &count);
        unused = quota_unused(request->rate, window, &count);
        if (left < count.booked[rank])
            left = count.booked[rank];
        if (left > unused)
            left = unused;
        if (left <= 0)
            *until_us = quota_end_us(window, turn->now_us);
        if (left < turn->quota_left)
            turn->quota_left = left;
    }
    return true;
}

static bool spend_quota(struct turn *turn, int64_t count, struct error *err)
{
    const struct shared_request *request = turn->request;

    for (int i = QUOTA_HOUR; i <= QUOTA_DAY; i++) {
        const enum quota_window window = (enum quota_window)i;
        const struct quota_key key = quota_key_at(request->key->name, window, turn->now_us);

        if (quota_limit_of(request->rate, window) > 0 &&
            !store_quota_add(turn->shared->store, &key, quota_class_of(request->operation), count,
                             -count, err))
            return false;
    }
    if (turn->quota_left != INT64_MAX)
        turn->quota_left -= count;
    return true;
}

/* ---- from begin to commit ---- */

static bool turn_open(struct turn *turn, struct error *err)
{
    struct gate_key *key = turn->request->key;

    gate_key_lock(key);
    turn->feedback = key->feedback;
    key->feedback = (struct gate_feedback){ 0 };
    key->turns++;
    key->turns_open++;
    gate_key_unlock(key);
    if (!store_begin(turn->shared->store, err))
        return false;
    if (!store_rate_load(turn->shared->store, key->name, &turn->row, err) || !turn_clock(turn, err))
        return false;
    fit_row(turn);
    hand_in(turn);
    return hand_in_used(turn, err);
}

static bool turn_save(struct turn *turn, struct error *err)
{
    bool saved;

    turn->row.has_credential = turn->request->limit->has_credential;
    if (!store_rate_save(turn->shared->store, turn->request->key->name, &turn->row, turn->now_us,
                         &saved, err))
        return false;
    turn->is_again = !saved;
    return saved || error_set(err, ERROR_TRANSIENT, "store.conflict", "the row is another's");
}

static void turn_give_up(const struct turn *turn)
{
    struct gate_key *key = turn->request->key;

    store_rollback(turn->shared->store);
    gate_key_lock(key);
    gate_key_add(key, &turn->feedback);
    key->turns_open--;
    gate_key_unlock(key);
}

/* ---- what all threads know of the row ---- */

static int64_t silent_until(const struct rate_gate *row)
{
    const int64_t cool_us = row->bucket.cooldown_until_us;

    return row->parked_until_us > cool_us ? row->parked_until_us : cool_us;
}

static void learn(struct gate_key *key, const struct rate_gate *row, int64_t at_us)
{
    key->is_seen = true;
    key->seen_at_us = at_us;
    key->rate = row->bucket.rate;
    if (row->bucket.provider_rate > 0 && row->bucket.provider_rate < key->rate)
        key->rate = row->bucket.provider_rate;
    key->silent_until_us = silent_until(row) - key->offset_us;
    if (row->parked_until_us > key->parked_until_us + key->offset_us)
        key->parked_until_us = row->parked_until_us - key->offset_us;
    key->line_until_us = row->bucket.refilled_at_us - key->offset_us;
    key->is_refused = row->refused_us != 0;
}

static void learn_turn(const struct turn *turn)
{
    struct gate_key *key = turn->request->key;
    const int64_t took_us = clock_monotonic_us(turn->shared->clock) - turn->mono_us;

    key->offset_us = turn->now_us - turn->mono_us;
    learn(key, &turn->row, turn->mono_us);
    key->reported_at_us = turn->mono_us;
    /* Quickly up, slowly down. */
    key->lead_us = took_us > key->lead_us ? took_us : key->lead_us - (key->lead_us - took_us) / 16;
    if (key->lead_us > LEAD_MAX_US)
        key->lead_us = LEAD_MAX_US;
    key->is_degraded = false;
    key->is_failing = false;
    key->turns_open--;
}

/* ---- taking ---- */

struct haul {
    int64_t dues_us[GATE_PERMITS_MAX];
    size_t count;
};

static bool take_slot(const struct turn *turn, struct gate_slot *taken, struct error *err)
{
    const struct rate_slot slot = {
        .rate_key = turn->request->key->name,
        .owner = turn->shared->owner,
        .now_us = turn->now_us,
        .until_us = turn->now_us + SLOT_US,
        .max = turn->request->limit->concurrency,
    };
    int64_t count;

    if (!store_slot_take(turn->shared->store, &slot, &taken->id, err))
        return false;
    if (taken->id == 0)
        return true;
    if (!store_slot_count(turn->shared->store, slot.rate_key, &count, err))
        return false;
    taken->is_spare = count < slot.max;
    return true;
}

/* Where lateness matters, a permit is not due before it can be in hand. */
static int64_t lead_of(const struct gate_limit *limit, int64_t lead_us)
{
    return lead_us * 4 > limit->late_us ? lead_us + lead_us / 2 : 0;
}

static bool take_permits(struct turn *turn, struct haul *haul, struct shared_result *result,
                         struct error *err)
{
    const struct shared_request *request = turn->request;
    const int64_t lead_us = lead_of(request->limit, result->at_us);
    struct draw_request draw_request = {
        .cost = request->limit->cost,
        .from_us = turn->now_us + lead_us,
        .first_us = turn->now_us + (request->wait_us > lead_us ? request->wait_us : lead_us),
        .rest_us = turn->now_us + AHEAD_US,
        .slack_us = request->slack_us,
        .count = (size_t)request->count,
    };
    struct bucket bucket = turn->row.bucket;

    result->kind = SHARED_LATER;
    result->reason = WAIT_QUOTA;
    result->at_us = turn->row.parked_until_us;
    if (turn->row.parked_until_us > turn->now_us)
        return true;
    if (!load_quota_left(turn, &result->at_us, err))
        return false;
    if (turn->quota_left <= 0)
        return true;
    if (turn->quota_left < request->count)
        draw_request.count = (size_t)turn->quota_left;
    result->reason =
        turn->row.bucket.cooldown_until_us > turn->now_us ? WAIT_RETRY_AFTER : WAIT_RATE;
    haul->count =
        draw(&bucket, &request->limit->config, &draw_request, haul->dues_us, &result->at_us);
    if (haul->count == 0)
        return true;
    if (request->needs_slot && !take_slot(turn, &result->slot, err))
        return false;
    if (request->needs_slot && result->slot.id == 0) {
        result->kind = SHARED_AGAIN;
        result->reason = WAIT_SLOT;
        return true;
    }
    turn->row.bucket = bucket;
    result->kind = SHARED_TAKEN;
    return spend_quota(turn, (int64_t)haul->count, err);
}

/* Instants of the store become ours; what is more than one permit goes to the others. */
static void keep_haul(const struct turn *turn, const struct haul *haul,
                      struct shared_result *result)
{
    struct gate_key *key = turn->request->key;
    struct gate_permit permit = { .slack_us = turn->request->slack_us,
                                  .rank = quota_class_of(turn->request->operation) };

    learn_turn(turn);
    key->quota_left = turn->quota_left;
    result->at_us -= key->offset_us;
    if (result->kind != SHARED_TAKEN)
        return;
    result->slot.taken_us = turn->mono_us;
    result->slot.until_us = turn->mono_us + SLOT_US;
    for (size_t i = 0; i < haul->count; i++) {
        permit.due_us = haul->dues_us[i] - key->offset_us;
        if (i == 0)
            result->permit = permit;
        else
            gate_key_push(key, &permit);
    }
}

static bool take_once(struct turn *turn, struct shared_result *result, struct error *err)
{
    struct store *store = turn->shared->store;
    struct gate_key *key = turn->request->key;
    struct haul haul;

    gate_key_lock(key);
    *result = (struct shared_result){ .at_us = key->lead_us };
    gate_key_unlock(key);
    haul.count = 0;
    if (!turn_open(turn, err) || !take_permits(turn, &haul, result, err))
        goto give_up;
    if (result->kind != SHARED_TAKEN && !turn->feedback.is_any)
        store_rollback(store); /* nothing has changed */
    else if (!turn_save(turn, err) || !store_commit(store, err))
        goto give_up;
    gate_key_lock(key);
    keep_haul(turn, &haul, result);
    gate_key_unlock(key);
    return true;
give_up:
    turn_give_up(turn);
    return false;
}

bool shared_take(const struct shared *shared, const struct shared_request *request,
                 struct shared_result *result, struct error *err)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        struct turn turn = { .shared = shared, .request = request };

        if (take_once(&turn, result, err))
            return true;
        if (!store_error_is_conflict(err))
            break;
    }
    return error_wrap(err, "take a permit of %.*s", STR_ARG(request->key->name));
}

/* ---- reporting ---- */

static bool report_once(struct turn *turn, struct error *err)
{
    struct gate_key *key = turn->request->key;

    if (!turn_open(turn, err) || !turn_save(turn, err) || !store_commit(turn->shared->store, err)) {
        turn_give_up(turn);
        return false;
    }
    gate_key_lock(key);
    learn_turn(turn);
    gate_key_unlock(key);
    return true;
}

bool shared_report(const struct shared *shared, const struct shared_request *request,
                   struct error *err)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        struct turn turn = { .shared = shared, .request = request };

        if (report_once(&turn, err))
            return true;
        if (!store_error_is_conflict(err))
            break;
    }
    return error_wrap(err, "write feedback of %.*s", STR_ARG(request->key->name));
}

bool shared_look(const struct shared *shared, struct gate_key *key, struct error *err)
{
    const int64_t at_us = clock_monotonic_us(shared->clock);
    struct rate_gate row;
    int64_t now_us, offset_us;

    if (!store_rate_peek(shared->store, key->name, &row, err) ||
        !store_time_of_rates(shared->store, shared->clock, &now_us, err))
        return error_wrap(err, "look at %.*s", STR_ARG(key->name));
    offset_us = now_us - clock_monotonic_us(shared->clock);
    gate_key_lock(key);
    if (row.version > 0 && at_us > key->seen_at_us) {
        key->offset_us = offset_us; /* rows may have been shifted */
        learn(key, &row, at_us);
    }
    gate_key_unlock(key);
    return true;
}
