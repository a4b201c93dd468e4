/* Processes that die. patra works against patra-sim while it is killed (SIGKILL) at any moment, in
 * planners and executors, one process on SQLite and four on PostgreSQL; put to sleep for longer
 * than its lease (SIGSTOP); or loses its PostgreSQL. Afterwards, left alone once, the store must
 * equal the simulator's truth:
 *
 *      patra-sim verify       nothing missing, extra, stale, wrong
 *      patra cursor verify    replay(events) is the value
 *      outbox                 one event per version of each record
 *      batches                none twice: no page of a task was committed a second time
 *
 * PATRA_KILLS says how many kills per store; the sanitized build, whose processes start slowly,
 * makes do with fewer.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "child.h"
#include "postgres.h"
#include "random.h"
#include "run.h"
#include "sql.h"
#include "test.h"

enum { KILLS = TEST_IS_SLOW ? 30 : 250, WORKERS_MAX = 4, DAYS = 40 };
enum { WAIT_MS_MAX = 240000, WAIT_STEP_MS = 2 };

static const char SOURCE[] = "test/data/sim-sources/generic-offset.yaml";

struct site {
    const char *dsn;
    struct sim sim;
    struct random random;
    pid_t workers[WORKERS_MAX];
    int worker_count;
    int kills;
    int day; /* up to which is planned */
};

/* ---- processes ---- */

static pid_t spawn(const char *const *argv)
{
    const char *build = getenv("PATRA_BUILD");
    char program[4096], log[4096];
    pid_t pid;

    (void)snprintf(program, sizeof(program), "%s/%s", build != NULL ? build : "build", argv[0]);
    (void)snprintf(log, sizeof(log), "%s/processes.log", test_folder());
    pid = fork();
    REQUIRE(pid >= 0, "fork");
    if (pid == 0) {
        const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);

        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(127);
        (void)execv(program, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    return pid;
}

#define SPAWN(...) spawn((const char *const[]){ __VA_ARGS__, NULL })

static void sleep_ms(int64_t ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

    (void)nanosleep(&time, NULL);
}

/* Whether it has ended; *code is its exit code then, or 128 + the signal that ended it. */
static bool has_ended(pid_t pid, int *code)
{
    int status;
    const pid_t ended = waitpid(pid, &status, WNOHANG);

    REQUIRE(ended >= 0 || errno == EINTR, "wait");
    if (ended != pid)
        return false;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

/* A process that does not end is a failure of the test, not of whoever runs it. */
static int wait_for(pid_t pid)
{
    int code = -1;

    for (int ms = 0; ms < WAIT_MS_MAX; ms += WAIT_STEP_MS) {
        if (has_ended(pid, &code))
            return code;
        sleep_ms(WAIT_STEP_MS);
    }
    (void)kill(pid, SIGKILL);
    while (!has_ended(pid, &code))
        sleep_ms(WAIT_STEP_MS);
    CHECK(false, "a process did not end by itself");
    return code;
}

/* ---- the site ---- */

static void begin(struct site *site, const char *dsn, int worker_count, const char *rate)
{
    static const char *const options[] = { "--records", "12000", "--audit-off", "repeat", NULL };
    char base_url[128];
    struct run run;

    *site = (struct site){ .dsn = dsn, .random = { 1 }, .worker_count = worker_count };
    REQUIRE(sim_start(&site->sim, options), "patra-sim starts");
    (void)snprintf(base_url, sizeof(base_url), "http.base_url=%s", site->sim.base);
    run = RUN("patra", "init", "--store", dsn);
    REQUIRE(run.code == 0, run.talk.data);
    run = RUN("patra", "source", "apply", SOURCE, "--store", dsn, "--set", base_url, "--set",
              "window.start=2026-01-01T00:00:00Z", "--set", "window.lookback=0s", "--set",
              "endpoints.records.page.size=20", "--set", rate, "--set", "rate.burst=5");
    REQUIRE(run.code == 0, run.talk.data);
}

static void day_text(int day, char text[32])
{
    (void)snprintf(text, 32, "2026-%02d-%02dT00:00:00Z", day < 31 ? 1 : 2, day % 31 + 1);
}

static pid_t plan(struct site *site, int day)
{
    char to[32];

    day_text(day, to);
    return SPAWN("patra", "trigger", "generic-offset", "harvest", "--to", to, "--store", site->dsn);
}

static pid_t work(struct site *site)
{
    return SPAWN("patra", "work", "--drain", "--workers", "2", "--lease", "1s", "--store",
                 site->dsn);
}

/* Undisturbed: everything is planned, done, and done again where it had failed. */
static void come_to_rest(struct site *site)
{
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(wait_for(plan(site, DAYS)), 0, "an undisturbed trigger");
        CHECK_EQ(wait_for(work(site)), 0, "an undisturbed worker");
    }
}

static void check_truth(struct site *site)
{
    char to[32];
    struct run run;

    day_text(DAYS, to);
    run = RUN("patra-sim", "verify", "--store", site->dsn, "--protocol", "generic", "--source",
              "generic-offset", "--from", "2026-01-01T00:00:00Z", "--to", to, "--url",
              site->sim.base);
    CHECK_EQ(run.code, 0, run.out.data);
    run = RUN("patra", "cursor", "verify", "--store", site->dsn);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK_EQ(sql_number(site->dsn, "SELECT count(*) FROM ing_task WHERE status_code <> 'SUCCEEDED'"
                                   " AND status_code <> 'FAILED' AND status_code <> 'PARTIAL'"),
             0, "nothing is left to do");
    CHECK_EQ(sql_number(site->dsn, "SELECT count(*) FROM ing_record r WHERE r.version <>"
                                   " (SELECT count(*) FROM ing_outbox o WHERE o.record_id = r.id)"),
             0, "one event per version of each record");
    CHECK_EQ(sql_number(site->dsn, "SELECT count(*) FROM (SELECT 1 FROM ing_task_run_batch"
                                   " WHERE status_code = 'SUCCEEDED' AND page_no IS NOT NULL"
                                   " GROUP BY task_id, page_no HAVING count(*) > 1) AS t"),
             0, "no batch twice");
    CHECK_EQ(sql_number(site->dsn, SQL_WRONG_TALLIES), 0, "as many records as are kept count of");
    CHECK(sql_number(site->dsn, "SELECT count(*) FROM ing_record") > 1000, "there was work");
}

static void end(struct site *site)
{
    sim_stop(&site->sim);
}

/* ---- kills ---- */

static void kill_one(struct site *site, pid_t pid)
{
    (void)kill(pid, SIGKILL);
    site->kills += wait_for(pid) == 128 + SIGKILL;
}

/* One of the workers dies, and another takes its place; now and then a planner dies too. */
static void disturb(struct site *site)
{
    const int i = (int)random_between(&site->random, 0, site->worker_count);

    if (site->workers[i] == 0)
        site->workers[i] = work(site);
    sleep_ms(random_between(&site->random, 0, TEST_IS_SLOW ? 600 : 150 / site->worker_count + 30));
    if (random_chance(&site->random, 30)) {
        const pid_t planner = plan(site, site->day);

        sleep_ms(random_between(&site->random, 0, TEST_IS_SLOW ? 300 : 25));
        kill_one(site, planner);
    }
    kill_one(site, site->workers[i]);
    site->workers[i] = work(site);
}

static void kill_and_check(const char *dsn, int worker_count)
{
    const char *asked = getenv("PATRA_KILLS");
    const int kills = asked != NULL ? atoi(asked) : KILLS;
    struct site site;

    begin(&site, dsn, worker_count, "rate.per_second=15");
    while (site.kills < kills) {
        site.day = 10 + site.kills * (DAYS - 10) / kills;
        (void)wait_for(plan(&site, site.day));
        for (int i = 0; i < 5; i++)
            disturb(&site);
    }
    for (int i = 0; i < worker_count; i++) {
        if (site.workers[i] != 0)
            kill_one(&site, site.workers[i]);
    }
    test_note("%d kills, %lld runs, %lld of them left open by a death", site.kills,
              (long long)sql_number(dsn, "SELECT count(*) FROM ing_task_run"),
              (long long)sql_number(dsn, "SELECT count(*) FROM ing_task_run"
                                         " WHERE error = 'its lease ran out'"));
    come_to_rest(&site);
    check_truth(&site);
    end(&site);
}

static const char *sqlite_dsn(const char *name)
{
    static char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%s.db", test_folder(), name);
    return path;
}

static const char *postgres_dsn(void)
{
    struct error err = { 0 };
    const char *dsn = postgres_new_database(&err);

    if (dsn == NULL && err.level == ERROR_NONE)
        TEST_SKIP("PostgreSQL is not installed");
    REQUIRE(dsn != NULL, err.text);
    return dsn;
}

TEST(killed_at_any_moment_on_sqlite_the_store_equals_the_truth)
{
    kill_and_check(sqlite_dsn("kills"), 1);
}

TEST(killed_at_any_moment_by_fours_on_postgresql_the_store_equals_the_truth)
{
    kill_and_check(postgres_dsn(), WORKERS_MAX);
}

/* ---- a zombie ---- */

static int64_t sum_of_all(const char *dsn)
{
    return sql_number(dsn, "SELECT (SELECT count(*) FROM ing_task_run_batch) * 1000000"
                           " + (SELECT sum(version) FROM ing_record)"
                           " + (SELECT count(*) FROM ing_outbox)");
}

TEST(who_sleeps_longer_than_the_lease_commits_nothing)
{
    struct site site;
    int64_t before;
    pid_t zombie;
    int code;

    begin(&site, postgres_dsn(), 1, "rate.per_second=200");
    CHECK_EQ(wait_for(plan(&site, DAYS)), 0, "trigger");
    zombie = SPAWN("patra", "work", "--workers", "2", "--lease", "1s", "--store", site.dsn);
    while (sql_number(site.dsn, "SELECT count(*) FROM ing_task_run_batch") < 5) {
        REQUIRE(!has_ended(zombie, &code), "it works");
        sleep_ms(5);
    }
    REQUIRE(kill(zombie, SIGSTOP) == 0, "stop");
    come_to_rest(&site);
    before = sum_of_all(site.dsn);
    CHECK(sql_number(site.dsn, "SELECT count(*) FROM ing_task_run"
                               " WHERE error = 'its lease ran out'") > 0,
          "it was in the middle of something");
    REQUIRE(kill(zombie, SIGCONT) == 0 && kill(zombie, SIGTERM) == 0, "go on, and end");
    CHECK_EQ(wait_for(zombie), 0, "it ends in order");
    CHECK_EQ(sum_of_all(site.dsn), before, "it has written nothing");
    check_truth(&site);
    end(&site);
}

/* ---- a database that goes away ---- */

static int begun(void)
{
    const struct str line = STR("work begins");
    char log[4096];
    struct str text;
    int count = 0;
    size_t at;

    (void)snprintf(log, sizeof(log), "%s/processes.log", test_folder());
    text = test_read(log);
    while ((at = str_find(text, line)) < text.len) {
        text = (struct str){ text.data + at + line.len, text.len - at - line.len };
        count++;
    }
    return count;
}

TEST(work_goes_on_by_itself_when_postgresql_comes_back)
{
    struct site site;
    struct error err = { 0 };
    int before, code;

    begin(&site, postgres_dsn(), WORKERS_MAX, "rate.per_second=200");
    CHECK_EQ(wait_for(plan(&site, DAYS)), 0, "trigger");
    before = begun();
    for (int i = 0; i < WORKERS_MAX; i++)
        site.workers[i] = work(&site);
    while (begun() < before + WORKERS_MAX) { /* a worker that cannot begin gives up, rightly */
        for (int i = 0; i < WORKERS_MAX; i++)
            REQUIRE(!has_ended(site.workers[i], &code), "it works");
        sleep_ms(20);
    }
    for (int i = 0; i < 3; i++) {
        sleep_ms(300);
        REQUIRE_OK(postgres_stop(&err), err);
        sleep_ms(300);
        REQUIRE_OK(postgres_start(&err), err);
    }
    for (int i = 0; i < WORKERS_MAX; i++)
        CHECK_EQ(wait_for(site.workers[i]), 0, "a worker got over it");
    come_to_rest(&site);
    check_truth(&site);
    end(&site);
}
