/* postgres: the store in a PostgreSQL 15 database, shared by any number of processes and hosts.
 *
 * A session is one connection. When it is lost the call says so (L1, store.lost) and every further
 * one too, until store_reconnect().
 */
#ifndef PATRA_ADAPTER_POSTGRES_POSTGRES_H
#define PATRA_ADAPTER_POSTGRES_POSTGRES_H

#include <libpq-fe.h>

#include "adapter/postgres/postgres_module.h"
#include "adapter/postgres/query.h"
#include "core/migration.h"
#include "core/registry.h"
#include "port/store.h"

extern const struct migration_set POSTGRES_MIGRATIONS;

/* PostgreSQL counts its instants from 2000-01-01. Its least and greatest number are its infinities,
 * and here as there they stand for "before" and "after all time". */
#define POSTGRES_EPOCH_US INT64_C(946684800000000)

static inline int64_t postgres_time(int64_t at_us)
{
    if (at_us == INT64_MAX || at_us < INT64_MIN + POSTGRES_EPOCH_US)
        return at_us > 0 ? INT64_MAX : INT64_MIN;
    return at_us - POSTGRES_EPOCH_US;
}

static inline int64_t postgres_time_back(int64_t time)
{
    return time == INT64_MAX || time == INT64_MIN ? time : time + POSTGRES_EPOCH_US;
}

enum { POSTGRES_STATEMENTS_MAX = 512 };

struct postgres_store {
    struct store store; /* first: the port */
    PGconn *connection;
    char *dsn;
    int64_t busy_timeout_us;
    const char *prepared[POSTGRES_STATEMENTS_MAX]; /* open addressing by address of the text */
    size_t prepared_count;
    struct arena scratch; /* for one query's parameters */
    struct arena texts;   /* SQL that is made from the description of the reg_* tables */
    const char *registry_select[REGISTRY_TABLE_COUNT];
    const char *registry_insert[REGISTRY_TABLE_COUNT];
    const char *registry_close[REGISTRY_TABLE_COUNT];
    const char *registry_list;
};

static inline struct postgres_store *postgres_store_of(struct store *store)
{
    return (struct postgres_store *)store;
}

bool postgres_store_open(const struct postgres_options *options, struct store **store,
                         struct error *err) MUST_CHECK;

/* connect.c */
bool postgres_connect(struct postgres_store *postgres, struct error *err) MUST_CHECK;
PGresult *postgres_prepare(struct query *q); /* unless it is: the failure, NULL for none */
PGresult *postgres_execute(struct query *q);
bool postgres_send(struct query *q); /* prepared; its answer is not waited for */
bool postgres_run_text(struct postgres_store *postgres, const char *sql,
                       struct error *err) MUST_CHECK;

/* migrate.c */
bool postgres_migrate(struct store *store, int64_t now_us, int64_t *taken, struct error *err);
bool postgres_schema(struct store *store, struct store_schema *schema, struct error *err);

/* The tables of functions, one per repository file. */
extern const struct store_registry_ops POSTGRES_REGISTRY;
extern const struct store_schedule_ops POSTGRES_SCHEDULE;
extern const struct store_plan_ops POSTGRES_PLAN;
extern const struct store_task_ops POSTGRES_TASK;
extern const struct store_cursor_ops POSTGRES_CURSOR;
extern const struct store_pause_ops POSTGRES_PAUSE;
extern const struct store_signal_ops POSTGRES_SIGNAL;
extern const struct store_record_ops POSTGRES_RECORD;
extern const struct store_quarantine_ops POSTGRES_QUARANTINE;
extern const struct store_outbox_ops POSTGRES_OUTBOX;
extern const struct store_lease_ops POSTGRES_LEASE;
extern const struct store_run_ops POSTGRES_RUN;
extern const struct store_rate_ops POSTGRES_RATE;
extern const struct store_status_ops POSTGRES_STATUS;

/* error.c: the one place that knows SQLSTATEs. `state` has five characters. */
enum error_level postgres_error_level(const char *state, const char **name);
bool postgres_error_set(struct postgres_store *postgres, const PGresult *result, struct error *err);
bool postgres_is_taken(const PGresult *result, const char *key); /* refused by this unique index */

#endif
