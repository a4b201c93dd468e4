/* Asks a question of SQLite or PostgreSQL until its test says that it is enough. */
#include "poller.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

struct session {
    sqlite3 *sqlite;
    PGconn *postgres;
};

static int64_t now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static bool open_session(struct session *session, const char *dsn)
{
    *session = (struct session){ 0 };
    if (strncmp(dsn, "postgres", 8) == 0) {
        session->postgres = PQconnectdb(dsn);
        return PQstatus(session->postgres) == CONNECTION_OK;
    }
    return sqlite3_open_v2(dsn, &session->sqlite, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
           sqlite3_busy_timeout(session->sqlite, 10000) == SQLITE_OK;
}

static void close_session(struct session *session)
{
    PQfinish(session->postgres);
    (void)sqlite3_close(session->sqlite);
}

static void ask_postgres(PGconn *db, const char *sql, char *answer, size_t size)
{
    PGresult *result = PQexec(db, sql);

    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0)
        (void)snprintf(answer, size, "%s", PQgetvalue(result, 0, 0));
    else
        (void)snprintf(answer, size, "%s", PQerrorMessage(db));
    PQclear(result);
}

static void ask_sqlite(sqlite3 *db, const char *sql, char *answer, size_t size)
{
    sqlite3_stmt *st = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
        (void)snprintf(answer, size, "%s", (const char *)sqlite3_column_text(st, 0));
    else
        (void)snprintf(answer, size, "%s", sqlite3_errmsg(db));
    (void)sqlite3_finalize(st);
}

static void ask(struct session *session, const char *sql, const char *wanted,
                struct poller_report *report)
{
    const int64_t from_us = now_us();
    char answer[sizeof(report->first_wrong)];
    int64_t took_us;

    if (session->postgres != NULL)
        ask_postgres(session->postgres, sql, answer, sizeof(answer));
    else
        ask_sqlite(session->sqlite, sql, answer, sizeof(answer));
    took_us = now_us() - from_us;
    if (took_us > report->longest_us)
        report->longest_us = took_us;
    report->polls++;
    if (strcmp(answer, wanted) == 0)
        return;
    if (report->wrong++ == 0)
        memcpy(report->first_wrong, answer, sizeof(answer));
}

static void live(const char *dsn, const char *sql, const char *wanted, int end, int told)
{
    struct pollfd ended = { .fd = end, .events = POLLIN };
    struct poller_report report = { 0 };
    struct session session;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!open_session(&session, dsn))
        _exit(1);
    while (poll(&ended, 1, 0) == 0)
        ask(&session, sql, wanted, &report);
    close_session(&session);
    _exit(write(told, &report, sizeof(report)) == sizeof(report) ? 0 : 1);
}

struct poller poller_start(const char *dsn, const char *sql, const char *wanted)
{
    int end[2], told[2];
    struct poller poller;

    REQUIRE(pipe2(end, O_CLOEXEC) == 0 && pipe2(told, O_CLOEXEC) == 0, "pipes");
    (void)fflush(NULL);
    poller.pid = fork();
    REQUIRE(poller.pid >= 0, "fork");
    if (poller.pid == 0) {
        (void)close(end[1]);
        (void)close(told[0]);
        live(dsn, sql, wanted, end[0], told[1]);
    }
    (void)close(end[0]);
    (void)close(told[1]);
    poller.end = end[1];
    poller.told = told[0];
    return poller;
}

struct poller_report poller_end(struct poller *poller)
{
    struct poller_report report = { 0 };
    int status = -1;

    CHECK(write(poller->end, "", 1) == 1, "it is told to end"); /* others hold this end, too */
    CHECK(read(poller->told, &report, sizeof(report)) == sizeof(report), "the reader's report");
    CHECK(waitpid(poller->pid, &status, 0) == poller->pid && status == 0, "it ends well");
    (void)close(poller->end);
    (void)close(poller->told);
    return report;
}
