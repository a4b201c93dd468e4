/* Four processes of two threads each, one source at 20 requests per second and a burst of 5, for
 * real: the gate, a store that they share, libcurl, and patra-sim, which judges what it sees.
 *
 * PATRA_POLITE_SECONDS makes it longer than the 15 seconds that the suite has, and the silence
 * after a 429 half a minute.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "adapter/curl/curl_http.h"
#include "adapter/system/system.h"
#include "base/instant.h"
#include "child.h"
#include "contract.h"
#include "data/json.h"
#include "data/rate_hints.h"
#include "engine/gate/gate.h"
#include "fixed_secret.h"
#include "spec/spec.h"

enum { PROCESSES = 4, THREADS = 2, RATE = 20, BURST = 5, SECONDS = 15 };

static struct { /* set before the processes are forked */
    char url[128];
    int64_t until_us; /* monotonic, which all processes of a machine share */
} run;

struct worker {
    struct store *store;
    struct gate *gate;
    struct http *http;
    struct clock clock;
    struct random_source random;
    struct fixed_secrets secrets;
    struct spec_endpoint endpoint;
    bool ok;
    pthread_t thread;
};

static struct spec_endpoint echo(void)
{
    struct spec_endpoint endpoint = {
        .name = STR("echo"),
        .http = { .base_url = str_of(run.url) },
        .rate = { .limit = { .per_second = RATE, .burst = BURST, .concurrency = 6 },
                  .adaptive = true,
                  .cost = 1,
                  .quantum = 10,
                  .cool_down_us = 30 * US_PER_SECOND,
                  .increase = 0.1,
                  .demote = 2,
                  .min = 0.1 },
    };

    return endpoint;
}

static bool worker_open(struct worker *worker, struct gate_pool *pool, const char *dsn)
{
    struct error err = { 0 };

    *worker = (struct worker){ .clock = system_clock(), .random = system_random() };
    fixed_secrets_init(&worker->secrets, NULL, 0);
    worker->endpoint = echo();
    if (!store_open(str_of(dsn), NULL, &worker->store, &err) ||
        !curl_http_open(&(struct curl_http_options){ STR("patra-test (mailto:a@example.org)") },
                        &worker->http, &err) ||
        !gate_open(&worker->gate,
                   &(struct gate_parts){ .pool = pool,
                                         .store = worker->store,
                                         .clock = &worker->clock,
                                         .random = &worker->random,
                                         .secrets = &worker->secrets.source,
                                         .owner = STR("politeness"),
                                         .wake_fd = CLOCK_NO_WAKE },
                   &err)) {
        (void)fprintf(stderr, "worker: %s\n", err.text);
        return false;
    }
    gate_begin(worker->gate, &(struct gate_task){ .source = STR("echo") });
    return true;
}

static void send(struct worker *worker, struct arena *arena)
{
    struct permit_gate *port = gate_port(worker->gate);
    const struct http_request request = { .url = str_of(run.url), .allow_plain_http = true };
    struct permit_feedback feedback = { .endpoint = &worker->endpoint, .requests = 1 };
    struct rate_hints hints;
    struct http_response reply;
    struct error err;

    feedback.signal.sent_at_us = clock_now_us(&worker->clock);
    if (!http_send(worker->http, arena, &request, &reply, &err))
        feedback.signal.outcome = BUCKET_FAILING;
    feedback.signal.now_us = clock_now_us(&worker->clock);
    feedback.status = reply.status;
    hints = rate_hints_of(&reply, reply.status == 429, feedback.signal.now_us);
    if (reply.status == 429)
        feedback.signal.outcome = BUCKET_THROTTLED;
    feedback.signal.retry_after_us = hints.has_retry_after ? hints.retry_after_us : 0;
    port->feedback(port, &feedback);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct permit_gate *port = gate_port(worker->gate);
    const struct permit_request ask = { .endpoint = &worker->endpoint, .may_wait = true };
    struct permit permit = { 0 };
    struct error err = { 0 };
    struct arena arena;

    worker->ok = true;
    arena_init(&arena, 1 << 24);
    while (worker->ok && clock_monotonic_us(&worker->clock) < run.until_us) {
        arena_reset(&arena);
        worker->ok = port->acquire(port, &ask, &permit, &err);
        if (worker->ok && permit.decision == RATE_ALLOW)
            send(worker, &arena);
    }
    if (!worker->ok)
        (void)fprintf(stderr, "acquire: %s\n", err.text);
    arena_release(&arena);
    return NULL;
}

static int process(int index, const char *dsn)
{
    struct worker workers[THREADS];
    struct gate_pool *pool;
    struct error err;
    bool ok = gate_pool_open(&pool, &err);

    (void)index;
    for (int i = 0; ok && i < THREADS; i++)
        ok = worker_open(&workers[i], pool, dsn);
    for (int i = 0; ok && i < THREADS; i++)
        ok = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    if (!ok)
        return -1;
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        ok = ok && workers[i].ok;
        gate_close(workers[i].gate);
        http_close(workers[i].http);
        store_close(workers[i].store);
    }
    gate_pool_close(pool);
    return ok ? 0 : -1;
}

/* ---- the judge ---- */

static int64_t number(const struct json_doc *doc, struct json_node node, const char *name)
{
    int64_t value = -1;

    CHECK(json_i64(doc, json_get(doc, node, str_of(name)), &value), name);
    return value;
}

struct verdict {
    int64_t requests;
    int64_t too_fast;
    int64_t too_early;
    int64_t too_many;
};

static struct http_response ask_sim(struct arena *arena, struct http_request request,
                                    const char *base, const char *path)
{
    struct error err = { 0 };
    struct http_response reply;
    struct http *http;

    request.url = arena_printf(arena, "%s%s", base, path);
    request.allow_plain_http = true;
    REQUIRE_OK(curl_http_open(NULL, &http, &err), err);
    REQUIRE_OK(http_send(http, arena, &request, &reply, &err), err);
    http_close(http);
    CHECK_EQ(reply.status / 100, 2, path);
    return reply;
}

static struct verdict judge(const struct sim *sim)
{
    struct error err = { 0 };
    struct verdict verdict;
    struct json_node summary, broken;
    struct json_doc doc;
    struct http_response reply;
    struct arena arena;

    arena_init(&arena, 1 << 26);
    reply = ask_sim(&arena, (struct http_request){ 0 }, sim->base, "/_sim/audit");
    REQUIRE_OK(json_parse(&doc, &arena, reply.body, &err), err);
    summary = json_get(&doc, json_root(&doc), STR("summary"));
    broken = json_get(&doc, summary, STR("violations"));
    verdict = (struct verdict){
        .requests = number(&doc, summary, "requests"),
        .too_fast = number(&doc, broken, "rate"),
        .too_early = number(&doc, broken, "retry_after"),
        .too_many = number(&doc, broken, "concurrency"),
    };
    if (verdict.too_fast + verdict.too_early + verdict.too_many > 0)
        test_note("%.*s", (int)(reply.body.len < 3000 ? reply.body.len : 3000), reply.body.data);
    arena_release(&arena);
    return verdict;
}

static void start(struct sim *sim)
{
    static const char *const options[] = { "--limit", "path=/echo rate=20 burst=5 concurrency=6",
                                           "--audit-off", "repeat", NULL };

    REQUIRE(sim_start(sim, options), "patra-sim starts");
    (void)snprintf(run.url, sizeof(run.url), "%s/echo", sim->base);
}

static void run_for(const char *dsn, int64_t length_us)
{
    struct clock clock = system_clock();

    run.until_us = clock_monotonic_us(&clock) + length_us;
    CHECK_EQ(contract_processes(PROCESSES, process, dsn), 0, "all processes ended well");
}

/* 0: as long as the suite has. */
static int64_t seconds_wanted(void)
{
    const char *wanted = getenv("PATRA_POLITE_SECONDS");

    return wanted != NULL ? atoi(wanted) : 0;
}

TEST(four_processes_are_as_fast_as_allowed_and_no_faster)
{
    const int64_t seconds = seconds_wanted() > 0 ? seconds_wanted() : SECONDS;
    const char *dsn = contract_ready_database();
    struct verdict verdict;
    struct sim sim;

    start(&sim);
    run_for(dsn, seconds * US_PER_SECOND);
    verdict = judge(&sim);
    test_note("%lld requests in %lld s: %.1f %% of the rate, %lld violations",
              (long long)verdict.requests, (long long)seconds,
              (double)verdict.requests * 100 / (double)(RATE * seconds),
              (long long)(verdict.too_fast + verdict.too_many));
    CHECK_EQ(verdict.too_fast, 0, "never too fast");
    CHECK_EQ(verdict.too_many, 0, "never too many at once");
    CHECK(verdict.requests * 100 >= RATE * seconds * 97, "the rate is used");
    sim_stop(&sim);
    contract_end();
}

TEST(a_429_silences_all_processes)
{
    const int64_t silence_s = seconds_wanted() > 0 ? 30 : 3;
    const int64_t run_s =
        silence_s + silence_s / 10 + 5; /* who waits long may oversleep a little */
    const char *dsn = contract_ready_database();
    struct verdict verdict;
    struct arena arena;
    struct str rule;
    struct sim sim;

    arena_init(&arena, 1 << 24);
    start(&sim);
    rule = arena_printf(&arena, "path=/echo nth=40 kind=status code=429 retry_after=%lld",
                        (long long)silence_s);
    (void)ask_sim(&arena, (struct http_request){ .method = STR("POST"), .body = rule }, sim.base,
                  "/_sim/faults");
    run_for(dsn, run_s * US_PER_SECOND);
    verdict = judge(&sim);
    CHECK_EQ(verdict.too_early, 0, "nobody spoke");
    CHECK_EQ(verdict.too_fast, 0, "nor too fast");
    /* Two seconds until the 40th, the silence or a little more, two or more at 10 a second. */
    CHECK(verdict.requests >= 45, "and then they went on");
    CHECK(verdict.requests <= 40 + 10 * (run_s - silence_s - 2) + 20, "slower than before");
    test_note("%lld requests in %lld s, %lld of them silent: %lld violations",
              (long long)verdict.requests, (long long)run_s, (long long)silence_s,
              (long long)(verdict.too_early + verdict.too_fast));
    sim_stop(&sim);
    arena_release(&arena);
    contract_end();
}
