/* Publishers and writers that die. Three processes write records, some transactions roll back, some
 * stay open for a while; two processes publish with a lease of 400 ms. All of them are killed
 * (SIGKILL) at any moment and started again; publishers are also put to sleep (SIGSTOP) for longer
 * than the lease, and wake up to find that another one is at work. Afterwards, left alone once, the
 * stream must have each event once, without gaps, the events of a record in order
 * (test/support/stream_sql.h).
 *
 * PATRA_KILLS says how many kills per store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "contract.h"
#include "kill_site.h"
#include "sql.h"
#include "stream_sql.h"

enum { KILLS = TEST_IS_SLOW ? 20 : 120, WRITERS = 3, PROCESSES = 5, KEYS = 60, DRAIN_TRIES = 40 };

static void run(const char *dsn, int number, uint64_t seed)
{
    if (number < WRITERS)
        kill_site_write(dsn, KEYS, seed);
    kill_site_publish(dsn, NULL);
}

/* The last lease may still be there for a moment. */
static void drain(const struct kill_site *site)
{
    char command[4096];
    const char *build = getenv("PATRA_BUILD");
    int code = -1;

    (void)snprintf(command, sizeof(command),
                   "%s/patra publish --once --store '%s' >> %s/drain.log 2>&1",
                   build != NULL ? build : "build", site->dsn, test_folder());
    for (int i = 0; i < DRAIN_TRIES && code != 0; i++) {
        const int status = system(command);

        code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (code != 0)
            kill_site_sleep(50);
    }
    CHECK_EQ(code, 0, "an undisturbed publisher");
}

TEST(publishers_and_writers_that_are_killed_lose_nothing_and_repeat_nothing)
{
    const int wanted = kill_site_wanted(KILLS);
    struct kill_site site = { .dsn = contract_migrated(contract_new_database()),
                              .processes = PROCESSES,
                              .writers = WRITERS,
                              .run = run,
                              .random = { 7 } };

    kill_site_begin(&site);
    while (kill_site_kills(&site) < wanted) {
        kill_site_sleep(random_between(&site.random, 5, 120));
        kill_site_disturb(&site);
    }
    kill_site_end(&site);
    drain(&site);
    stream_sql_check(site.dsn);
    CHECK(sql_number(site.dsn, "SELECT count(*) FROM ing_outbox") > wanted, "there was work");
    CHECK(sql_number(site.dsn, "SELECT lease_epoch FROM ing_stream_head") > wanted / 20,
          "publishers took over from each other");
    test_note("%d kills, %lld events, %lld takeovers", kill_site_kills(&site),
              (long long)sql_number(site.dsn, "SELECT count(*) FROM ing_outbox"),
              (long long)sql_number(site.dsn, "SELECT lease_epoch FROM ing_stream_head"));
    contract_end();
}
