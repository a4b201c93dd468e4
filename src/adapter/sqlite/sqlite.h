/* sqlite: the store in one SQLite file. WAL: one writer at a time, readers never wait.
 *
 * Sessions of one process queue for the writer's turn on a mutex, so that none of them starves in
 * SQLite's polling; processes meet at SQLite's own lock, with a busy timeout.
 */
#ifndef PATRA_ADAPTER_SQLITE_SQLITE_H
#define PATRA_ADAPTER_SQLITE_SQLITE_H

#include <pthread.h>
#include <sqlite3.h>

#include "adapter/sqlite/checkpoint.h"
#include "adapter/sqlite/statement.h"
#include "core/migration.h"
#include "core/registry.h"
#include "port/store.h"

extern const struct migration_set SQLITE_MIGRATIONS;

struct sqlite_file { /* what the sessions of one process share */
    pthread_mutex_t writer;
    pthread_mutex_t guard; /* of sessions */
    int sessions;
    int64_t busy_timeout_us;
    struct checkpoint checkpoint;
    char path[];
};

enum { SQLITE_STATEMENTS_MAX = 512 };

struct sqlite_store {
    struct store store; /* first: the port */
    sqlite3 *db;
    struct sqlite_file *file;
    bool holds_writer;
    struct statement statements[SQLITE_STATEMENTS_MAX]; /* open addressing by address of the text */
    size_t statement_count;
    struct arena texts; /* SQL that is made from the description of the reg_* tables */
    const char *registry_select[REGISTRY_TABLE_COUNT];
    const char *registry_insert[REGISTRY_TABLE_COUNT];
    const char *registry_close[REGISTRY_TABLE_COUNT];
    const char *registry_list;
};

static inline struct sqlite_store *sqlite_store_of(struct store *store)
{
    return (struct sqlite_store *)store;
}

struct sqlite_options {
    const char *path;
    bool create;
    int64_t busy_timeout_us;
};

bool sqlite_store_open(const struct sqlite_options *options, struct store **store,
                       struct error *err) MUST_CHECK;

/* migrate.c */
bool sqlite_migrate(struct store *store, int64_t now_us, int64_t *taken, struct error *err);
bool sqlite_schema(struct store *store, struct store_schema *schema, struct error *err);

/* The tables of functions, one per repository file. */
extern const struct store_registry_ops SQLITE_REGISTRY;
extern const struct store_schedule_ops SQLITE_SCHEDULE;
extern const struct store_plan_ops SQLITE_PLAN;
extern const struct store_task_ops SQLITE_TASK;
extern const struct store_cursor_ops SQLITE_CURSOR;
extern const struct store_pause_ops SQLITE_PAUSE;
extern const struct store_signal_ops SQLITE_SIGNAL;
extern const struct store_record_ops SQLITE_RECORD;
extern const struct store_quarantine_ops SQLITE_QUARANTINE;
extern const struct store_outbox_ops SQLITE_OUTBOX;
extern const struct store_lease_ops SQLITE_LEASE;
extern const struct store_run_ops SQLITE_RUN;
extern const struct store_rate_ops SQLITE_RATE;
extern const struct store_status_ops SQLITE_STATUS;

/* error.c: the one place that knows SQLite's codes. `message` is SQLite's text. */
enum error_level sqlite_error_level(int code, const char **name);
bool sqlite_error_set(struct sqlite_store *store, int code, struct error *err);

#endif
