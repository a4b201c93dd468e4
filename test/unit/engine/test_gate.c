/* The rate gate in virtual time, over the store in memory. */
#include "adapter/memory/store.h"
#include "base/instant.h"
#include "engine/gate/limit.h"
#include "gate_crowd.h"
#include "port/store_rate.h"
#include "test.h"

static struct crowd crowd; /* large */

static struct store *new_store(void)
{
    struct store *store;
    struct error err = { 0 };
    int64_t taken;

    REQUIRE_OK(memory_store_open(&store, &err), err);
    REQUIRE_OK(store_migrate(store, 0, &taken, &err), err);
    return store;
}

/* ---- the promise ---- */

static const struct {
    const char *label;
    double per_second;
    int64_t burst;
    int64_t cost;
    int processes;
    int threads;
    int64_t latency_max_us;
    int64_t late_max_us, later_max_us;
    double used; /* at least */
} crowds[] = {
    { "one thread, one at a time", 3, 1, 1, 1, 1, 50000, 1000, 3000, 0.97 },
    { "four processes, one at a time", 3, 1, 1, 4, 1, 50000, 1000, 3000, 0.97 },
    { "one a second", 1, 1, 1, 4, 1, 100000, 3000, 12000, 0.97 },
    { "ten a second, one at a time", 10, 1, 1, 4, 2, 100000, 300, 1200, 0.97 },
    { "twenty, burst five", 20, 5, 1, 4, 1, 20000, 3000, 30000, 0.97 },
    { "twenty, burst five, threads", 20, 5, 1, 4, 4, 400000, 3000, 30000, 0.97 },
    { "twenty, slow answers", 20, 5, 1, 2, 8, 600000, 3000, 30000, 0.97 },
    { "fifty, burst fifty", 50, 50, 1, 4, 4, 100000, 3000, 40000, 0.97 },
    { "three hundred, one process", 300, 30, 1, 1, 8, 5000, 500, 5000, 0.97 },
    { "three hundred, four processes", 300, 30, 1, 4, 4, 5000, 500, 5000, 0.97 },
    { "requests that cost three", 20, 6, 3, 3, 2, 20000, 3000, 20000, 0.97 },
    { "a cost of the whole burst", 20, 5, 5, 3, 2, 20000, 500, 2000, 0.97 },
    { "one every ten seconds", 0.1, 1, 1, 3, 1, 50000, 3000, 30000, 0.96 },
};

static void order_crowd(size_t i, uint64_t seed)
{
    crowd = (struct crowd){
        .endpoint = crowd_endpoint(crowds[i].per_second, crowds[i].burst),
        .processes = crowds[i].processes,
        .threads = crowds[i].threads,
        .latency_max_us = crowds[i].latency_max_us,
        .late_max_us = crowds[i].late_max_us,
        .later_max_us = crowds[i].later_max_us,
        .seed = seed,
    };
    crowd.endpoint.rate.cost = crowds[i].cost;
    crowd.length_us = (int64_t)(600 / crowds[i].per_second * (double)crowds[i].cost * 1e6);
    if (crowd.length_us < 8 * US_PER_SECOND)
        crowd.length_us = 8 * US_PER_SECOND;
}

TEST(no_stretch_of_time_has_more_than_rate_and_burst_and_the_rate_is_used)
{
    for (size_t i = 0; i < ARRAY_LEN(crowds); i++) {
        struct store *store = new_store();
        double excess, used;

        order_crowd(i, 1 + i);
        crowd_run(&crowd, store);
        excess = crowd_excess(&crowd, crowds[i].per_second, (double)crowds[i].burst,
                              (double)crowds[i].cost);
        used = crowd_used(&crowd, crowds[i].per_second, (double)crowds[i].cost, 0, crowd.length_us);
        test_note("%s: %zu requests, %.2f %% of the rate, %.4f below the limit", crowds[i].label,
                  crowd.count, used * 100, -excess);
        CHECK(excess <= 1e-6, crowds[i].label);
        CHECK(used >= crowds[i].used, crowds[i].label);
        store_close(store);
    }
}
