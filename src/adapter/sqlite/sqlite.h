/* sqlite: the store in one SQLite file, in WAL mode: one writer at a time, and readers never wait.
 *
 * The writing sessions of one process take turns (turn.h), so that none of them starves in SQLite's
 * polling. Those of different processes wait for SQLite's own lock, with a busy timeout.
 */
#ifndef PATRA_ADAPTER_SQLITE_SQLITE_H
#define PATRA_ADAPTER_SQLITE_SQLITE_H

#include <pthread.h>
#include <sqlite3.h>
#include <sys/types.h>

#include "adapter/sql/session.h"
#include "adapter/sqlite/checkpoint.h"
#include "adapter/sqlite/turn.h"
#include "port/store_wake.h"

extern const struct migration_set SQLITE_MIGRATIONS;
extern const struct migration_set SQLITE_SINK_MIGRATIONS;
extern const struct dialect SQLITE_DIALECT;
extern const struct store_wake_ops SQLITE_WAKE;

struct sqlite_file { /* what the sessions of one process share */
    struct turn writer;
    pthread_mutex_t guard; /* protects `sessions` */
    int sessions;
    int64_t busy_timeout_us;
    struct checkpoint checkpoint;
    dev_t device; /* of the file that was opened, and its inode; 0 both: not known */
    ino_t inode;
    char path[];
};

struct sqlite_session {
    struct sql_session sql; /* first */
    sqlite3 *db;
    struct sqlite_file *file;
    bool holds_writer;
    bool is_listening;
    int64_t data_version;  /* when it was asked last */
    char broken_key[128];  /* the unique index that the last failed statement violated; '' = none */
    bool is_unexpected;    /* a statement that was sent changed an unexpected number of rows */
    int64_t busy_since_us; /* monotonic, as stop_us: waiting for the lock */
    int64_t stop_us; /* when it waits no longer, because the process is to end; 0: it is not */
};

static inline struct sqlite_session *sqlite_session_of(struct sql_session *session)
{
    return (struct sqlite_session *)session;
}

struct sqlite_options {
    const char *path;
    bool create;
    bool is_sink; /* sql_session.is_sink */
    int64_t busy_timeout_us;
};

/* Whether the path still leads to the file that is open. One that was deleted, or replaced by a
 * backup, goes on to be written by those who have it open: everything succeeds, and is lost with
 * the last of them. Error: "store.replaced" (L4). */
bool sqlite_is_the_file(const struct sqlite_session *sqlite, struct error *err) MUST_CHECK;

bool sqlite_store_open(const struct sqlite_options *options, struct store **store,
                       struct error *err) MUST_CHECK;

/* statement.c: the statement part of the driver. */
bool sqlite_start(struct statement *st, struct error *err);
bool sqlite_step(struct statement *st, bool *has_row, struct error *err);
int64_t sqlite_end(struct statement *st);
bool sqlite_send(struct statement *st, const struct statement_send *send, struct error *err);
bool sqlite_settle(struct sql_session *session, bool *as_expected, struct error *err);
void sqlite_forget(struct statement *st);
int sqlite_width(const struct statement *st);
const char *sqlite_name(const struct statement *st, int column);
bool sqlite_is_null(const struct statement *st, int column);
int64_t sqlite_i64(const struct statement *st, int column);
double sqlite_real(const struct statement *st, int column);
struct str sqlite_view(struct statement *st, int column);

/* functions.c: functions of SQL that SQLite does not have. */
bool sqlite_add_functions(struct sqlite_session *session, struct error *err) MUST_CHECK;

/* busy.c: waits for the lock of the file as long as the file's busy timeout, and much less when the
 * process is to end (store_patience). */
void sqlite_wait_when_busy(struct sqlite_session *session);

/* error.c: the only file that knows SQLite's result codes. */
enum error_level sqlite_error_level(int code, const char **name);
bool sqlite_error_set(struct sqlite_session *session, int code, struct error *err);

#endif
