/* Which failures are repeated, with which session, and how long that waits. */
#include "engine/session/store_retry.h"

#include <string.h>

#include "test.h"

struct faulty { /* a store that counts what is done to its session */
    struct store store;
    int connects;
    int refusals; /* so many connects fail first */
};

static bool connect_again(struct store *store, struct error *err)
{
    struct faulty *faulty = (struct faulty *)store;

    faulty->connects++;
    if (faulty->refusals-- > 0)
        return error_set(err, ERROR_TRANSIENT, "store.lost", "still out of reach");
    return true;
}

static const struct store_ops OPS = { .reconnect = connect_again };

struct still_clock { /* only sleeping moves it */
    struct clock clock;
    int64_t at_us;
};

static int64_t still_now(struct clock *clock)
{
    return ((struct still_clock *)clock)->at_us;
}

static bool still_sleep(struct clock *clock, int64_t until_us, int wake_fd)
{
    (void)wake_fd;
    ((struct still_clock *)clock)->at_us = until_us;
    return true;
}

static void same_bytes(struct random_source *source, unsigned char *out, size_t count)
{
    (void)source;
    memset(out, 7, count);
}

struct rig {
    struct faulty faulty;
    struct still_clock clock;
    struct random_source random;
    struct store_retry retry;
    struct store_backoff backoff;
    int reports;
};

static void count_report(void *context, const struct error *err)
{
    (void)err;
    ((struct rig *)context)->reports++;
}

static void rig_init(struct rig *rig, int refusals)
{
    *rig = (struct rig){ .faulty = { .store = { .ops = &OPS }, .refusals = refusals } };
    rig->clock.clock = (struct clock){ .now_us = still_now,
                                       .monotonic_us = still_now,
                                       .sleep_until_us = still_sleep };
    rig->random = (struct random_source){ same_bytes };
    rig->retry = (struct store_retry){ .store = &rig->faulty.store };
    rig->backoff = (struct store_backoff){ .delay_min_us = 100,
                                           .delay_max_us = 1000,
                                           .clock = &rig->clock.clock,
                                           .random = &rig->random,
                                           .wake_fd = CLOCK_NO_WAKE,
                                           .report = count_report,
                                           .context = rig };
}

static struct error failure(enum error_level level, const char *code)
{
    struct error err;

    (void)error_set(&err, level, code, "made by the test");
    return err;
}

TEST(a_lost_session_is_opened_again_before_the_next_call)
{
    struct error err = failure(ERROR_TRANSIENT, "store.commit_unknown");
    struct rig rig;

    rig_init(&rig, 1);
    CHECK(store_retry_failed(&rig.retry, &err), "worth another try");
    CHECK(!store_retry_ready(&rig.retry, &err), "no session yet");
    CHECK(store_retry_ready(&rig.retry, &err), "the second attempt opens one");
    CHECK(store_retry_ready(&rig.retry, &err), "which is used from then on");
    CHECK_EQ(rig.faulty.connects, 2, "connects");
}

TEST(a_failure_that_leaves_the_session_alone_opens_no_other)
{
    struct error err = failure(ERROR_TRANSIENT, "store.busy");
    struct rig rig;

    rig_init(&rig, 0);
    CHECK(!store_retry_failed(&rig.retry, &err), "a new session would not help");
    CHECK(store_retry_wait(&rig.retry, &rig.backoff, &err), "time may");
    CHECK_EQ(rig.faulty.connects, 0, "connects");
    CHECK_EQ(rig.reports, 1, "reports");
}

TEST(delays_double_up_to_the_longest_until_there_is_a_session)
{
    struct error err = failure(ERROR_TRANSIENT, "store.lost");
    struct rig rig;
    int64_t passed_us;

    rig_init(&rig, 9);
    CHECK(store_retry_wait(&rig.retry, &rig.backoff, &err), "the tenth connect succeeds");
    passed_us = clock_monotonic_us(&rig.clock.clock);
    CHECK_EQ(rig.reports, 10, "each wait is reported");
    CHECK_EQ(rig.faulty.connects, 10, "connects");
    /* 100 + 200 + 400 + 800 + 6 * 1000, of each between half and all */
    CHECK(passed_us >= 3750 && passed_us <= 7500, "waits");
}

TEST(what_time_does_not_mend_is_not_repeated)
{
    struct error schema = failure(ERROR_FATAL, "store.schema");
    struct error other = failure(ERROR_TRANSIENT, "http.connect");
    struct rig rig;

    rig_init(&rig, 0);
    CHECK(!store_retry_wait(&rig.retry, &rig.backoff, &schema), "not transient");
    CHECK(!store_retry_wait(&rig.retry, &rig.backoff, &other), "not the store's");
    CHECK_EQ(clock_monotonic_us(&rig.clock.clock), 0, "nothing was waited for");
}
