/* Rate, quota, retry, batches: nothing may exceed what the provider allows, or contradict itself.
 */
#include "core/source_codes.h"
#include "data/json.h"
#include "spec/check_context.h"

static void check_provider(const struct check *check, const char *path, const char *limit)
{
    if (!check_is_more(check, path, limit))
        return;
    check_error(check, "spec.rate.over-provider", path, "is more than %s", limit);
    check_hint(check, "the provider allows no more");
}

static void check_speed(const struct check *check)
{
    check_provider(check, "rate.per_second", "rate.provider_limit");
    check_provider(check, "rate.with_credential.per_second", "rate.with_credential.provider_limit");
    if (check_is_more(check, "rate.min", "rate.per_second")) {
        check_error(check, "spec.rate.min", "rate.min", "is more than per_second");
        check_hint(check, "a rate that is lowered must have somewhere to go");
    }
    if (check_is_more(check, "rate.cost", "rate.burst")) {
        check_error(check, "spec.rate.cost", "rate.cost", "is more than burst");
        check_hint(check, "such a request would wait for ever; raise burst to the cost");
    }
    if (!resolution_bool(&check->in, "rate.adaptive")) {
        (void)check_idle(check, "rate.increase", "rate.adaptive", "needs adaptive: true");
        (void)check_idle(check, "rate.demote", "rate.adaptive", "needs adaptive: true");
        (void)check_idle(check, "rate.min", "rate.adaptive", "needs adaptive: true");
    }
}

/* An optional credential is what makes two rates. */
static void check_credential_rate(const struct check *check)
{
    static const char *const paths[] = { "rate.with_credential.per_second",
                                         "rate.with_credential.burst",
                                         "rate.with_credential.concurrency",
                                         "rate.with_credential.provider_limit" };

    if (resolution_bool(&check->in, "auth.optional"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        (void)check_idle(check, paths[i], "auth.optional",
                         "is for an optional credential, and there is none");
}

static void check_quota(const struct check *check)
{
    const bool has_quota =
        check_is_set(check, "rate.quota.day") || check_is_set(check, "rate.quota.hour");

    if (check_is_more(check, "rate.quota.hour", "rate.quota.day")) {
        check_error(check, "spec.rate.quota", "rate.quota.hour", "is more than quota.day");
        check_hint(check, "an hour can not have more than the day it is in");
    }
    if (has_quota)
        return;
    (void)check_idle(check, "rate.quota.margin", "rate.quota.day", "is part of no quota");
    (void)check_idle(check, "rate.quota.shares", "rate.quota.day", "divides no quota");
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
                    "has %lld, which stays the same when asked again", (long long)status);
        check_hint(check, "5xx, 408, 409, 423, 425 and 429 may change");
    }
}

static void check_retry(const struct check *check)
{
    const int backoff = resolution_code(&check->in, "retry.backoff");

    if (check_is_more(check, "retry.min_delay", "retry.max_delay")) {
        check_error(check, "spec.retry.delays", "retry.max_delay", "is less than min_delay");
        check_hint(check, "it is the longest wait");
    }
    if (backoff == BACKOFF_FIXED)
        (void)check_idle(check, "retry.multiplier", "retry.backoff", "is not used by a fixed wait");
    if (backoff > BACKOFF_EXPONENTIAL_JITTER)
        (void)check_idle(check, "retry.jitter", "retry.backoff",
                         "is used by backoff exponential_jitter alone");
    check_statuses(check);
}

static void check_batch(const struct check *check)
{
    static const char *const paths[] = { "batch.id_batch_size", "batch.id_batch_max",
                                         "batch.combine", "batch.split_failed" };

    if (check_is_more(check, "batch.id_batch_size", "batch.id_batch_max")) {
        check_error(check, "spec.batch.over-provider", "batch.id_batch_size",
                    "is more than id_batch_max");
        check_hint(check, "the provider takes no more ids in one request");
    }
    if (check_is_more(check, "batch.combine", "batch.id_batch_size")) {
        check_error(check, "spec.batch.combine", "batch.combine", "is more than id_batch_size");
        check_hint(check, "a batch is sent when it is full");
    }
    for (size_t i = 0; check->role == ENDPOINT_SEARCH && i < ARRAY_LEN(paths); i++) {
        if (check_is_own(check, paths[i]))
            (void)check_idle(check, paths[i], "role", "is for endpoints that are asked for ids");
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
