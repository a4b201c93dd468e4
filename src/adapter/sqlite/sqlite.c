#include "adapter/sqlite/sqlite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"

enum { TEXTS_MAX = 1 << 20 };

/* 32 KB pages: records are some KB each, and fewer, larger pages made inserts 1.5 times as fast.
 * The page size must be set before the first table, and before WAL. The log keeps the length that
 * checkpoint.h lets it reach: cutting it at each new beginning made that commit three times as
 * long. */
static const char SETTINGS[] = "PRAGMA page_size = 32768;"
                               "PRAGMA synchronous = NORMAL;"
                               "PRAGMA foreign_keys = ON;"
                               "PRAGMA temp_store = MEMORY;"
                               "PRAGMA cache_size = -32768;"
                               "PRAGMA journal_size_limit = 268435456;";

static bool run_text(struct sqlite_store *sqlite, const char *sql, struct error *err)
{
    const int code = sqlite3_exec(sqlite->db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK || sqlite_error_set(sqlite, code, err);
}

static const char BEGIN_WRITE[] = "BEGIN IMMEDIATE";
static const char BEGIN_READ[] = "BEGIN DEFERRED";
static const char COMMIT[] = "COMMIT";
static const char ROLLBACK[] = "ROLLBACK";

/* The writers of this process stand in line here, those of others at SQLite's lock. */
static bool take_writer(struct sqlite_store *sqlite, struct error *err)
{
    const int64_t wait_us = sqlite->file->busy_timeout_us;
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += wait_us / US_PER_SECOND;
    until.tv_nsec += wait_us % US_PER_SECOND * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    if (pthread_mutex_timedlock(&sqlite->file->writer, &until) != 0)
        return error_set(err, ERROR_TRANSIENT, "store.busy",
                         "another session has been writing for %" PRId64 " ms",
                         wait_us / US_PER_MS);
    sqlite->holds_writer = true;
    return true;
}

static void leave_writer(struct sqlite_store *sqlite)
{
    if (sqlite->holds_writer)
        (void)pthread_mutex_unlock(&sqlite->file->writer);
    sqlite->holds_writer = false;
}

static bool sqlite_begin(struct store *store, bool for_write, struct error *err)
{
    struct sqlite_store *sqlite = sqlite_store_of(store);

    if (for_write && !take_writer(sqlite, err))
        return false;
    if (!statement_run(statement_of(sqlite, for_write ? BEGIN_WRITE : BEGIN_READ), err)) {
        leave_writer(sqlite);
        return error_wrap(err, "begin");
    }
    return true;
}

static void sqlite_rollback(struct store *store)
{
    struct sqlite_store *sqlite = sqlite_store_of(store);
    struct error ignored; /* the transaction is gone either way */

    if (sqlite3_get_autocommit(sqlite->db) == 0)
        (void)!statement_run(statement_of(sqlite, ROLLBACK), &ignored);
    leave_writer(sqlite);
}

static bool sqlite_commit(struct store *store, struct error *err)
{
    struct sqlite_store *sqlite = sqlite_store_of(store);

    if (!statement_run(statement_of(sqlite, COMMIT), err)) {
        sqlite_rollback(store);
        return error_wrap(err, "commit");
    }
    leave_writer(sqlite);
    return true;
}

/* A writing transaction is alone in the file: it holds every lock there is. */
static bool sqlite_lock(struct store *store, struct str name, struct error *err)
{
    (void)store;
    (void)name;
    (void)err;
    return true;
}

/* A file is not a connection that could be lost. */
static bool sqlite_reconnect(struct store *store, struct error *err)
{
    (void)err;
    sqlite_rollback(store);
    return true;
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
    (void)pthread_mutex_destroy(&file->writer);
    (void)pthread_mutex_destroy(&file->guard);
    free(file);
}

static void sqlite_close(struct store *store)
{
    struct sqlite_store *sqlite = sqlite_store_of(store);

    if (sqlite->db != NULL)
        sqlite_rollback(store);
    for (size_t i = 0; i < SQLITE_STATEMENTS_MAX; i++)
        (void)sqlite3_finalize(sqlite->statements[i].stmt);
    (void)sqlite3_close(sqlite->db);
    arena_release(&sqlite->texts);
    release_file(sqlite->file);
    free(sqlite);
}

/* Two processes that open a new file at once both want to make it a WAL file. SQLite refuses the
 * second without asking the busy handler; a moment later it is one already. */
static bool make_wal(struct sqlite_store *sqlite, struct error *err)
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

/* SQLite says that it can not; the system says why, and a person what to do about it. */
static void explain(const struct sqlite_store *sqlite, struct error *err)
{
    const int code = sqlite3_errcode(sqlite->db) & 0xff;
    const int why = sqlite3_system_errno(sqlite->db);
    const struct error told = *err;

    if (code == SQLITE_CANTOPEN && why != 0)
        (void)error_set(err, told.level, told.code, "%s: %s", told.text, strerror(why));
    else if (code == SQLITE_READONLY)
        (void)error_set(err, told.level, told.code,
                        "%s: the file and its folder must be writable for whoever runs patra",
                        told.text);
}

static const struct store_ops SQLITE_STORE;

static bool open_session(struct sqlite_file *file, bool create, struct store **store,
                         struct error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                      (create ? SQLITE_OPEN_CREATE : 0);
    struct sqlite_store *sqlite = calloc(1, sizeof(*sqlite));
    int code;

    if (sqlite == NULL) {
        release_file(file);
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a session");
    }
    sqlite->file = file;
    sqlite->store = (struct store){
        .ops = &SQLITE_STORE,
        .registry = &SQLITE_REGISTRY,
        .schedule = &SQLITE_SCHEDULE,
        .plan = &SQLITE_PLAN,
        .task = &SQLITE_TASK,
        .cursor = &SQLITE_CURSOR,
        .pause = &SQLITE_PAUSE,
        .signal = &SQLITE_SIGNAL,
        .record = &SQLITE_RECORD,
        .quarantine = &SQLITE_QUARANTINE,
        .outbox = &SQLITE_OUTBOX,
        .lease = &SQLITE_LEASE,
        .run = &SQLITE_RUN,
        .rate = &SQLITE_RATE,
        .status = &SQLITE_STATUS,
    };
    arena_init(&sqlite->texts, TEXTS_MAX);
    code = sqlite3_open_v2(file->path, &sqlite->db, flags, NULL);
    if (code != SQLITE_OK) {
        (void)sqlite_error_set(sqlite, code, err);
        goto fail;
    }
    (void)sqlite3_busy_timeout(sqlite->db, (int)(file->busy_timeout_us / US_PER_MS));
    if (!run_text(sqlite, SETTINGS, err) || !make_wal(sqlite, err))
        goto fail;
    checkpoint_follow(&file->checkpoint, sqlite->db);
    *store = &sqlite->store;
    return true;
fail:
    explain(sqlite, err);
    (void)error_wrap(err, "open %s", file->path);
    sqlite_close(&sqlite->store);
    return false;
}

static bool sqlite_another(struct store *store, struct store **session, struct error *err)
{
    struct sqlite_file *file = sqlite_store_of(store)->file;

    (void)pthread_mutex_lock(&file->guard);
    file->sessions++;
    (void)pthread_mutex_unlock(&file->guard);
    return open_session(file, false, session, err);
}

static const struct store_ops SQLITE_STORE = {
    .close = sqlite_close,
    .another = sqlite_another,
    .reconnect = sqlite_reconnect,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .lock = sqlite_lock,
    .migrate = sqlite_migrate,
    .schema = sqlite_schema,
};

bool sqlite_store_open(const struct sqlite_options *options, struct store **store,
                       struct error *err)
{
    const size_t size = strlen(options->path) + 1;
    struct sqlite_file *file;

    if (!options->create && access(options->path, F_OK) != 0)
        return error_set(err, ERROR_REQUEST, "store.missing", "%s: %s%s", options->path,
                         strerror(errno),
                         errno == ENOENT ? "; patra init makes it, --store names another" : "");
    file = calloc(1, sizeof(*file) + size);
    if (file == NULL)
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory to open %s", options->path);
    memcpy(file->path, options->path, size);
    file->busy_timeout_us = options->busy_timeout_us;
    file->sessions = 1;
    (void)pthread_mutex_init(&file->writer, NULL);
    (void)pthread_mutex_init(&file->guard, NULL);
    checkpoint_init(&file->checkpoint, file->path, &file->writer);
    return open_session(file, options->create, store, err);
}
