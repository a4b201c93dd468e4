/* Publishers and writers that die. Three processes write records, some transactions roll back, some
 * stay open for a while; two processes publish with a lease of 400 ms. All of them are killed
 * (SIGKILL) at any moment and started again; publishers are also put to sleep (SIGSTOP) for longer
 * than the lease, and wake up to find that another one is at work. Afterwards, left alone once, the
 * stream must have each event once, without gaps, the events of a record in order
 * (test/support/stream_sql.h).
 *
 * PATRA_KILLS says how many kills per store.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "contract.h"
#include "port/store_record.h"
#include "random.h"
#include "rows.h"
#include "sql.h"
#include "stream_sql.h"

enum { KILLS = TEST_IS_SLOW ? 20 : 120, WRITERS = 3, PUBLISHERS = 2, PROCESSES = 5, KEYS = 60 };
enum { BATCH_MAX = 12, DRAIN_TRIES = 40 };

static void sleep_ms(int64_t ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

    (void)nanosleep(&time, NULL);
}

/* ---- a writer ---- */

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int in_order(const void *a, const void *b)
{
    const struct record_write *left = a, *right = b;

    if ((left->id == 0) != (right->id == 0))
        return left->id == 0 ? -1 : 1;
    if (left->id == 0)
        return str_cmp(left->provider_id, right->provider_id);
    return (left->id > right->id) - (left->id < right->id);
}

/* Some different keys. */
static size_t choose(struct random *random, struct arena *arena, struct str ids[BATCH_MAX])
{
    const size_t wanted = (size_t)random_between(random, 1, BATCH_MAX + 1);
    size_t count = 0;

    for (size_t i = 0; i < wanted; i++)
        ids[i] = arena_printf(arena, "k%03d", (int)random_between(random, 0, KEYS));
    qsort(ids, wanted, sizeof(ids[0]), by_name);
    for (size_t i = 0; i < wanted; i++) {
        if (count == 0 || !str_eq(ids[count - 1], ids[i]))
            ids[count++] = ids[i];
    }
    return count;
}

/* One transaction, which may lose a race: then it rolls back, as an executor does. */
static bool write_once(struct store *store, struct random *random, struct error *err)
{
    const struct record_context context = { .source = STR("crossref"),
                                            .endpoint = STR("works"),
                                            .expr_hash = STR(HASH_A),
                                            .now_us = NOW_US };
    struct record_write writes[BATCH_MAX];
    struct record_state states[BATCH_MAX];
    struct str ids[BATCH_MAX];
    const size_t count = choose(random, contract_arena(), ids);
    bool written = false;

    if (!store_record_check(store, contract_arena(), &context, (struct record_ids){ ids, count },
                            states, err) ||
        !store_begin(store, err))
        return false;
    for (size_t i = 0; i < count; i++)
        writes[i] = (struct record_write){ .id = states[i].id,
                                           .version = states[i].version + 1,
                                           .provider_id = ids[i],
                                           .content_hash = STR(HASH_B),
                                           .payload = STR("x") };
    qsort(writes, count, sizeof(writes[0]), in_order);
    if (!rows_write(store, &context, writes, count, &written, err)) {
        store_rollback(store);
        return false;
    }
    if (random_chance(random, 5))
        sleep_ms(random_between(random, 0, 60)); /* open for a while, its ids drawn */
    if (written && !random_chance(random, 10))
        return store_commit(store, err);
    store_rollback(store);
    return true;
}

/* Never returns: it is killed. */
static void write_for_ever(const char *dsn, uint64_t seed)
{
    struct random random = { seed };
    struct error err = { 0 };
    struct store *store;

    if (!store_open(str_of(dsn), &(struct store_options){ .busy_timeout_us = 10 * US_PER_SECOND },
                    &store, &err))
        _exit(3);
    for (;;) {
        arena_reset(contract_arena());
        if (!write_once(store, &random, &err) && err.level != ERROR_TRANSIENT) {
            (void)fprintf(stderr, "writer: %s\n", err.text);
            _exit(4);
        }
        sleep_ms(random_between(&random, 0, 4));
    }
}

/* ---- processes ---- */

struct site {
    const char *dsn;
    struct random random;
    pid_t pids[PROCESSES]; /* the writers first */
    bool is_asleep[PROCESSES];
    uint64_t starts;
};

static void log_to_file(void)
{
    char path[4096];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/processes.log", test_folder());
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(127);
}

static pid_t start(struct site *site, int i)
{
    const char *build = getenv("PATRA_BUILD");
    const uint64_t seed = ++site->starts;
    char program[4096];
    pid_t pid;

    (void)snprintf(program, sizeof(program), "%s/patra", build != NULL ? build : "build");
    pid = fork();
    REQUIRE(pid >= 0, "fork");
    if (pid > 0)
        return pid;
    log_to_file();
    if (i < WRITERS)
        write_for_ever(site->dsn, seed);
    (void)execl(program, program, "publish", "--lease", "400ms", "--store", site->dsn,
                (char *)NULL);
    _exit(127);
}

static int end_by(pid_t pid, int signal)
{
    int status;

    (void)kill(pid, signal);
    while (waitpid(pid, &status, 0) < 0)
        REQUIRE(errno == EINTR, "wait");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A publisher that sleeps keeps its session; when it wakes, its lease is somebody else's. */
static void disturb(struct site *site)
{
    const int i = (int)random_between(&site->random, 0, PROCESSES);

    if (i >= WRITERS && !site->is_asleep[i] && random_chance(&site->random, 30)) {
        (void)kill(site->pids[i], SIGSTOP);
        site->is_asleep[i] = true;
        return;
    }
    if (site->is_asleep[i]) {
        (void)kill(site->pids[i], SIGCONT);
        site->is_asleep[i] = false;
        return;
    }
    CHECK_EQ(end_by(site->pids[i], SIGKILL), 128 + SIGKILL, "it was alive until then");
    site->pids[i] = start(site, i);
}

/* The last lease may still be there for a moment. */
static void drain(struct site *site)
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
            sleep_ms(50);
    }
    CHECK_EQ(code, 0, "an undisturbed publisher");
}

static int kills_wanted(void)
{
    const char *asked = getenv("PATRA_KILLS");

    return asked != NULL && *asked != '\0' ? atoi(asked) : KILLS;
}

TEST(publishers_and_writers_that_are_killed_lose_nothing_and_repeat_nothing)
{
    const int wanted = kills_wanted();
    struct site site = { .dsn = contract_migrated(contract_new_database()), .random = { 7 } };
    uint64_t kills;

    for (int i = 0; i < PROCESSES; i++)
        site.pids[i] = start(&site, i);
    while ((kills = site.starts - PROCESSES) < (uint64_t)wanted) {
        sleep_ms(random_between(&site.random, 5, 120));
        disturb(&site);
    }
    for (int i = 0; i < PROCESSES; i++)
        (void)end_by(site.pids[i], SIGKILL);
    drain(&site);
    stream_sql_check(site.dsn);
    CHECK(sql_number(site.dsn, "SELECT count(*) FROM ing_outbox") > wanted, "there was work");
    CHECK(sql_number(site.dsn, "SELECT lease_epoch FROM ing_stream_head") > wanted / 20,
          "publishers took over from each other");
    test_note("%llu kills, %lld events, %lld takeovers", (unsigned long long)kills,
              (long long)sql_number(site.dsn, "SELECT count(*) FROM ing_outbox"),
              (long long)sql_number(site.dsn, "SELECT lease_epoch FROM ing_stream_head"));
    contract_end();
}
