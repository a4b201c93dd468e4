/* patra publish and patra outbox, and serve's publisher: what a harvest has written comes into the
 * stream, as SQL of the test's own sees it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "stream_sql.h"
#include "test.h"

enum { WAIT_MS_MAX = 60000 };

#define EVENTS "SELECT count(*) FROM ing_outbox"
#define PUBLISHED "SELECT sum(last_pos) FROM ing_stream_lane"

static void wait_until_published(const char *store)
{
    for (int ms = 0; ms < WAIT_MS_MAX && sql_number(store, PUBLISHED) < sql_number(store, EVENTS);
         ms += 20)
        (void)usleep(20000);
}

static int64_t harvested(const char *store, const char *from, const char *to)
{
    const struct run run =
        RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", from, "--to", to, "--store", store);

    CHECK_EQ(run.code, 0, run.talk.data);
    return sql_number(store, EVENTS);
}

static void publish_once(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "6000");
    char line[128];
    int64_t events;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "outbox", "status", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "0 in the stream, 0 waiting"), run.out.data);
    events = harvested(store, "2026-02-01", "2026-02-06");
    CHECK(events > 100, "there is something");
    run = RUN("patra", "outbox", "status", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "waiting"), events, "all of them wait");
    run = RUN("patra", "publish", "--once", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    (void)snprintf(line, sizeof(line), "%lld events published\n", (long long)events);
    CHECK_STR(run.out, str_of(line), "says how many");
    stream_sql_check(store);
    run = RUN("patra", "outbox", "status", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "waiting"), 0, "none waits");
    CHECK_EQ(cli_number(run.out, "gapIds"), 0, "none is open");
    CHECK_EQ(cli_number(run.out, "lagUs"), 0, "no lag");
    CHECK_STR(cli_value(run.out, "leaseOwner"), STR(""), "the lease is given back");
    run = RUN("patra", "publish", "--once", "--store", store);
    CHECK_STR(run.out, STR("0 events published\n"), "once");
    sim_stop(&sim);
}

TEST(a_harvest_is_published_once_on_sqlite)
{
    publish_once(cli_sqlite("once"));
}

TEST(a_harvest_is_published_once_on_postgres)
{
    publish_once(cli_postgres());
}

static int stop(struct running *running)
{
    REQUIRE(kill(running->pid, SIGTERM) == 0, "SIGTERM");
    return run_end(running).code;
}

/* While one is at work, another waits; a draining one says so. */
static void serve(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "6000");
    struct running one, two;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    one = RUN_BEGIN("patra", "serve", "--role", "publisher", "--store", store);
    (void)harvested(store, "2026-02-01", "2026-02-06");
    wait_until_published(store);
    stream_sql_check(store);
    run = RUN("patra", "publish", "--once", "--store", store);
    CHECK_EQ(run.code, 3, "another one is at work");
    two = RUN_BEGIN("patra", "publish", "--store", store);
    CHECK_EQ(stop(&one), 0, "stopped");
    (void)harvested(store, "2026-02-06", "2026-02-11");
    wait_until_published(store);
    CHECK_EQ(stop(&two), 0, "the other one has taken over");
    stream_sql_check(store);
    CHECK(sql_number(store, EVENTS) > 100, "there is something");
    sim_stop(&sim);
}

TEST(a_service_publishes_what_is_harvested_and_another_takes_over_on_sqlite)
{
    serve(cli_sqlite("serve"));
}

TEST(a_service_publishes_what_is_harvested_and_another_takes_over_on_postgres)
{
    serve(cli_postgres());
}

/* The token of an export, and the history of a record, after their events are gone. */
static void retention(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "6000");
    const bool is_postgres = strncmp(store, "postgres", 8) == 0;
    struct running service;
    char token[256], id[256];
    struct run run;
    int64_t events;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "--json", "-o", "/dev/null", "--store",
              store);
    CHECK_EQ(run.code, 0, run.talk.data);
    (void)snprintf(token, sizeof(token), "%.*s", STR_ARG(cli_value(run.out, "token")));
    events = harvested(store, "2026-02-01", "2026-02-03");
    CHECK_EQ(RUN("patra", "publish", "--once", "--store", store).code, 0, "published");
    run = RUN("patra", "outbox", "prune", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "events"), 0, "they are young");
    sql_run(store, is_postgres
                       ? "UPDATE ing_stream SET sequenced_at = sequenced_at - interval '8 days'"
                       : "UPDATE ing_stream SET sequenced_at = sequenced_at - 691200000000");
    run = RUN("patra", "outbox", "prune", "--keep", "30d", "--dry-run", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "events"), 0, "kept longer");
    run = RUN("patra", "outbox", "prune", "--dry-run", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "events"), events, "all could go");
    CHECK_EQ(sql_number(store, EVENTS), events, "none did");
    service = RUN_BEGIN("patra", "serve", "--role", "publisher", "--keep", "7d", "--store", store);
    for (int ms = 0; ms < WAIT_MS_MAX && sql_number(store, EVENTS) > 0; ms += 20)
        (void)usleep(20000);
    CHECK_EQ(stop(&service), 0, "stopped");
    CHECK_EQ(sql_number(store, EVENTS), 0, "the publisher removes them");
    run = RUN("patra", "outbox", "prune", "--store", store);
    CHECK_STR(run.out, STR("0 events removed\n"), "none is left");
    CHECK_EQ(RUN("patra", "outbox", "prune", "--keep", "30s", "--store", store).code, 2, "too few");
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "--since", token, "-o", "/dev/null",
              "--store", store);
    CHECK_EQ(run.code, 4, "cannot be done");
    CHECK(cli_has(run.talk, "the token is too old"), run.talk.data);
    run = RUN("patra", "record", "list", SIM_SOURCE_NAME, "--json", "--store", store);
    (void)snprintf(id, sizeof(id), "%.*s", STR_ARG(cli_value(run.out, "records.0.id")));
    run = RUN("patra", "record", "show", SIM_SOURCE_NAME, id, "--history", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "its events are gone"), "says so");
    sim_stop(&sim);
}

TEST(old_events_go_and_what_rests_on_them_says_so_on_sqlite)
{
    retention(cli_sqlite("retention"));
}

TEST(old_events_go_and_what_rests_on_them_says_so_on_postgres)
{
    retention(cli_postgres());
}
