/* Runs the threads of a crowd, and measures what they sent over every stretch of time. */
#include "gate_crowd.h"

#include <pthread.h>

#include "base/instant.h"
#include "fixed_secret.h"
#include "seeded_random.h"
#include "test.h"

#define NOW_US INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */

struct spec_endpoint crowd_endpoint(double per_second, int64_t burst)
{
    struct spec_endpoint endpoint = {
        .name = STR("works"),
        .http = { .base_url = STR("https://api.example.org") },
        .rate = { .limit = { .per_second = per_second, .burst = burst },
                  .adaptive = true,
                  .cost = 1,
                  .quantum = 10,
                  .cool_down_us = 30 * US_PER_SECOND,
                  .increase = 0.1,
                  .demote = 2,
                  .min = 0.1,
                  .quota_margin = 0.1 },
    };

    for (int i = 0; i <= OPERATION_REPLAY; i++)
        endpoint.rate.quota_shares[i] = 100;
    return endpoint;
}

void crowd_give_credentials(struct spec_endpoint *endpoint, struct crowd_credentials *credentials)
{
    static const char *const names[] = { "key0", "key1", "key2" };
    static const char *const secrets[] = { "env:KEY_0", "env:KEY_1", "env:KEY_2" };

    endpoint->auth = (struct spec_auth){ .type = AUTH_API_KEY, .name = STR("X-Key") };
    endpoint->rate.per_credential = true;
    endpoint->rate.quota_margin = 0;
    endpoint->rate.quota_day = credentials->quota_day;
    for (size_t i = 0; i < credentials->count; i++) {
        credentials->variants[i] = *endpoint;
        credentials->variants[i].credential = str_of(names[i]);
        credentials->variants[i].auth.secret = str_of(secrets[i]);
    }
    endpoint->variants = credentials->variants;
    endpoint->variant_count = credentials->count;
}

struct member {
    struct crowd *crowd;
    int process;
    int thread;
    struct store *session;
    struct gate *gate;
    struct seeded_random chance;
    struct fixed_secrets secrets;
    struct random random;
};

static int64_t mono(struct crowd *crowd)
{
    return clock_monotonic_us(&crowd->clock.clock);
}

static void pass(struct member *member, int64_t for_us)
{
    (void)clock_sleep_us(&member->crowd->clock.clock, for_us, CLOCK_NO_WAKE);
}

static void send(struct member *member, const struct permit *permit)
{
    struct crowd *crowd = member->crowd;
    struct permit_feedback feedback = { .endpoint = permit->endpoint,
                                        .requests = 1,
                                        .status = 200 };
    struct crowd_use *use = &crowd->uses[crowd->count];
    const size_t number = crowd->count++;

    REQUIRE(number < CROWD_USES_MAX, "room for all requests");
    *use = (struct crowd_use){ .at_us = mono(crowd),
                               .process = member->process,
                               .thread = member->thread,
                               .credential = permit->endpoint->credential };
    feedback.signal.sent_at_us = clock_now_us(&crowd->clock.clock);
    pass(member, crowd->latency_max_us / 10 +
                     random_between(&member->random, 0, crowd->latency_max_us * 9 / 10 + 1));
    use->done_us = mono(crowd);
    feedback.signal.now_us = clock_now_us(&crowd->clock.clock);
    if (crowd->answer != NULL)
        crowd->answer(crowd, number, &feedback);
    gate_port(member->gate)->feedback(gate_port(member->gate), &feedback);
}

static void work(struct member *member)
{
    struct crowd *crowd = member->crowd;
    struct permit_gate *port = gate_port(member->gate);
    const struct permit_request ask = { .endpoint = &crowd->endpoint, .may_wait = true };
    struct permit permit;
    struct error err = { 0 };

    while (mono(crowd) < crowd->begin_us + crowd->length_us) {
        if (crowd->before != NULL)
            crowd->before(crowd, mono(crowd));
        REQUIRE_OK(port->acquire(port, &ask, &permit, &err), err);
        if (permit.decision == RATE_ALLOW) {
            send(member, &permit);
        } else {
            crowd->rejects++;
            crowd->retry_at_us = permit.retry_at_us;
            pass(member, 250 * US_PER_MS);
        }
        if (crowd->idle_max_us > 0 && random_chance(&member->random, 10))
            pass(member, random_between(&member->random, 0, crowd->idle_max_us));
    }
}

static void *run_member(void *argument)
{
    struct member *member = argument;

    turn_clock_enter(&member->crowd->clock);
    work(member);
    turn_clock_leave(&member->crowd->clock);
    return NULL;
}

static const struct fixed_secret CROWD_SECRETS[] = { { "env:KEY_0", "one" },
                                                     { "env:KEY_1", "two" },
                                                     { "env:KEY_2", "three" } };

static void open_member(struct member *member, struct crowd *crowd, int process, int thread)
{
    struct error err = { 0 };

    *member = (struct member){ .crowd = crowd,
                               .process = process,
                               .thread = thread,
                               .random = { crowd->seed * 1000 + (uint64_t)thread } };
    seeded_random_init(&member->chance, crowd->seed * 77 + (uint64_t)thread);
    fixed_secrets_init(&member->secrets, CROWD_SECRETS, ARRAY_LEN(CROWD_SECRETS));
    REQUIRE_OK(store_another(crowd->store, &member->session, &err), err);
    REQUIRE_OK(gate_open(&member->gate,
                         &(struct gate_parts){ .pool = crowd->pools[process],
                                               .store = member->session,
                                               .clock = &crowd->clock.clock,
                                               .random = &member->chance.source,
                                               .secrets = &member->secrets.source,
                                               .owner = STR("crowd"),
                                               .wake_fd = CLOCK_NO_WAKE },
                         &err),
               err);
    gate_begin(member->gate, &(struct gate_task){ .source = STR("example"),
                                                  .operation = crowd->operations[thread] });
}

void crowd_run(struct crowd *crowd, struct store *store)
{
    const int count = crowd->processes * crowd->threads;
    static struct member members[CROWD_THREADS_MAX];
    pthread_t threads[CROWD_THREADS_MAX];
    struct error err = { 0 };

    crowd->store = store;
    crowd->count = 0;
    crowd->rejects = 0;
    turn_clock_init(&crowd->clock, count, NOW_US, crowd->seed);
    crowd->clock.monotonic_us = crowd->begin_us;
    crowd->clock.late_max_us = crowd->late_max_us;
    crowd->clock.later_max_us = crowd->later_max_us;
    for (int i = 0; i < crowd->processes; i++)
        REQUIRE_OK(gate_pool_open(&crowd->pools[i], &err), err);
    for (int i = 0; i < count; i++)
        open_member(&members[i], crowd, i / crowd->threads, i);
    for (int i = 0; i < count; i++)
        REQUIRE(pthread_create(&threads[i], NULL, run_member, &members[i]) == 0, "a thread");
    for (int i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++) {
        gate_close(members[i].gate);
        store_close(members[i].session);
    }
    for (int i = 0; i < crowd->processes; i++)
        gate_pool_close(crowd->pools[i]);
    turn_clock_release(&crowd->clock);
}

/* ---- the truth ---- */

double crowd_excess(const struct crowd *crowd, double per_second, double burst, double cost)
{
    double worst = -burst;

    for (size_t i = 0; i < crowd->count; i++) {
        for (size_t j = i; j < crowd->count; j++) {
            const int64_t span_us = crowd->uses[j].at_us - crowd->uses[i].at_us;
            const double over =
                (double)(j - i + 1) * cost - per_second * (double)span_us / 1e6 - burst;

            if (over > worst)
                worst = over;
        }
    }
    return worst;
}

double crowd_excess_of(const struct crowd *crowd, struct str credential, double per_second,
                       double burst)
{
    static struct crowd own;

    own.count = 0;
    for (size_t i = 0; i < crowd->count; i++) {
        if (str_eq(crowd->uses[i].credential, credential))
            own.uses[own.count++] = crowd->uses[i];
    }
    return crowd_excess(&own, per_second, burst, 1);
}

double crowd_used(const struct crowd *crowd, double per_second, double cost, int64_t from_us,
                  int64_t to_us)
{
    double used = 0;

    for (size_t i = 0; i < crowd->count; i++) {
        if (crowd->uses[i].at_us >= from_us && crowd->uses[i].at_us < to_us)
            used += cost;
    }
    return used / (per_second * (double)(to_us - from_us) / 1e6);
}

int crowd_peak(const struct crowd *crowd)
{
    int peak = 0;

    for (size_t i = 0; i < crowd->count; i++) {
        int under_way = 0;

        for (size_t j = 0; j < crowd->count; j++)
            under_way += crowd->uses[j].at_us <= crowd->uses[i].at_us &&
                         crowd->uses[j].done_us > crowd->uses[i].at_us;
        peak = under_way > peak ? under_way : peak;
    }
    return peak;
}
