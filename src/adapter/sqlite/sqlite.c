/* Sessions on a SQLite file: opening, transactions, the turn of the writers. */
#include "adapter/sqlite/sqlite.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"

/* 32 KB pages: records are some KB each, and fewer, larger pages made inserts 1.5 times as fast.
 * The page size must be set before the first table, and before WAL. The log file keeps the length
 * that checkpoint.h lets it reach: truncating it whenever the log starts again made that commit
 * take three times as long. */
static const char SETTINGS[] = "PRAGMA page_size = 32768;"
                               "PRAGMA synchronous = NORMAL;"
                               "PRAGMA foreign_keys = ON;"
                               "PRAGMA temp_store = MEMORY;"
                               "PRAGMA cache_size = -32768;"
                               "PRAGMA journal_size_limit = 268435456;";

static bool run_text(struct sqlite_session *sqlite, const char *sql, struct error *err)
{
    const int code = sqlite3_exec(sqlite->db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK || sqlite_error_set(sqlite, code, err);
}

/* The writers of this process wait for each other here, those of other processes at SQLite's lock.
 */
static bool take_writer(struct sqlite_session *sqlite, struct error *err)
{
    const int64_t wait_us = sqlite->file->busy_timeout_us;

    if (!turn_take_within(&sqlite->file->writer, wait_us))
        return error_set(err, ERROR_TRANSIENT, "store.busy",
                         "timed out after %" PRId64 " ms waiting for another session to write",
                         wait_us / US_PER_MS);
    sqlite->holds_writer = true;
    return true;
}

static void leave_writer(struct sqlite_session *sqlite)
{
    if (sqlite->holds_writer)
        turn_leave(&sqlite->file->writer);
    sqlite->holds_writer = false;
}

static const char BEGIN_WRITE[] = "BEGIN IMMEDIATE";
static const char BEGIN_READ[] = "BEGIN DEFERRED";
static const char COMMIT[] = "COMMIT";
static const char ROLLBACK[] = "ROLLBACK";

bool sqlite_is_the_file(const struct sqlite_session *sqlite, struct error *err)
{
    const struct sqlite_file *file = sqlite->file;
    struct stat now;

    if (file->inode == 0)
        return true;
    if (stat(file->path, &now) != 0)
        return error_set(err, errno == ENOENT ? ERROR_FATAL : ERROR_TRANSIENT,
                         errno == ENOENT ? "store.replaced" : "store.lost",
                         "%s: %s, while this process has it open", file->path, strerror(errno));
    if (now.st_dev == file->device && now.st_ino == file->inode)
        return true;
    return error_set(err, ERROR_FATAL, "store.replaced",
                     "%s is another file than the one that this process has open: a backup was "
                     "restored under it? Stop all processes before that, and start them again",
                     file->path);
}

static void remember_file(struct sqlite_file *file)
{
    struct stat now;

    if (file->inode != 0 || stat(file->path, &now) != 0)
        return;
    file->device = now.st_dev;
    file->inode = now.st_ino;
}

static bool sqlite_begin(struct sql_session *session, bool for_write, struct error *err)
{
    struct sqlite_session *sqlite = sqlite_session_of(session);
    struct statement *st = statement_of(&session->store, for_write ? BEGIN_WRITE : BEGIN_READ);

    if (for_write && !take_writer(sqlite, err))
        return false;
    if (sqlite_is_the_file(sqlite, err) && statement_run(st, NULL, err))
        return true;
    leave_writer(sqlite);
    return false;
}

static void sqlite_rollback(struct sql_session *session)
{
    struct sqlite_session *sqlite = sqlite_session_of(session);
    struct error ignored; /* the transaction ends either way */

    if (sqlite3_get_autocommit(sqlite->db) == 0)
        (void)!statement_run(statement_of(&session->store, ROLLBACK), NULL, &ignored);
    leave_writer(sqlite);
}

static bool sqlite_commit(struct sql_session *session, struct error *err)
{
    if (!sqlite_is_the_file(sqlite_session_of(session), err) ||
        !statement_run(statement_of(&session->store, COMMIT), NULL, err)) {
        sqlite_rollback(session);
        return false;
    }
    leave_writer(sqlite_session_of(session));
    return true;
}

/* There is one writing transaction per file at a time, so it already holds every lock. */
static bool sqlite_lock(struct sql_session *session, struct str name, struct error *err)
{
    (void)session;
    (void)name;
    (void)err;
    return true;
}

/* A file is not a connection that can be lost: only the transaction ends. */
static bool sqlite_reconnect(struct sql_session *session, struct error *err)
{
    (void)err;
    sqlite_rollback(session);
    return true;
}

static bool sqlite_run_script(struct sql_session *session, const char *sql, struct error *err)
{
    return run_text(sqlite_session_of(session), sql, err);
}

static void release_file(struct sqlite_file *file)
{
    int left;

    (void)pthread_mutex_lock(&file->guard);
    left = --file->sessions;
    (void)pthread_mutex_unlock(&file->guard);
    if (left > 0)
        return;
    checkpoint_release(&file->checkpoint);
    turn_release(&file->writer);
    (void)pthread_mutex_destroy(&file->guard);
    free(file);
}

static void sqlite_close(struct sql_session *session)
{
    struct sqlite_session *sqlite = sqlite_session_of(session);

    if (sqlite->db != NULL)
        sqlite_rollback(session);
    sql_session_release(session);
    (void)sqlite3_close(sqlite->db);
    release_file(sqlite->file);
    free(sqlite);
}

/* When two processes open a new file at the same time, both switch it to WAL. SQLite refuses the
 * second at once, without its busy handler; a moment later the file is in WAL mode. */
static bool make_wal(struct sqlite_session *sqlite, struct error *err)
{
    const struct timespec pause = { 0, 5000000 };
    const int64_t tries_max = sqlite->file->busy_timeout_us / 5000 + 1;
    int code = SQLITE_BUSY;

    for (int64_t i = 0; i < tries_max && (code & 0xff) == SQLITE_BUSY; i++) {
        if (i > 0)
            (void)nanosleep(&pause, NULL);
        code = sqlite3_exec(sqlite->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    }
    return code == SQLITE_OK || sqlite_error_set(sqlite, code, err);
}

/* What is wrong with the folder of a file that cannot be opened; NULL: nothing is. */
static const char *folder_fault(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const int len = slash != NULL ? (int)(slash - path) : 1;

    (void)snprintf(folder, PATH_MAX, "%.*s", len > 0 ? len : 1,
                   slash == NULL ? "."
                   : len > 0     ? path
                                 : "/");
    if (access(folder, F_OK) != 0)
        return "does not exist";
    if (access(folder, W_OK | X_OK) != 0)
        return "cannot be written by the user that runs patra";
    return NULL;
}

/* Adds the cause that the system reports, or what to do, to SQLite's message. */
static void explain(const struct sqlite_session *sqlite, struct error *err)
{
    const int code = sqlite3_errcode(sqlite->db) & 0xff;
    const int cause = sqlite3_system_errno(sqlite->db);
    const struct error first = *err;
    char folder[PATH_MAX];
    const char *fault = code == SQLITE_CANTOPEN ? folder_fault(sqlite->file->path, folder) : NULL;

    if (fault != NULL)
        (void)error_set(err, first.level, first.code, "%s: the folder %s %s", first.text, folder,
                        fault);
    else if (code == SQLITE_CANTOPEN && cause != 0)
        (void)error_set(err, first.level, first.code, "%s: %s", first.text, strerror(cause));
    else if (code == SQLITE_READONLY)
        (void)error_set(err, first.level, first.code,
                        "%s: the user that runs patra must be able to write the file and its "
                        "folder",
                        first.text);
}

static const struct sql_driver DRIVER;

static bool open_session(struct sqlite_file *file, bool create, bool is_sink,
                         struct sql_session **session, struct error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                      (create ? SQLITE_OPEN_CREATE : 0);
    struct sqlite_session *sqlite = calloc(1, sizeof(*sqlite));
    int code;

    if (sqlite == NULL) {
        release_file(file);
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a session");
    }
    sqlite->file = file;
    sql_session_init(&sqlite->sql, &DRIVER);
    sqlite->sql.is_sink = is_sink;
    sqlite->sql.store.wake = &SQLITE_WAKE;
    code = sqlite3_open_v2(file->path, &sqlite->db, flags, NULL);
    if (code != SQLITE_OK) {
        (void)sqlite_error_set(sqlite, code, err);
        goto fail;
    }
    sqlite_wait_when_busy(sqlite);
    if (!run_text(sqlite, SETTINGS, err) || !make_wal(sqlite, err) ||
        !sqlite_add_functions(sqlite, err))
        goto fail;
    remember_file(file);
    if (!sqlite_is_the_file(sqlite, err))
        goto fail;
    checkpoint_follow(&file->checkpoint, sqlite->db);
    *session = &sqlite->sql;
    return true;
fail:
    explain(sqlite, err);
    (void)error_wrap(err, "open %s", file->path);
    sqlite_close(&sqlite->sql);
    return false;
}

static bool sqlite_another(struct sql_session *session, struct sql_session **other,
                           struct error *err)
{
    struct sqlite_file *file = sqlite_session_of(session)->file;

    (void)pthread_mutex_lock(&file->guard);
    file->sessions++;
    (void)pthread_mutex_unlock(&file->guard);
    return open_session(file, false, session->is_sink, other, err);
}

static const struct sql_driver DRIVER = {
    .dialect = &SQLITE_DIALECT,
    .close = sqlite_close,
    .another = sqlite_another,
    .reconnect = sqlite_reconnect,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .lock = sqlite_lock,
    .run_script = sqlite_run_script,
    .start = sqlite_start,
    .step = sqlite_step,
    .end = sqlite_end,
    .send = sqlite_send,
    .settle = sqlite_settle,
    .forget = sqlite_forget,
    .width = sqlite_width,
    .name = sqlite_name,
    .is_null = sqlite_is_null,
    .i64 = sqlite_i64,
    .real = sqlite_real,
    .view = sqlite_view,
};

bool sqlite_store_open(const struct sqlite_options *options, struct store **store,
                       struct error *err)
{
    const size_t size = strlen(options->path) + 1;
    struct sql_session *session;
    struct sqlite_file *file;

    if (!options->create && access(options->path, F_OK) != 0)
        return error_set(
            err, ERROR_REQUEST, "store.missing", "%s: %s%s", options->path, strerror(errno),
            errno == ENOENT ? "; run patra init to create it, or name another with --store" : "");
    file = calloc(1, sizeof(*file) + size);
    if (file == NULL)
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory to open %s", options->path);
    memcpy(file->path, options->path, size);
    file->busy_timeout_us = options->busy_timeout_us;
    file->sessions = 1;
    turn_init(&file->writer);
    (void)pthread_mutex_init(&file->guard, NULL);
    checkpoint_init(&file->checkpoint, file->path, &file->writer);
    if (!open_session(file, options->create, options->is_sink, &session, err))
        return false;
    *store = &session->store;
    return true;
}
