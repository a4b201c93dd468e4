/* Publishers and consumers that die. While patra harvests from patra-sim, two publishers and three
 * consumers of a projection are killed (SIGKILL) or put to sleep for longer than their leases, at
 * any moment, and started again. Afterwards, left alone, SQL of the test's own must find:
 *
 *      each record's row, with its version and its content
 *      every event of the outbox in the stream once, and passed by the projection
 *      no parked key, no dead letter: a death is not an event's fault
 *
 * PATRA_KILLS says how many kills per store.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"
#include "random.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "stream_sql.h"
#include "test.h"

enum { KILLS = TEST_IS_SLOW ? 8 : 40, PUBLISHERS = 2, PROCESSES = 5, DAYS = 20, TRIES_MAX = 200 };

#define EVENTS "SELECT count(*) FROM ing_outbox"
#define DIFFERENT                                                                 \
    "SELECT count(*) FROM ing_record AS r LEFT JOIN item AS i"                    \
    " ON i.aggregate_id = r.provider_id AND i.aggregate_type = r.provenance_code" \
    " || '/' || r.endpoint_name WHERE coalesce(i.version, 0) <> r.version"        \
    " OR coalesce(i.hash, '') <> r.content_hash OR i.deleted <> r.deleted"

static const char PROJECTION[] = "projection: shelf\n"
                                 "batch: { events: 50 }\n"
                                 "tables:\n"
                                 "  item:\n"
                                 "    columns: { title: $.fields.title, hash: $.contentHash }\n"
                                 "    from: [ { aggregates: [ \"" SIM_SOURCE_NAME "/*\" ] } ]\n";

struct site {
    const char *store;
    struct random random;
    struct running processes[PROCESSES];
    int sleeping; /* which one; -1: none */
    int day;
};

static int kills_wanted(void)
{
    const char *asked = getenv("PATRA_KILLS");

    return asked != NULL ? (int)strtol(asked, NULL, 10) : KILLS;
}

static void add_projection(const char *store)
{
    char path[512];
    struct run run;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/shelf.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(PROJECTION, file) >= 0 && fclose(file) == 0, "a file");
    run = RUN("patra", "projection", "apply", path, "--store", store);
    REQUIRE(run.code == 0, run.talk.data);
}

/* SIGTERM waits until the program takes it: one that is told to end before it has begun ends as it
 * would later. */
static void start(struct site *site, int i)
{
    sigset_t signals, before;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    site->processes[i] =
        i < PUBLISHERS ? RUN_BEGIN("patra", "publish", "--lease", "300ms", "--store", site->store)
                       : RUN_BEGIN("patra", "consume", "--lease", "600ms", "--store", site->store);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

static void wake(struct site *site)
{
    if (site->sleeping >= 0)
        (void)kill(site->processes[site->sleeping].pid, SIGCONT);
    site->sleeping = -1;
}

static int harvest(const struct site *site, int day)
{
    char from[16], to[16];

    (void)snprintf(from, sizeof(from), "2026-02-%02d", day);
    (void)snprintf(to, sizeof(to), "2026-02-%02d", day + 1);
    return RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", from, "--to", to, "--store",
               site->store)
        .code;
}

/* On SQLite, one that sleeps in the middle of a transaction has the lock: the store is busy (3)
 * until it wakes up. */
static void harvest_day(struct site *site)
{
    const int day = site->day++ % DAYS + 1;
    int code = harvest(site, day);

    if (code == 3 && site->sleeping >= 0) {
        wake(site);
        code = harvest(site, day);
    }
    CHECK_EQ(code, 0, "harvest");
}

/* One dies and another is put to sleep; what slept before wakes up, and was overtaken. */
static void strike(struct site *site)
{
    const int victim = (int)random_between(&site->random, 0, PROCESSES);
    const int sleeper = (int)random_between(&site->random, 0, PROCESSES);

    (void)usleep((useconds_t)random_between(&site->random, 5000, 250000));
    wake(site);
    (void)kill(site->processes[victim].pid, SIGKILL);
    CHECK_EQ(run_end(&site->processes[victim]).code, 128 + SIGKILL, "it was alive until then");
    start(site, victim);
    if (sleeper == victim)
        return;
    (void)kill(site->processes[sleeper].pid, SIGSTOP);
    site->sleeping = sleeper;
}

static void end_all(struct site *site)
{
    wake(site);
    for (int i = 0; i < PROCESSES; i++)
        (void)kill(site->processes[i].pid, SIGTERM);
    for (int i = 0; i < PROCESSES; i++)
        CHECK_EQ(run_end(&site->processes[i]).code, 0, "told to end, it exits with 0");
}

/* Leases of the dead have to end first. */
static void drain(const char *store)
{
    struct run run = { .code = 3 };

    for (int i = 0; i < TRIES_MAX && run.code == 3; i++) {
        run = RUN("patra", "publish", "--once", "--store", store);
        if (run.code == 0)
            run = RUN("patra", "consume", "--once", "--store", store);
        (void)usleep(20000);
    }
    if (run.code != 0)
        test_note("%.*s", STR_ARG(run.talk));
    CHECK_EQ(run.code, 0, "nothing is left");
}

static void judge(const char *store)
{
    stream_sql_check(store);
    CHECK(sql_number(store, EVENTS) > 200, "there is something");
    CHECK_EQ(sql_number(store, "SELECT sum(stream_pos) FROM ing_offset"), sql_number(store, EVENTS),
             "all passed");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM item"),
             sql_number(store, "SELECT count(*) FROM ing_record"), "a row per record");
    CHECK_EQ(sql_number(store, DIFFERENT), 0, "as it is");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_parked"), 0, "nothing waits");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_dead_letter"), 0, "nothing was given up");
}

static void live_and_die(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "6000");
    struct site site = { .store = store, .random = { 7 }, .sleeping = -1 };
    const int kills = kills_wanted();

    sim_source_apply(store, &sim, "rate.burst=100");
    add_projection(store);
    for (int i = 0; i < PROCESSES; i++)
        start(&site, i);
    for (int i = 0; i < kills; i++) {
        if (i % 2 == 0)
            harvest_day(&site);
        strike(&site);
    }
    end_all(&site);
    drain(store);
    judge(store);
    test_note("%d kills, %lld events", kills, (long long)sql_number(store, EVENTS));
    sim_stop(&sim);
}

TEST(whoever_dies_rows_equal_records_on_sqlite)
{
    live_and_die(cli_sqlite("kills"));
}

TEST(whoever_dies_rows_equal_records_on_postgres)
{
    live_and_die(cli_postgres());
}
