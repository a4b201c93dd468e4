/* Processes that die, and the two kinds that several tests have. */
#include "kill_site.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "contract.h"
#include "port/store_record.h"
#include "rows.h"

enum { BATCH_MAX = 24, HOT_KEYS = 50, STORE_IS_AWAY = 3, PAUSE_MS_MAX = 6 };

void kill_site_sleep(int64_t ms)
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
static size_t choose(struct random *random, struct arena *arena, int keys,
                     struct str ids[BATCH_MAX])
{
    const size_t wanted = (size_t)random_between(random, 1, BATCH_MAX + 1);
    size_t count = 0;

    for (size_t i = 0; i < wanted; i++) {
        const int64_t most = random_chance(random, 30) ? HOT_KEYS : keys;

        ids[i] = arena_printf(arena, "k%05d", (int)random_between(random, 0, most));
    }
    qsort(ids, wanted, sizeof(ids[0]), by_name);
    for (size_t i = 0; i < wanted; i++) {
        if (count == 0 || !str_eq(ids[count - 1], ids[i]))
            ids[count++] = ids[i];
    }
    return count;
}

/* One transaction, which may lose a race: then it rolls back, as an executor does. */
static bool write_once(struct store *store, struct random *random, int keys, struct error *err)
{
    const struct record_context context = { .source = STR("crossref"),
                                            .endpoint = STR("works"),
                                            .expr_hash = STR(HASH_A),
                                            .now_us = NOW_US };
    struct record_write writes[BATCH_MAX];
    struct record_state states[BATCH_MAX];
    struct str ids[BATCH_MAX];
    const size_t count = choose(random, contract_arena(), keys, ids);
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
        kill_site_sleep(random_between(random, 0, 60)); /* open for a while, its ids drawn */
    if (written && !random_chance(random, 10))
        return store_commit(store, err);
    store_rollback(store);
    return true;
}

struct store *kill_site_store(const char *dsn)
{
    const struct store_options options = { .busy_timeout_us = 10 * US_PER_SECOND };
    struct error err = { 0 };
    struct store *store;

    while (!store_open(str_of(dsn), &options, &store, &err)) {
        if (err.level != ERROR_TRANSIENT)
            _exit(6);
        kill_site_sleep(50);
    }
    return store;
}

void kill_site_write_slowly(const char *dsn, int keys, int pause_ms_max, uint64_t seed)
{
    struct store *store = kill_site_store(dsn);
    struct random random = { seed };

    for (;;) {
        struct error err = { 0 };

        arena_reset(contract_arena());
        if (!write_once(store, &random, keys, &err)) {
            if (err.level != ERROR_TRANSIENT) {
                (void)fprintf(stderr, "writer: %s\n", err.text);
                _exit(4);
            }
            if (store_error_is_lost(&err))
                (void)!store_reconnect(store, &err);
        }
        kill_site_sleep(random_between(&random, 0, pause_ms_max));
    }
}

void kill_site_write(const char *dsn, int keys, uint64_t seed)
{
    kill_site_write_slowly(dsn, keys, PAUSE_MS_MAX, seed);
}

/* ---- patra ---- */

static void program_path(char path[4096])
{
    const char *build = getenv("PATRA_BUILD");

    (void)snprintf(path, 4096, "%s/patra", build != NULL ? build : "build");
}

/* SIGTERM waits until the program takes it: one that is told to end before it has begun ends as it
 * would later. */
void kill_site_become(const char *const *arguments)
{
    char program[4096];
    sigset_t signals;

    program_path(program);
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    (void)execv(program, (char *const *)(uintptr_t)arguments);
    _exit(127);
}

/* ---- a publisher ---- */

static void run_publish(const char *dsn, const char *only)
{
    char program[4096];

    program_path(program);
    (void)execl(program, program, "publish", "--lease", "400ms", "--store", dsn,
                only != NULL ? "--only" : (char *)NULL, only, (char *)NULL);
    _exit(127);
}

/* As a service manager does: one that finds the server gone when it begins is started again. */
void kill_site_publish(const char *dsn, const char *only)
{
    int status = 0;

    do {
        const pid_t pid = fork();

        if (pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            run_publish(dsn, only);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            _exit(126);
    } while (WIFEXITED(status) && WEXITSTATUS(status) == STORE_IS_AWAY);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 125);
}

/* ---- processes ---- */

static void log_to_file(void)
{
    char path[4096];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/processes.log", test_folder());
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(127);
}

static pid_t start(struct kill_site *site, int number)
{
    const uint64_t seed = ++site->starts;
    const pid_t pid = fork();

    REQUIRE(pid >= 0, "fork");
    (void)setpgid(pid, pid); /* here and there: whoever is first. A group, with what it starts */
    if (pid > 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* none outlives the test */
    log_to_file();
    site->run(site->dsn, number, seed);
    _exit(127);
}

static int end_by(pid_t pid, int signal)
{
    int status;

    (void)kill(-pid, signal);
    while (waitpid(pid, &status, 0) < 0)
        REQUIRE(errno == EINTR, "wait");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void kill_site_begin(struct kill_site *site)
{
    REQUIRE(site->processes <= KILL_SITE_MAX, "processes");
    (void)test_folder(); /* before they begin: it is theirs, too */
    for (int i = 0; i < site->processes; i++)
        site->pids[i] = start(site, i);
}

/* One that sleeps keeps its session; when it wakes, its leases are somebody else's. */
void kill_site_disturb(struct kill_site *site)
{
    const int i = (int)random_between(&site->random, 0, site->processes);

    if (i >= site->writers && !site->is_asleep[i] && random_chance(&site->random, 30)) {
        (void)kill(-site->pids[i], SIGSTOP);
        site->is_asleep[i] = true;
        site->sleeps++;
        return;
    }
    if (site->is_asleep[i]) {
        (void)kill(-site->pids[i], SIGCONT);
        site->is_asleep[i] = false;
        return;
    }
    CHECK_EQ(end_by(site->pids[i], SIGKILL), 128 + SIGKILL, "it was alive until then");
    site->kills[i]++;
    site->pids[i] = start(site, i);
}

int kill_site_kills(const struct kill_site *site)
{
    return (int)site->starts - site->processes;
}

void kill_site_end(struct kill_site *site)
{
    for (int i = 0; i < site->processes; i++)
        (void)end_by(site->pids[i], SIGKILL);
}

void kill_site_finish(struct kill_site *site)
{
    for (int i = site->writers; i < site->processes; i++)
        (void)kill(-site->pids[i], SIGCONT);
    for (int i = 0; i < site->writers; i++)
        (void)end_by(site->pids[i], SIGKILL);
    for (int i = site->writers; i < site->processes; i++)
        CHECK_EQ(end_by(site->pids[i], SIGTERM), 0, "told to end, it exits with 0");
}

int kill_site_wanted(int otherwise)
{
    const char *asked = getenv("PATRA_KILLS");

    return asked != NULL && *asked != '\0' ? atoi(asked) : otherwise;
}
