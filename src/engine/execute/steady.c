#include "engine/execute/executor_internal.h"

#include <string.h>

/* From a tenth of a second to five: a server that restarts needs a few of them. */
#define DELAY_MIN_US (100 * US_PER_MS)
#define DELAY_MAX_US (5 * US_PER_SECOND)

bool is_of_store(const struct error *err)
{
    return strncmp(err->code, "store.", strlen("store.")) == 0;
}

static bool is_lost(const struct error *err)
{
    return strcmp(err->code, "store.lost") == 0 || strcmp(err->code, "store.commit_unknown") == 0;
}

static int64_t delay_us(struct executor *executor, unsigned tries)
{
    const int64_t grown_us = DELAY_MIN_US << (tries < 6 ? tries : 6);
    const int64_t most_us = grown_us < DELAY_MAX_US ? grown_us : DELAY_MAX_US;

    return most_us / 2 +
           (int64_t)(random_source_u64(executor->parts.random) % (uint64_t)(most_us / 2));
}

bool steady_again(struct executor *executor, struct steady *steady, struct error *err)
{
    const bool must_connect = is_lost(err);
    struct error second;

    while (err->level == ERROR_TRANSIENT && is_of_store(err)) {
        executor_tell(executor, &(struct executor_event){ .kind = EXECUTOR_TROUBLE, .err = err });
        if (!clock_sleep_us(executor->parts.clock, delay_us(executor, steady->tries++),
                            executor->parts.wake_fd))
            return false;
        if (!must_connect || store_reconnect(executor->parts.store, &second))
            return true;
        *err = second;
    }
    return false;
}
