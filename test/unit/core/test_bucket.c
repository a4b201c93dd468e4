/* Tests: the rate bucket: its rules, and its guarantee under simulated workers. */
#include "core/bucket.h"

#include <string.h>

#include "base/instant.h"
#include "random.h"
#include "test.h"

#define S US_PER_SECOND

static struct bucket_config config_of(int64_t per_second, int64_t burst)
{
    return (struct bucket_config){
        .rate_max = per_second * MICRO,
        .rate_min = MICRO / 10,
        .burst = burst * MICRO,
        .is_adaptive = true,
        .increase = MICRO,
        .cool_down_us = 10 * S,
        .demote_permille = 2000,
    };
}

static struct bucket_answer ask(struct bucket *bucket, const struct bucket_config *config,
                                int64_t now_us)
{
    return bucket_acquire(
        bucket, config,
        &(struct bucket_ask){ .now_us = now_us, .cost = MICRO, .deadline_us = now_us + 3600 * S });
}

static struct bucket_answer wake(struct bucket *bucket, const struct bucket_config *config,
                                 int64_t now_us)
{
    return bucket_acquire(
        bucket, config,
        &(struct bucket_ask){
            .now_us = now_us, .cost = MICRO, .deadline_us = now_us + 3600 * S, .is_waking = true });
}

TEST(a_full_bucket_gives_its_burst_and_then_the_rate)
{
    const struct bucket_config config = config_of(2, 3);
    struct bucket bucket = bucket_start(&config, 0);

    for (int i = 0; i < 3; i++)
        CHECK_EQ(ask(&bucket, &config, 0).decision, RATE_ALLOW, "the burst");
    CHECK_EQ(ask(&bucket, &config, 0).at_us, S / 2, "the first in line");
    CHECK_EQ(ask(&bucket, &config, 0).at_us, S, "the second comes after it");
    CHECK_EQ(wake(&bucket, &config, S / 2).decision, RATE_ALLOW, "at its time");
    CHECK_EQ(ask(&bucket, &config, S / 2).at_us, 3 * S / 2, "newcomers go to the end");
    CHECK_EQ(wake(&bucket, &config, S).decision, RATE_ALLOW, "at its time");
}

TEST(newcomers_do_not_overtake_those_who_wait)
{
    const struct bucket_config config = config_of(1, 1);
    struct bucket bucket = bucket_start(&config, 0);

    CHECK_EQ(ask(&bucket, &config, 0).decision, RATE_ALLOW, "the first");
    CHECK_EQ(ask(&bucket, &config, 0).at_us, S, "one waits");
    CHECK_EQ(ask(&bucket, &config, S - 1).at_us, 2 * S, "a newcomer waits after it");
    CHECK_EQ(wake(&bucket, &config, S - 1).at_us, S, "a little early: the place is kept");
    CHECK_EQ(wake(&bucket, &config, S).decision, RATE_ALLOW, "on time");
}

TEST(a_wait_beyond_the_deadline_is_refused_at_once)
{
    const struct bucket_config config = config_of(1, 1);
    struct bucket bucket = bucket_start(&config, 0);
    const struct bucket_ask patient = { .now_us = 0, .cost = MICRO, .deadline_us = S };
    const struct bucket_ask hasty = { .now_us = 0, .cost = MICRO, .deadline_us = S - 1 };
    const struct bucket_ask dear = { .now_us = 0, .cost = 2 * MICRO, .deadline_us = 99 * S };
    struct bucket_answer answer;

    CHECK_EQ(bucket_acquire(&bucket, &config, &patient).decision, RATE_ALLOW, "tokens are there");
    answer = bucket_acquire(&bucket, &config, &hasty);
    CHECK_EQ(answer.decision, RATE_REJECT, "one microsecond too late");
    CHECK_EQ(answer.refusal, BUCKET_REFUSED_DEADLINE, "why");
    CHECK_EQ(answer.at_us, S, "and when it would have been");
    CHECK_EQ(bucket_acquire(&bucket, &config, &patient).decision, RATE_WAIT,
             "the refused left no trace");
    CHECK_EQ(bucket_acquire(&bucket, &config, &dear).refusal, BUCKET_REFUSED_COST,
             "more than the burst is never to be had");
}

TEST(slow_rates_are_exact_however_often_they_are_refilled)
{
    struct bucket_config config = config_of(1, 1);
    struct bucket bucket;

    config.rate_max = MICRO / 10; /* one in ten seconds */
    bucket = bucket_start(&config, 0);
    CHECK_EQ(ask(&bucket, &config, 0).decision, RATE_ALLOW, "the first");
    for (int64_t t = 1; t < 10 * S; t += 997)
        CHECK(wake(&bucket, &config, t).at_us == 10 * S, "always the same answer");
    CHECK_EQ(wake(&bucket, &config, 10 * S).decision, RATE_ALLOW, "after ten seconds to the dot");
}

TEST(a_clock_that_goes_back_gives_no_tokens_twice)
{
    const struct bucket_config config = config_of(1, 1);
    struct bucket bucket = bucket_start(&config, 100 * S);

    CHECK_EQ(ask(&bucket, &config, 100 * S).decision, RATE_ALLOW, "the first");
    CHECK_EQ(wake(&bucket, &config, 101 * S).decision, RATE_ALLOW, "a second later");
    CHECK(wake(&bucket, &config, 50 * S).decision != RATE_ALLOW, "the clock went back");
    CHECK(wake(&bucket, &config, 101 * S + 1).decision != RATE_ALLOW, "and came again");
}

/* ---- feedback ---- */

static struct bucket_signal signal_at(enum bucket_outcome outcome, int64_t now_us)
{
    return (struct bucket_signal){ .outcome = outcome, .now_us = now_us, .sent_at_us = now_us };
}

TEST(the_rate_is_divided_by_a_429_and_rises_by_steps)
{
    const struct bucket_config config = config_of(8, 1);
    struct bucket bucket = bucket_start(&config, 0);
    struct bucket_signal signal = signal_at(BUCKET_THROTTLED, S);

    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 4 * MICRO, "halved");
    signal.now_us = S + 5;
    signal.sent_at_us = S - 5;
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 4 * MICRO, "what was sent before does not count again");
    signal = signal_at(BUCKET_THROTTLED, 2 * S);
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 2 * MICRO, "another one halves it again");
    for (int64_t t = 3; t <= 42; t++) {
        signal = signal_at(BUCKET_OK, t * S);
        bucket_feedback(&bucket, &config, &signal);
    }
    CHECK_EQ(bucket.rate, 6 * MICRO, "four steps in forty seconds");
    for (int64_t t = 43; t <= 200; t++) {
        signal = signal_at(BUCKET_OK, t * S);
        bucket_feedback(&bucket, &config, &signal);
    }
    CHECK_EQ(bucket.rate, 8 * MICRO, "and not beyond the configured rate");
}

TEST(a_source_that_fails_one_request_in_ten_keeps_most_of_its_rate)
{
    const struct bucket_config config = config_of(20, 1); /* cool_down 10 s */
    struct bucket bucket = bucket_start(&config, 0);
    struct bucket_signal signal = signal_at(BUCKET_FAILING, S);

    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 10 * MICRO, "a failing server is left in peace, too");
    signal = signal_at(BUCKET_FAILING, 10 * S);
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 10 * MICRO, "once per cool-down");
    signal = signal_at(BUCKET_FAILING, 11 * S);
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 6 * MICRO, "and not below 30 %");
    signal = signal_at(BUCKET_THROTTLED, 12 * S);
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 3 * MICRO, "a 429 knows no such floor");
    signal = signal_at(BUCKET_FAILING, 30 * S);
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 3 * MICRO, "and is not undone by a failure");
}

TEST(the_rate_has_a_floor)
{
    const struct bucket_config config = config_of(8, 1);
    struct bucket bucket = bucket_start(&config, 0);

    for (int64_t t = 1; t < 50; t++) {
        const struct bucket_signal signal = signal_at(BUCKET_THROTTLED, t * S);

        bucket_feedback(&bucket, &config, &signal);
    }
    CHECK_EQ(bucket.rate, config.rate_min, "one in ten seconds");
}

TEST(nothing_is_sent_inside_a_retry_after)
{
    const struct bucket_config config = config_of(8, 8);
    struct bucket bucket = bucket_start(&config, 0);
    struct bucket_signal signal = signal_at(BUCKET_THROTTLED, 0);
    struct bucket_answer answer;

    signal.retry_after_us = 20 * S;
    bucket_feedback(&bucket, &config, &signal);
    answer = ask(&bucket, &config, 1);
    CHECK_EQ(answer.decision, RATE_WAIT, "wait");
    CHECK(answer.at_us >= 21 * S && answer.at_us <= 23 * S, "20 s, and 5 to 15 %");
    CHECK(wake(&bucket, &config, 20 * S).decision != RATE_ALLOW, "not even one who was waiting");
    CHECK_EQ(wake(&bucket, &config, answer.at_us).decision, RATE_ALLOW, "but then");
    signal.now_us = signal.sent_at_us = 100 * S;
    signal.retry_after_us = 0;
    bucket_feedback(&bucket, &config, &signal);
    CHECK(bucket.cooldown_until_us < 100 * S, "a Retry-After of zero says nothing");
}

TEST(a_long_retry_after_is_kept_whole)
{
    const struct bucket_config config = config_of(8, 8);
    struct bucket bucket = bucket_start(&config, 0);
    struct bucket_signal signal = signal_at(BUCKET_THROTTLED, 0);

    signal.retry_after_us = 86400 * S;
    signal.random = 100;
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.cooldown_until_us, 86405 * S, "a day, and five seconds of jitter at most");
    signal.retry_after_us = 10 * S;
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.cooldown_until_us, 86405 * S, "a shorter one does not end it");
    signal.retry_after_us = INT64_MAX;
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.cooldown_until_us, INSTANT_MAX, "and nonsense does not overflow");
}

TEST(what_the_source_says_remains_goes_first)
{
    const struct bucket_config config = config_of(8, 8);
    struct bucket bucket = bucket_start(&config, 0);
    struct bucket_signal signal = signal_at(BUCKET_OK, 0);

    signal.has_remaining = true;
    signal.remaining = 2;
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.tokens, 2 * MICRO, "fewer than we thought");
    signal.remaining = 1000;
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.tokens, 2 * MICRO, "but never more");
    signal.remaining = 0;
    signal.reset_at_us = 30 * S;
    bucket_feedback(&bucket, &config, &signal);
    CHECK(bucket.cooldown_until_us >= 30 * S, "nothing until the reset");
}

TEST(the_sources_own_limit_lowers_the_ceiling)
{
    const struct bucket_config config = config_of(50, 1);
    struct bucket bucket = bucket_start(&config, 0);
    struct bucket_signal signal = signal_at(BUCKET_OK, 0);

    signal.provider_rate = 10 * MICRO;
    bucket_feedback(&bucket, &config, &signal);
    (void)ask(&bucket, &config, 0);
    CHECK_EQ(ask(&bucket, &config, 0).at_us, S / 10, "ten a second, though fifty are configured");
    signal.provider_rate = 100 * MICRO;
    bucket_feedback(&bucket, &config, &signal);
    CHECK(bucket.rate <= config.rate_max, "a higher one does not raise ours");
}

TEST(a_warm_up_begins_at_a_tenth)
{
    struct bucket_config config = config_of(10, 1);
    struct bucket bucket;
    struct bucket_signal signal = signal_at(BUCKET_OK, 50 * S);

    config.warmup_us = 100 * S;
    bucket = bucket_start(&config, 0);
    CHECK_EQ(bucket.rate, MICRO, "a tenth");
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 5 * MICRO, "half-way");
    signal.now_us = 100 * S;
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 10 * MICRO, "warm");
}

static int64_t estimate(const struct bucket *bucket, const struct bucket_config *config,
                        int64_t now_us, int64_t horizon_us)
{
    const struct bucket_outlook outlook = bucket_outlook(bucket, config, now_us);

    return bucket_estimate(&outlook, horizon_us);
}

TEST(the_estimate_is_what_a_horizon_holds)
{
    const struct bucket_config config = config_of(2, 5);
    struct bucket bucket = bucket_start(&config, 0);

    CHECK_EQ(estimate(&bucket, &config, 0, 10 * S), 25, "the burst and twenty");
    bucket.cooldown_until_us = 9 * S;
    CHECK_EQ(estimate(&bucket, &config, 0, 10 * S), 7, "the burst and two");
    CHECK_EQ(estimate(&bucket, &config, 0, 9 * S), 0, "nothing in a cool-down");
    CHECK_EQ(estimate(&bucket, &config, 10 * S, 5 * S), 0, "nothing in the past");
    bucket.provider_rate = MICRO;
    CHECK_EQ(estimate(&bucket, &config, 9 * S, 19 * S), 15, "the source's own limit counts");
}

/* A demoted bucket that gives as many permits as it can, with a success after each: the outlook is
 * never lower than what it gave by then, and at most a burst and half the rise higher. */
TEST(the_outlook_is_never_below_a_bucket_that_recovers)
{
    struct bucket_config config = config_of(20, 5);
    struct bucket bucket;
    struct bucket_signal signal = signal_at(BUCKET_THROTTLED, 0);
    struct bucket_outlook outlook;
    int64_t given = 0;

    config.is_adaptive = true;
    config.increase = MICRO;
    config.cool_down_us = 2 * S;
    bucket = bucket_start(&config, -S);
    bucket.rate = 4 * MICRO;
    bucket_feedback(&bucket, &config, &signal);
    CHECK_EQ(bucket.rate, 2 * MICRO, "demoted");
    outlook = bucket_outlook(&bucket, &config, 0);
    CHECK_EQ(outlook.steady_us, 18 * 2 * S, "eighteen steps of two seconds");
    CHECK_EQ(outlook.steady_rate, 20 * MICRO, "back at the top");
    for (int64_t now_us = 0; now_us < 60 * S; now_us += S / 100) {
        const struct bucket_ask ask = {
            .now_us = now_us, .cost = MICRO, .deadline_us = now_us, .is_waking = true
        };

        if (bucket_acquire(&bucket, &config, &ask).decision != RATE_ALLOW)
            continue;
        given++;
        CHECK(bucket_estimate(&outlook, now_us + 1) >= given - 1, "not too low");
        signal = signal_at(BUCKET_OK, now_us);
        bucket_feedback(&bucket, &config, &signal);
    }
    CHECK(given > 20 * 24, "it has recovered");
    CHECK(bucket_estimate(&outlook, 60 * S) <= given + 5 + 20 + 18 * 2, "and not far ahead");
}

/* ---- the guarantee, with simulated workers ---- */

enum { WORKERS_MAX = 12, PERMITS_MAX = 3000 };

struct worker {
    int64_t at_us; /* when it acts next */
    bool is_waking;
};

struct permits {
    int64_t at_us[PERMITS_MAX];
    int64_t cost[PERMITS_MAX];
    int count;
};

static bool bound_holds(const struct permits *permits, const struct bucket_config *config)
{
    for (int i = 0; i < permits->count; i++) {
        __int128 given = 0;

        for (int j = i; j < permits->count; j++) {
            const int64_t length_us = permits->at_us[j] - permits->at_us[i];

            given += permits->cost[j];
            if (given * S > (__int128)config->burst * S + (__int128)config->rate_max * length_us)
                return false;
        }
    }
    return true;
}

static struct bucket_signal random_signal(struct random *random, int64_t now_us)
{
    struct bucket_signal signal = signal_at(BUCKET_OK, now_us);

    if (random_chance(random, 20))
        signal.outcome = (enum bucket_outcome)random_between(random, 1, 3);
    signal.sent_at_us = now_us - random_between(random, 0, S);
    signal.random = random_u64(random);
    if (random_chance(random, 3))
        signal.retry_after_us = random_between(random, -S, 5 * S);
    if (random_chance(random, 10)) {
        signal.has_remaining = true;
        signal.remaining = random_between(random, 0, 20);
        signal.reset_at_us = now_us + random_between(random, -S, 3 * S);
    }
    if (random_chance(random, 5))
        signal.provider_rate = random_between(random, 1, 100) * MICRO / 2;
    return signal;
}

/* Workers request permits until there are many; they oversleep, die, and report at random. */
static void simulate(struct random *random, const struct bucket_config *config,
                     struct bucket *bucket, struct permits *permits)
{
    struct worker workers[WORKERS_MAX] = { { 0, false } };
    const int64_t count = random_between(random, 1, WORKERS_MAX + 1);
    int64_t now_us = 0;

    for (int turn = 0; turn < 1500 && permits->count < 400; turn++) {
        struct worker *next = &workers[0];
        struct bucket_answer answer;
        struct bucket_ask request;

        for (int64_t i = 1; i < count; i++) {
            if (workers[i].at_us < next->at_us)
                next = &workers[i];
        }
        now_us = next->at_us > now_us ? next->at_us : now_us;
        request = (struct bucket_ask){ .now_us = now_us, .is_waking = next->is_waking };
        if (random_chance(random, 5))
            request.now_us -= S; /* a clock that is late */
        request.cost = random_between(random, 1, 3) * MICRO;
        request.deadline_us = now_us + random_between(random, 0, 60 * S);
        answer = bucket_acquire(bucket, config, &request);
        next->is_waking = answer.decision == RATE_WAIT && !random_chance(random, 5);
        next->at_us = now_us + random_between(random, 0, S / 2);
        if (answer.decision == RATE_ALLOW) {
            CHECK(request.now_us >= bucket->cooldown_until_us, "nothing in a cool-down");
            permits->at_us[permits->count] = bucket->refilled_at_us; /* never goes back */
            permits->cost[permits->count++] = request.cost;
        } else if (answer.decision == RATE_WAIT) {
            CHECK(answer.at_us <= request.deadline_us, "not beyond the deadline");
            next->at_us =
                answer.at_us + (random_chance(random, 20) ? random_between(random, 0, S) : 0);
        }
        if (random_chance(random, 40)) {
            const struct bucket_signal signal = random_signal(random, now_us);

            bucket_feedback(bucket, config, &signal);
        }
        CHECK(bucket->tokens <= config->burst && bucket->tokens >= 0, "tokens within bounds");
        CHECK(bucket->rate <= config->rate_max && bucket->rate >= config->rate_min, "rate too");
    }
}

TEST(never_more_than_burst_and_rate_in_any_window)
{
    struct random random = { 16 };
    int64_t permits_total = 0;

    for (int round = 0; round < 200; round++) {
        static struct permits permits;
        const int64_t per_second = random_between(&random, 1, 30);
        struct bucket_config config = config_of(per_second, random_between(&random, 2, 10));
        struct bucket bucket;

        config.is_adaptive = random_chance(&random, 80);
        config.demote_permille = (int)random_between(&random, 1000, 4001);
        config.cool_down_us = random_between(&random, 0, 10 * S);
        config.warmup_us = random_chance(&random, 20) ? 20 * S : 0;
        bucket = bucket_start(&config, 0);
        permits.count = 0;
        simulate(&random, &config, &bucket, &permits);
        CHECK(bound_holds(&permits, &config), "burst + rate * t");
        permits_total += permits.count;
    }
    test_note("%" PRId64 " permits, every window between two of them looked at", permits_total);
}

/* Several workers that always have work and wake on time: nearly all of the rate is used. */
TEST(the_rate_is_used_when_there_is_work)
{
    for (int64_t workers = 1; workers <= WORKERS_MAX; workers++) {
        const struct bucket_config config = config_of(10, 1);
        struct bucket bucket = bucket_start(&config, 0);
        struct worker queue[WORKERS_MAX] = { { 0, false } };
        int64_t given = 0;

        for (;;) {
            struct worker *next = &queue[0];
            struct bucket_answer answer;

            for (int64_t i = 1; i < workers; i++) {
                if (queue[i].at_us < next->at_us)
                    next = &queue[i];
            }
            if (next->at_us > 100 * S)
                break;
            answer = next->is_waking ? wake(&bucket, &config, next->at_us)
                                     : ask(&bucket, &config, next->at_us);
            given += answer.decision == RATE_ALLOW;
            next->is_waking = answer.decision == RATE_WAIT;
            /* a request takes 70 ms */
            next->at_us = answer.decision == RATE_WAIT ? answer.at_us : next->at_us + 7 * S / 100;
        }
        CHECK(given >= 970 && given <= 1002, "10 a second for 100 seconds");
    }
}
