/* Everything at once: several sources of different kinds, several processes, and by chance all that
 * can happen to them (disturb.h); then rest, and what the store holds must be true (oracle.h).
 *
 * Tests of one thing at a time are elsewhere: faults in integration/matrix, deaths in fault/, rates
 * in integration/politeness. Here is what comes of mixtures.
 *
 * Processes are real and so is time: a seed gives the same disturbances in the same order, not the
 * same interleaving, and a failure may need to be repeated a few times.
 *
 *      PATRA_TORTURES=200                      so many histories per store, from seed 1 on
 *      PATRA_SEED=101 PATRA_TORTURES=100       from another seed on; without a number, that one
 *      PATRA_TORTURE_FOLDER=DIR                of a history that fails, and while it plays, the log
 *                                              of its processes and SQLite's files are there; at
 *                                              its end a dump of PostgreSQL's store, too
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "disturb.h"
#include "oracle.h"
#include "postgres.h"
#include "run.h"
#include "sql.h"
#include "test.h"

enum { HISTORIES = TEST_IS_SLOW ? 1 : 2, DISTURBANCES = 120 };

static void dump_store(const struct site *site)
{
    char path[SITE_PATH_MAX + 32];

    (void)snprintf(path, sizeof(path), "%s/postgres%llu.sql", site_folder(),
                   (unsigned long long)site->seed);
    if (site->is_postgres && getenv("PATRA_TORTURE_FOLDER") != NULL)
        (void)RUN("/usr/bin/pg_dump", "--file", path, site->dsn);
}

static void remove_files(const struct site *site)
{
    static const char *const files[] = { "", "-wal", "-shm" };
    char path[SITE_PATH_MAX];

    (void)unlink(site->log);
    for (size_t i = 0; i < ARRAY_LEN(files) && !site->is_postgres; i++) {
        (void)snprintf(path, sizeof(path), "%s%s", site->dsn, files[i]);
        (void)unlink(path);
    }
}

static void play(const char *dsn, uint64_t seed)
{
    const size_t before = test_failures();
    struct site site;
    bool with_spoilt;

    site_begin(&site, dsn, seed);
    with_spoilt = random_chance(&site.random, 30);
    for (int i = 0; i < DISTURBANCES; i++)
        disturb(&site, with_spoilt);
    calm(&site);
    come_to_rest(&site, with_spoilt);
    check_site(&site);
    test_note("seed %llu: %d sources, %d kills, %d stops, %d faults, %lld runs, %lld records, %lld "
              "events",
              (unsigned long long)seed, site.source_count, site.kills, site.stops, site.faults,
              (long long)sql_number(dsn, "SELECT count(*) FROM ing_task_run"),
              (long long)sql_number(dsn, "SELECT count(*) FROM ing_record"),
              (long long)sql_number(dsn, "SELECT count(*) FROM ing_outbox"));
    test_note("%d jumps of the clock, %d dead holders, %d backups restored, %d times a standby, %d"
              " silences",
              site.strikes.jumps, site.strikes.holders, site.strikes.replaced, site.strikes.standby,
              site.strikes.silent);
    site_end(&site);
    if (test_failures() > before) {
        test_note("PATRA_SEED=%llu repeats it", (unsigned long long)seed);
        dump_store(&site);
    } else
        remove_files(&site);
}

static void torture(const char *(*new_store)(uint64_t seed))
{
    const char *asked = getenv("PATRA_TORTURES");
    const uint64_t count = asked != NULL ? strtoull(asked, NULL, 10) : HISTORIES;
    const struct random_seeds seeds = random_seeds(count);
    const uint64_t to = asked != NULL ? seeds.from + count : seeds.to;

    for (uint64_t seed = seeds.from; seed < to; seed++)
        play(new_store(seed), seed);
}

static const char *new_sqlite(uint64_t seed)
{
    static char path[4096];

    (void)snprintf(path, sizeof(path), "%s/torture%llu.db", site_folder(),
                   (unsigned long long)seed);
    return path;
}

static const char *new_postgres(uint64_t seed)
{
    struct error err = { 0 };
    const char *dsn = postgres_new_database(&err);

    (void)seed;
    if (dsn == NULL && err.level == ERROR_NONE)
        TEST_SKIP("PostgreSQL is not installed");
    REQUIRE(dsn != NULL, err.text);
    return dsn;
}

TEST(everything_at_once_on_sqlite)
{
    torture(new_sqlite);
}

TEST(everything_at_once_on_postgresql)
{
    torture(new_postgres);
}
