/* How soon the program ends after a signal, in every state that a test can bring it into. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/instant.h"
#include "cli.h"
#include "raw_server.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define FIRST_US (2 * US_PER_SECOND) /* after the first signal */
#define SECOND_US US_PER_SECOND      /* after the second */

/* A machine with other work to do may be late now and then, and is not late every time. */
enum { TRIES = 3 };

static int64_t monotonic_us(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * US_PER_SECOND + at.tv_nsec / 1000;
}

/* ---- states ---- */

enum state {
    WAITS_FOR_PERMIT,
    WAITS_FOR_UPSTREAM, /* which has taken the request, and is silent */
    WAITS_FOR_LOCK,     /* SQLite: another process writes, and does not end */
    WAITS_FOR_DATABASE, /* PostgreSQL: the server is stopped, its connections stay */
    READS_XML,          /* an element with 100,000 attributes, which libxml2 takes a minute for */
    READS_DEEP_JSON,    /* a million lists, one in the other */
    READS_HUGE_JSON,    /* one record of 20 MB */
    IDLE,
};

struct stage {
    const char *store;
    struct sim sim;
    struct raw_server *raw;
    struct arena arena; /* of its pages */
    sqlite3 *lock;
    bool is_stopped;
};

static bool is_postgres(enum state state)
{
    return state == WAITS_FOR_DATABASE;
}

static bool is_poison(enum state state)
{
    return state == READS_XML || state == READS_DEEP_JSON || state == READS_HUGE_JSON;
}

static const char *source_of(enum state state)
{
    return state == READS_XML ? "europepmc-xml" : SIM_SOURCE_NAME;
}

enum { PAGE_BYTES_MOST = 32 << 20, ATTRIBUTES = 100000, LISTS = 1000000, NUMBERS = 2000000 };

static struct str poison(struct arena *arena, enum state state)
{
    struct buf body, page;
    struct error err;

    buf_init(&body, arena, PAGE_BYTES_MOST);
    buf_printf(&body, state == READS_XML ? "<responseWrapper><a" : "{\"total\": 1, \"items\": [");
    for (int i = 0; state == READS_XML && i < ATTRIBUTES; i++)
        buf_printf(&body, " a%d='%d'", i, i);
    for (int i = 0; state == READS_DEEP_JSON && i < LISTS; i++)
        buf_printf(&body, "[");
    if (state == READS_HUGE_JSON)
        buf_printf(&body,
                   "{\"id\": \"r1\", \"updated_at\": \"2026-02-01T00:00:00Z\", \"list\": [0");
    for (int i = 0; state == READS_HUGE_JSON && i < NUMBERS; i++)
        buf_printf(&body, ",%d", 100000000 + i);
    buf_printf(&body, "%s",
               state == READS_XML         ? "/></responseWrapper>"
               : state == READS_HUGE_JSON ? "]}]}"
                                          : "");
    buf_init(&page, arena, PAGE_BYTES_MOST);
    buf_printf(&page, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n",
               state == READS_XML ? "application/xml" : "application/json", buf_str(&body).len);
    buf_add(&page, buf_str(&body));
    REQUIRE_OK(buf_ok(&page, &err), err);
    return buf_str(&page);
}

static void prepare(struct stage *stage, enum state state)
{
    char url[128];

    *stage = (struct stage){ .store = is_postgres(state) ? cli_postgres() : cli_sqlite("react") };
    arena_init(&stage->arena, 4 * (size_t)PAGE_BYTES_MOST);
    if (!is_postgres(state))
        (void)unlink(stage->store);
    stage->sim = SIM_SOURCE_START("--records", "400");
    sim_source_apply(stage->store, &stage->sim,
                     state == WAITS_FOR_PERMIT ? "rate.per_second=0.2" : "rate.per_second=50");
    if (state == WAITS_FOR_UPSTREAM || is_poison(state)) {
        const struct str page = is_poison(state) ? poison(&stage->arena, state) : STR("");

        stage->raw = raw_server_start();
        for (int i = 0; i < 64; i++)
            raw_server_reply(stage->raw, page, is_poison(state) ? RAW_KEEP : RAW_HANG);
        (void)snprintf(url, sizeof(url), "http.base_url=http://127.0.0.1:%d",
                       raw_server_port(stage->raw));
        REQUIRE(RUN("patra", "source", "apply",
                    state == READS_XML ? "test/data/sim-sources/europepmc-xml.yaml"
                                       : "test/data/sim-sources/generic-offset.yaml",
                    "--store", stage->store, "--set", url)
                        .code == 0,
                "apply");
    }
    REQUIRE(RUN("patra", "trigger", source_of(state), SIM_SOURCE_WINDOW, "--set", "rate.burst=1",
                "--store", stage->store)
                    .code == 0,
            "trigger");
}

/* The processes of the server that serve the test's database, but for the one that is asked. */
static void signal_backends(const char *store, int number)
{
    static int64_t pids[64];
    static int count;

    if (number == SIGSTOP) {
        for (count = 0; count < 64; count++) {
            char sql[256];

            (void)snprintf(sql, sizeof(sql),
                           "SELECT coalesce((SELECT pid FROM pg_stat_activity WHERE datname ="
                           " current_database() AND pid <> pg_backend_pid() ORDER BY pid OFFSET %d"
                           " LIMIT 1), 0)",
                           count);
            pids[count] = sql_number(store, sql);
            if (pids[count] == 0)
                break;
        }
    }
    for (int i = 0; i < count; i++)
        (void)kill((pid_t)pids[i], number);
}

static void lock(struct stage *stage)
{
    REQUIRE(sqlite3_open(stage->store, &stage->lock) == SQLITE_OK, "open");
    (void)sqlite3_busy_timeout(stage->lock, 60000);
    REQUIRE(sqlite3_exec(stage->lock, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK, "lock");
}

/* Until it is in the state. A command that takes no tasks only has to have begun. */
static void reach(struct stage *stage, enum state state, const struct running *running,
                  bool takes_tasks)
{
    const int64_t until_us = monotonic_us() + US_PER_MINUTE;

    while (takes_tasks && stage->raw == NULL && monotonic_us() < until_us &&
           sql_number(stage->store, "SELECT count(*) FROM ing_task_run") == 0)
        (void)usleep(20000);
    if (stage->raw != NULL)
        raw_server_await(stage->raw, 1);
    if (!is_poison(state)) /* that one is in it now */
        (void)usleep(takes_tasks ? 300000 : 1500000);
    REQUIRE(kill(running->pid, 0) == 0, "it runs");
    if (state == WAITS_FOR_LOCK)
        lock(stage);
    if (state == WAITS_FOR_DATABASE)
        signal_backends(stage->store, SIGSTOP);
    if (state == WAITS_FOR_LOCK || state == WAITS_FOR_DATABASE)
        (void)usleep(1500000);
}

static void leave(struct stage *stage, enum state state)
{
    if (state == WAITS_FOR_DATABASE)
        signal_backends(stage->store, SIGCONT);
    (void)sqlite3_close(stage->lock);
    raw_server_stop(stage->raw);
    sim_stop(&stage->sim);
    arena_release(&stage->arena);
}

/* ---- one try ---- */

/* How long it takes from the last signal to the end; a minute: it does not end. */
static int64_t end_after(pid_t pid, int signals)
{
    const int64_t from_us = monotonic_us();
    int64_t sent_us = from_us;

    REQUIRE(kill(pid, SIGTERM) == 0, "SIGTERM");
    if (signals > 1) {
        (void)usleep(100000);
        (void)kill(pid, SIGTERM);
        sent_us = monotonic_us();
    }
    while (monotonic_us() - from_us < US_PER_MINUTE) {
        siginfo_t info = { 0 };

        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid)
            return monotonic_us() - sent_us;
        (void)usleep(5000);
    }
    (void)kill(pid, SIGKILL);
    return US_PER_MINUTE;
}

static int64_t try_once(enum state state, const char *command, int signals)
{
    const bool takes_tasks = strcmp(command, "publish") != 0 && strcmp(command, "consume") != 0;
    const bool is_harvest = strcmp(command, "harvest") == 0;
    struct running running;
    struct stage stage;
    int64_t took_us;

    prepare(&stage, state);
    running = is_harvest ? RUN_BEGIN("patra", "harvest", source_of(state), SIM_SOURCE_WINDOW,
                                     "--quiet", "--set", "rate.burst=1", "--store", stage.store)
                         : RUN_BEGIN("patra", command, "--store", stage.store);
    reach(&stage, state, &running, takes_tasks);
    took_us = end_after(running.pid, signals);
    (void)run_end(&running);
    leave(&stage, state);
    return took_us;
}

/* ---- the table ---- */

static const struct {
    const char *label;
    enum state state;
    const char *command;
} rows[] = {
    { "harvest waits for a permit", WAITS_FOR_PERMIT, "harvest" },
    { "work waits for a permit", WAITS_FOR_PERMIT, "work" },
    { "serve waits for a permit", WAITS_FOR_PERMIT, "serve" },
    { "harvest waits for a server", WAITS_FOR_UPSTREAM, "harvest" },
    { "work waits for a server", WAITS_FOR_UPSTREAM, "work" },
    { "serve waits for a server", WAITS_FOR_UPSTREAM, "serve" },
    { "harvest waits for a lock", WAITS_FOR_LOCK, "harvest" },
    { "work waits for a lock", WAITS_FOR_LOCK, "work" },
    { "serve waits for a lock", WAITS_FOR_LOCK, "serve" },
    { "publish waits for a lock", WAITS_FOR_LOCK, "publish" },
    { "consume waits for a lock", WAITS_FOR_LOCK, "consume" },
    { "harvest reads 100,000 attributes", READS_XML, "harvest" },
    { "work reads 100,000 attributes", READS_XML, "work" },
    { "serve reads 100,000 attributes", READS_XML, "serve" },
    { "work reads a million lists in lists", READS_DEEP_JSON, "work" },
    { "serve reads a million lists in lists", READS_DEEP_JSON, "serve" },
    { "harvest reads a record of 20 MB", READS_HUGE_JSON, "harvest" },
    { "work reads a record of 20 MB", READS_HUGE_JSON, "work" },
    { "serve reads a record of 20 MB", READS_HUGE_JSON, "serve" },
    { "harvest waits for a database", WAITS_FOR_DATABASE, "harvest" },
    { "work waits for a database", WAITS_FOR_DATABASE, "work" },
    { "serve waits for a database", WAITS_FOR_DATABASE, "serve" },
    { "publish waits for a database", WAITS_FOR_DATABASE, "publish" },
    { "consume waits for a database", WAITS_FOR_DATABASE, "consume" },
    { "publish has nothing to do", IDLE, "publish" },
    { "consume has nothing to do", IDLE, "consume" },
};

static void check_rows(bool with_postgres, int signals, int64_t limit_us)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t took_us = US_PER_MINUTE;

        if (is_postgres(rows[i].state) != with_postgres)
            continue;
        for (int k = 0; k < TRIES && took_us > limit_us; k++)
            took_us = try_once(rows[i].state, rows[i].command, signals);
        if (took_us > limit_us)
            fprintf(stderr, "  %s: %" PRId64 " ms\n", rows[i].label, took_us / US_PER_MS);
        CHECK(took_us <= limit_us, rows[i].label);
    }
}

TEST(a_signal_is_answered_within_two_seconds_on_sqlite)
{
    check_rows(false, 1, FIRST_US);
}

TEST(a_signal_is_answered_within_two_seconds_on_postgres)
{
    check_rows(true, 1, FIRST_US);
}

TEST(a_second_signal_ends_the_process_within_a_second_on_sqlite)
{
    check_rows(false, 2, SECOND_US);
}

TEST(a_second_signal_ends_the_process_within_a_second_on_postgres)
{
    check_rows(true, 2, SECOND_US);
}
