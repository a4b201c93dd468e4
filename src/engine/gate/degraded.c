/* A bucket of the process itself, while the store is out of reach. */
#include "engine/gate/degraded.h"

#define PROBE_US US_PER_SECOND
#define AGAIN_US (100 * US_PER_MS)

static int64_t part_of(int64_t amount)
{
    return amount / GATE_DEGRADED_PARTS > 0 ? amount / GATE_DEGRADED_PARTS : 1;
}

static void begin(struct gate_key *key, const struct gate_limit *limit, int64_t now_us)
{
    const int64_t rate = key->is_seen ? key->rate : limit->config.rate_max;

    key->is_degraded = true;
    key->degraded_config = limit->config;
    key->degraded_config.rate_max = part_of(rate);
    key->degraded_config.rate_min = part_of(limit->config.rate_min);
    if (key->degraded_config.rate_min > key->degraded_config.rate_max)
        key->degraded_config.rate_min = key->degraded_config.rate_max;
    key->degraded_config.burst = limit->cost;
    key->degraded_config.warmup_us = 0;
    key->degraded = bucket_start(&key->degraded_config, now_us);
    key->degraded.tokens = 0;
    key->degraded_left =
        key->quota_left == INT64_MAX ? INT64_MAX : key->quota_left / GATE_DEGRADED_PARTS;
}

void degraded_note(struct gate_key *key, const struct gate_limit *limit, int64_t now_us)
{
    if (!key->is_failing)
        key->failing_since_us = now_us;
    key->is_failing = true;
    if (!key->is_degraded && now_us - key->failing_since_us >= GATE_DEGRADED_AFTER_US)
        begin(key, limit, now_us);
    key->probe_at_us = now_us + (key->is_degraded ? PROBE_US : AGAIN_US);
}

bool degraded_is_on(const struct gate_key *key, int64_t now_us)
{
    return key->is_failing && now_us < key->probe_at_us;
}

static bool is_slot_free(const struct gate_key *key, const struct gate_limit *limit)
{
    return limit->concurrency == 0 || key->flights < part_of(limit->concurrency);
}

void degraded_take(const struct shared_request *request, int64_t now_us,
                   struct shared_result *result)
{
    struct gate_key *key = request->key;
    const int64_t silence_us = gate_key_silence(key);
    const struct draw_request draw_request = {
        .cost = request->limit->cost,
        .from_us = silence_us > now_us ? silence_us : now_us,
        .first_us = now_us + request->wait_us,
        .slack_us = request->slack_us,
        .count = 1,
    };
    int64_t due_us;

    *result = (struct shared_result){ .kind = SHARED_AGAIN,
                                      .at_us = key->probe_at_us,
                                      .reason = silence_us > now_us ? gate_key_silence_reason(key)
                                                                    : WAIT_STORE };
    if (!key->is_degraded)
        return;
    result->kind = SHARED_LATER;
    if (key->degraded_left <= 0)
        return;
    if (request->needs_slot && !is_slot_free(key, request->limit)) {
        result->kind = SHARED_AGAIN;
        return;
    }
    if (key->degraded_config.burst < request->limit->cost)
        key->degraded_config.burst = request->limit->cost;
    if (draw(&key->degraded, &key->degraded_config, &draw_request, &due_us, &result->at_us) == 0)
        return;
    result->kind = SHARED_TAKEN;
    result->permit = (struct gate_permit){ .due_us = due_us,
                                           .slack_us = request->slack_us,
                                           .rank = quota_class_of(request->operation),
                                           .is_degraded = true };
}

void degraded_count(struct gate_key *key, const struct gate_limit *limit, enum quota_class rank)
{
    key->feedback.is_any = true;
    key->feedback.used[rank]++;
    /* The shared bucket is full after a pause; more than that cannot be owed. */
    if (key->feedback.debit + limit->cost <= limit->config.burst)
        key->feedback.debit += limit->cost;
    if (key->degraded_left != INT64_MAX)
        key->degraded_left--;
}

void degraded_feedback(struct gate_key *key, const struct bucket_signal *signal, int64_t now_us)
{
    struct bucket_signal shifted = *signal;

    if (!key->is_degraded)
        return;
    shifted.sent_at_us += now_us - signal->now_us;
    shifted.reset_at_us = 0; /* already known as silence */
    shifted.retry_after_us = 0;
    shifted.now_us = now_us;
    bucket_feedback(&key->degraded, &key->degraded_config, &shifted);
}
