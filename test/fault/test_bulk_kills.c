/* A file of records whose reader dies. patra reads a file of patra-sim (a copy of its whole world)
 * and is killed (SIGKILL) at any moment: while it downloads, skips what it has, parses or commits.
 * Afterwards, left alone once:
 *
 *      patra-sim verify   nothing missing, extra, stale, wrong
 *      records            one version and one event each
 *      batches            each line of the file in one committed batch
 *      memory             the peak of every process, whatever the size of the file
 *
 * PATRA_BULK_RECORDS and PATRA_BULK_KILLS say how many; the suite makes do with fewer.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
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

enum { RECORDS = TEST_IS_SLOW ? 1500 : 6000, KILLS = TEST_IS_SLOW ? 4 : 10, BATCH = 250 };
enum { WAIT_MS_MAX = 600000, WAIT_STEP_MS = 2, SQL_STEP_MS = 5, STUCK_MS = 60000 };
enum { RSS_KIB_MAX = 64 << 10 };

static const char SOURCE[] = "test/data/sim-sources/generic-bulk.yaml";

struct site {
    const char *dsn;
    const char *path;
    struct sim sim;
    struct random random;
    int64_t records; /* in the file, about */
    int kills;
    int early; /* of which before the process committed anything */
    int64_t rss_kib;
};

static int64_t number_of(const char *name, int64_t preset)
{
    const char *text = getenv(name);

    return text != NULL ? atoll(text) : preset;
}

/* ---- processes ---- */

static void sleep_ms(int64_t ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

    (void)nanosleep(&time, NULL);
}

static pid_t work(const struct site *site)
{
    const char *build = getenv("PATRA_BUILD");
    char program[4096], log[4096];
    pid_t pid;

    (void)snprintf(program, sizeof(program), "%s/patra", build != NULL ? build : "build");
    (void)snprintf(log, sizeof(log), "%s/processes.log", test_folder());
    pid = fork();
    REQUIRE(pid >= 0, "fork");
    if (pid == 0) {
        const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);

        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(127);
        (void)execl(program, "patra", "work", "--drain", "--workers", "1", "--lease", "1s",
                    "--store", site->dsn, (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* Whether it has ended; *code is its exit code then, or 128 + the signal that ended it. */
static bool has_ended(struct site *site, pid_t pid, int *code)
{
    struct rusage usage;
    int status;
    const pid_t ended = wait4(pid, &status, WNOHANG, &usage);

    REQUIRE(ended >= 0 || errno == EINTR, "wait");
    if (ended != pid)
        return false;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (usage.ru_maxrss > site->rss_kib)
        site->rss_kib = usage.ru_maxrss;
    return true;
}

static int wait_for(struct site *site, pid_t pid)
{
    int code = -1;

    for (int ms = 0; ms < WAIT_MS_MAX; ms += WAIT_STEP_MS) {
        if (has_ended(site, pid, &code))
            return code;
        sleep_ms(WAIT_STEP_MS);
    }
    (void)kill(pid, SIGKILL);
    while (!has_ended(site, pid, &code))
        sleep_ms(WAIT_STEP_MS);
    CHECK(false, "a process did not end by itself");
    return code;
}

/* ---- the site ---- */

static void begin(struct site *site, const char *dsn, const char *path, const char *fault)
{
    char records[32], base_url[128], dump[256];
    const char *options[] = { "--records", records, "--gzip", "0", "--fault", fault, NULL };
    struct run run;

    *site = (struct site){ .dsn = dsn,
                           .path = path,
                           .random = { 1 },
                           .records = number_of("PATRA_BULK_RECORDS", RECORDS) };
    (void)snprintf(records, sizeof(records), "%" PRId64, site->records);
    REQUIRE(sim_start(&site->sim, options), "patra-sim starts");
    (void)snprintf(base_url, sizeof(base_url), "http.base_url=%s", site->sim.base);
    (void)snprintf(dump, sizeof(dump), "endpoints.dump.path=%s", path);
    run = RUN("patra", "init", "--store", dsn);
    REQUIRE(run.code == 0, run.talk.data);
    run = RUN("patra", "source", "apply", SOURCE, "--store", dsn, "--set", base_url, "--set", dump);
    REQUIRE(run.code == 0, run.talk.data);
    run = RUN("patra", "trigger", "generic-bulk", "load", "--store", dsn);
    REQUIRE(run.code == 0, run.talk.data);
}

static int64_t batches(const struct site *site)
{
    return sql_number(site->dsn, "SELECT count(*) FROM ing_task_run_batch"
                                 " WHERE status_code = 'SUCCEEDED'");
}

static bool is_done(const struct site *site)
{
    return sql_number(site->dsn,
                      "SELECT count(*) FROM ing_task"
                      " WHERE status_code IN ('QUEUED', 'DISPATCHED', 'EXECUTING')") == 0;
}

/* Until the process has committed so many batches, has ended, or nothing happens. */
static void await_batches(struct site *site, pid_t pid, int64_t wanted)
{
    for (int ms = 0; ms < STUCK_MS && batches(site) < wanted; ms += SQL_STEP_MS) {
        if (kill(pid, 0) != 0 || is_done(site))
            return;
        sleep_ms(SQL_STEP_MS);
    }
}

/* A process lives for a few batches, or dies before its first. */
static void kill_once(struct site *site, int left)
{
    const int64_t before = batches(site);
    const int64_t rest = site->records / BATCH - before;
    const int64_t most = rest > left ? 2 * rest / (left + 1) : 1;
    const pid_t pid = work(site);

    if (random_chance(&site->random, 25))
        sleep_ms(random_between(&site->random, 0, 1500));
    else {
        await_batches(site, pid, before + 1 + random_between(&site->random, 0, most));
        sleep_ms(random_between(&site->random, 0, 12));
    }
    (void)kill(pid, SIGKILL);
    site->kills += wait_for(site, pid) == 128 + SIGKILL;
    site->early += batches(site) == before;
}

static void check_truth(struct site *site)
{
    struct run run = RUN("patra-sim", "verify", "--store", site->dsn, "--protocol", "generic",
                         "--source", "generic-bulk", "--from", "2026-01-01T00:00:00Z", "--to",
                         "2026-04-01T00:00:00Z", "--url", site->sim.base);
    const int64_t records = sql_number(site->dsn, "SELECT count(*) FROM ing_record");

    CHECK_EQ(run.code, 0, run.out.data);
    CHECK(records > site->records * 99 / 100,
          "nearly all: a few appear after the end of the world");
    CHECK_EQ(sql_number(site->dsn, "SELECT count(*) FROM ing_task WHERE status_code = 'SUCCEEDED'"),
             1, "the task is done");
    CHECK_EQ(sql_number(site->dsn, "SELECT count(*) FROM ing_record WHERE version <> 1"), 0,
             "one version of each record");
    CHECK_EQ(sql_number(site->dsn, "SELECT count(*) FROM ing_outbox"), records, "one event each");
    CHECK_EQ(sql_number(site->dsn, "SELECT count(*) FROM ing_record WHERE endpoint_name <>"
                                   " 'records'"),
             0, "they are those of the list");
}

static void kill_and_check(const char *dsn, const char *path, const char *fault)
{
    const int kills = (int)number_of("PATRA_BULK_KILLS", KILLS);
    struct site site;
    int64_t lines;

    begin(&site, dsn, path, fault);
    for (int tries = 0; site.kills < kills && tries < 4 * kills && !is_done(&site); tries++)
        kill_once(&site, kills - site.kills);
    for (int i = 0; i < 20 && !is_done(&site); i++)
        CHECK_EQ(wait_for(&site, work(&site)), 0, "an undisturbed worker");
    lines = sql_number(site.dsn, str_starts(str_of(site.dsn), STR("postgres"))
                                     ? "SELECT sum((stats::json->>'itemsCount')::bigint)::bigint"
                                       " FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED'"
                                     : "SELECT sum(json_extract(stats, '$.itemsCount'))"
                                       " FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED'");
    test_note("%s: %" PRId64 " lines, %d kills (%d before a commit), %" PRId64
              " runs, peak RSS %" PRId64 " KiB",
              path, lines, site.kills, site.early,
              sql_number(dsn, "SELECT count(*) FROM ing_task_run"), site.rss_kib);
    check_truth(&site);
    CHECK_EQ(lines, sql_number(dsn, "SELECT count(*) FROM ing_record"), "each line in one batch");
    CHECK(site.kills >= kills / 2, "it was killed while it worked");
    if (!TEST_IS_SLOW)
        CHECK(site.rss_kib <= RSS_KIB_MAX, "constant memory");
    sim_stop(&site.sim);
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

#define NO_FAULT "nth=1000000 kind=empty"

TEST(a_packed_file_is_read_whole_and_once_by_processes_that_die)
{
    kill_and_check(sqlite_dsn("packed"), "/generic/bulk/records.ndjson.gz", NO_FAULT);
}

TEST(a_plain_file_is_read_on_by_its_rest)
{
    kill_and_check(sqlite_dsn("plain"), "/generic/bulk/records.ndjson", NO_FAULT);
}

/* Half of the responses break off in the middle, too. */
TEST(a_plain_file_that_breaks_off_is_read_whole_and_once)
{
    kill_and_check(sqlite_dsn("breaks"), "/generic/bulk/records.ndjson",
                   "path=/generic/bulk rate=0.5 kind=reset at=mid keep=40");
}

TEST(a_packed_file_is_read_whole_and_once_on_postgresql)
{
    kill_and_check(postgres_dsn(), "/generic/bulk/records.ndjson.gz", NO_FAULT);
}
