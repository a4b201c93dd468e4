/* Which failures of a store are repeated, when, and with which session. */
#include "engine/session/store_retry.h"

enum { DOUBLINGS_MAX = 16 };

bool store_retry_ready(struct store_retry *retry, struct error *err)
{
    if (retry->must_reconnect && !store_reconnect(retry->store, err))
        return false;
    retry->must_reconnect = false;
    return true;
}

bool store_retry_failed(struct store_retry *retry, const struct error *err)
{
    store_rollback(retry->store);
    if (store_error_is_lost(err))
        retry->must_reconnect = true;
    return retry->must_reconnect;
}

static int64_t delay_us(const struct store_retry *retry, const struct store_backoff *backoff)
{
    const unsigned doublings = retry->failures < DOUBLINGS_MAX ? retry->failures : DOUBLINGS_MAX;
    const int64_t grown_us = backoff->delay_min_us << doublings;
    const int64_t most_us = grown_us < backoff->delay_max_us ? grown_us : backoff->delay_max_us;

    return most_us / 2 + (int64_t)(random_source_u64(backoff->random) % (uint64_t)(most_us / 2));
}

bool store_retry_wait(struct store_retry *retry, const struct store_backoff *backoff,
                      struct error *err)
{
    (void)store_retry_failed(retry, err);
    while (err->level == ERROR_TRANSIENT && store_error_is_own(err)) {
        if (backoff->report != NULL)
            backoff->report(backoff->context, err);
        if (!clock_sleep_us(backoff->clock, delay_us(retry, backoff), backoff->wake_fd))
            return false;
        retry->failures++;
        if (store_retry_ready(retry, err))
            return true;
    }
    return false;
}
