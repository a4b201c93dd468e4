/* Checks of rate, quota, retry and batches: no value may exceed what the provider allows, or
 * contradict another. */
#include "core/source_codes.h"
#include "data/json.h"
#include "spec/check_context.h"

static void check_provider(const struct check *check, const char *path, const char *limit)
{
    if (!check_is_more(check, path, limit))
        return;
    check_error(check, "spec.rate.over-provider", path, "is more than %s", limit);
    check_hint(check, "lower it; the provider allows no more");
}

static void check_speed(const struct check *check)
{
    check_provider(check, "rate.per_second", "rate.provider_limit");
    check_provider(check, "rate.with_credential.per_second", "rate.with_credential.provider_limit");
    if (check_is_more(check, "rate.min", "rate.per_second")) {
        check_error(check, "spec.rate.min", "rate.min", "is more than per_second");
        check_hint(check, "lower it; min is how far the rate may fall");
    }
    if (check_is_more(check, "rate.cost", "rate.burst")) {
        check_error(check, "spec.rate.cost", "rate.cost", "is more than burst");
        check_hint(check, "raise burst to the cost, or the request would wait forever");
    }
    if (!resolution_bool(&check->in, "rate.adaptive")) {
        (void)check_idle(check, "rate.increase", "rate.adaptive", "requires adaptive: true");
        (void)check_idle(check, "rate.demote", "rate.adaptive", "requires adaptive: true");
        (void)check_idle(check, "rate.min", "rate.adaptive", "requires adaptive: true");
    }
}

/* Only a source with an optional credential has two rates. */
static void check_credential_rate(const struct check *check)
{
    static const char *const paths[] = { "rate.with_credential.per_second",
                                         "rate.with_credential.burst",
                                         "rate.with_credential.concurrency",
                                         "rate.with_credential.provider_limit" };

    if (resolution_bool(&check->in, "auth.optional"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        (void)check_idle(check, paths[i], "auth.optional", "requires auth.optional: true");
}

static void check_quota(const struct check *check)
{
    const bool has_quota =
        check_is_set(check, "rate.quota.day") || check_is_set(check, "rate.quota.hour");

    if (check_is_more(check, "rate.quota.hour", "rate.quota.day")) {
        check_error(check, "spec.rate.quota", "rate.quota.hour", "is more than quota.day");
        check_hint(check, "lower it; an hour cannot have more than its day");
    }
    if (has_quota)
        return;
    (void)check_idle(check, "rate.quota.margin", "rate.quota.day", "has no effect without a quota");
    (void)check_idle(check, "rate.quota.shares", "rate.quota.day", "has no effect without a quota");
}

static bool may_be_retried(int64_t status)
{
    return status >= 500 || status == 408 || status == 409 || status == 423 || status == 425 ||
           status == 429;
}

static void check_statuses(const struct check *check)
{
    struct json_doc doc;
    struct json_iter it;
    struct error err;
    int64_t status;

    if (!json_parse(&doc, check->arena, resolution_text(&check->in, "retry.statuses"), &err))
        return;
    for (it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        if (!json_i64(&doc, it.value, &status) || may_be_retried(status))
            continue;
        check_error(check, "spec.retry.status", "retry.statuses",
                    "contains %lld, which a retry does not change", (long long)status);
        check_hint(check, "use only 5xx, 408, 409, 423, 425 and 429");
    }
}

static void check_retry(const struct check *check)
{
    const int backoff = resolution_code(&check->in, "retry.backoff");

    if (check_is_more(check, "retry.min_delay", "retry.max_delay")) {
        check_error(check, "spec.retry.delays", "retry.max_delay", "is less than min_delay");
        check_hint(check, "raise it; max_delay is the longest delay");
    }
    if (backoff == BACKOFF_FIXED)
        (void)check_idle(check, "retry.multiplier", "retry.backoff",
                         "has no effect with backoff: fixed");
    if (backoff > BACKOFF_EXPONENTIAL_JITTER)
        (void)check_idle(check, "retry.jitter", "retry.backoff",
                         "is for backoff: exponential_jitter only");
    check_statuses(check);
}

static void check_batch(const struct check *check)
{
    static const char *const paths[] = { "batch.id_batch_size", "batch.id_batch_max",
                                         "batch.combine", "batch.split_failed" };

    if (check_is_more(check, "batch.id_batch_size", "batch.id_batch_max")) {
        check_error(check, "spec.batch.over-provider", "batch.id_batch_size",
                    "is more than id_batch_max");
        check_hint(check, "lower it; the provider accepts no more ids in one request");
    }
    if (check_is_more(check, "batch.combine", "batch.id_batch_size")) {
        check_error(check, "spec.batch.combine", "batch.combine", "is more than id_batch_size");
        check_hint(check, "lower it; a batch of id_batch_size ids is sent at once");
    }
    for (size_t i = 0; check->role == ENDPOINT_SEARCH && i < ARRAY_LEN(paths); i++) {
        if (check_is_own(check, paths[i]))
            (void)check_idle(check, paths[i], "role", "is for endpoints that are requested by id");
    }
}

void check_rate(struct check *check)
{
    check_speed(check);
    check_credential_rate(check);
    check_quota(check);
    check_retry(check);
    check_batch(check);
}
