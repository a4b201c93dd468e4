/* Everything at once: several sources of different kinds, several processes, and by chance all that
 * can happen to them (disturb.h); then rest, and what the store holds must be true (oracle.h).
 *
 * Tests of one thing at a time are elsewhere: faults in integration/matrix, deaths in fault/, rates
 * in integration/politeness. Here is what comes of mixtures.
 *
 * Processes are real and so is time: a seed gives the same disturbances in the same order, not the
 * same interleaving, and a failure may need to be repeated a few times. PATRA_TORTURES says how
 * many histories there are per store; with PATRA_TORTURE_FOLDER the log of all processes, and
 * SQLite's files, stay there (for PostgreSQL, name a server of your own by PATRA_TEST_POSTGRES).
 */
#include <stdio.h>
#include <stdlib.h>

#include "disturb.h"
#include "oracle.h"
#include "postgres.h"
#include "sql.h"
#include "test.h"

enum { HISTORIES = TEST_IS_SLOW ? 1 : 2, DISTURBANCES = 120 };

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
    test_note("%d sources, %d kills, %d stops, %d faults, %lld runs, %lld records, %lld events",
              site.source_count, site.kills, site.stops, site.faults,
              (long long)sql_number(dsn, "SELECT count(*) FROM ing_task_run"),
              (long long)sql_number(dsn, "SELECT count(*) FROM ing_record"),
              (long long)sql_number(dsn, "SELECT count(*) FROM ing_outbox"));
    site_end(&site);
    if (test_failures() > before)
        test_note("PATRA_SEED=%llu repeats it", (unsigned long long)seed);
}

static void torture(const char *(*new_store)(uint64_t seed))
{
    const char *asked = getenv("PATRA_TORTURES");
    const struct random_seeds seeds =
        random_seeds(asked != NULL ? strtoull(asked, NULL, 10) : HISTORIES);

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++)
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
