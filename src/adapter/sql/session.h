/* session: a connection to any of the databases; all repositories work on it.
 *
 *      struct store (port/store.h)
 *            |  the repositories of this folder: each statement once
 *      struct sql_session, struct statement
 *            |  struct sql_driver: one table of functions per database
 *      SQLite, libpq
 *
 * A driver calls its library; all that it knows of SQL is its dialect (dialect.h). It embeds struct
 * sql_session as the first member of its own session, fills in the driver, and calls
 * sql_session_init() and sql_session_release().
 */
#ifndef PATRA_ADAPTER_SQL_SESSION_H
#define PATRA_ADAPTER_SQL_SESSION_H

#include "adapter/sql/dialect.h"
#include "adapter/sql/statement.h"
#include "core/registry.h"
#include "port/store.h"
#include "port/store_stream.h"

enum { SQL_STATEMENTS_MAX = 512 };

struct sql_driver {
    const struct dialect *dialect;

    void (*close)(struct sql_session *session);
    bool (*another)(struct sql_session *session, struct sql_session **other, struct error *err);
    bool (*reconnect)(struct sql_session *session, struct error *err);
    bool (*begin)(struct sql_session *session, bool for_write, struct error *err);
    bool (*commit)(struct sql_session *session, struct error *err);
    void (*rollback)(struct sql_session *session);
    bool (*lock)(struct sql_session *session, struct str name, struct error *err);
    bool (*run_script)(struct sql_session *session, const char *sql, struct error *err);

    /* A statement: start, step until there is no row, end. `end` is called after failures too. */
    bool (*start)(struct statement *st, struct error *err);
    bool (*step)(struct statement *st, bool *has_row, struct error *err);
    int64_t (*end)(struct statement *st); /* returns how many rows changed */
    bool (*send)(struct statement *st, const struct statement_send *send, struct error *err);
    bool (*settle)(struct sql_session *session, bool *as_expected, struct error *err);
    /* NULL: the database cannot. `start` waits for what was begun, and does not run it again. */
    bool (*begin_ahead)(struct statement *st, struct error *err);
    void (*drop_ahead)(struct statement *st);
    void (*forget)(struct statement *st); /* the session closes */

    /* The row that step() has reached. */
    int (*width)(const struct statement *st);
    const char *(*name)(const struct statement *st, int column);
    bool (*is_null)(const struct statement *st, int column);
    int64_t (*i64)(const struct statement *st, int column);
    double (*real)(const struct statement *st, int column);
    struct str (*view)(struct statement *st, int column); /* lives until the next call */
};

struct sql_session {
    struct store store; /* first: the port */
    const struct sql_driver *driver;
    bool is_sink; /* opened for projections: the database may lack everything else */
    struct statement *statements[SQL_STATEMENTS_MAX]; /* open addressing by address of the text */
    int statement_count;
    struct statement without_memory; /* in the place of each that there is no memory for */
    struct error failure;            /* of the statement that failed last */
    struct stream_ahead {            /* the read that was begun; see stream_repo.c */
        struct stream_place places[OUTBOX_LANES];
        size_t count; /* 0: none */
        int64_t lane_max, bytes_max;
    } ahead;
    struct session_names { /* see record_names.h */
        struct known_name {
            int64_t id; /* 0: none */
            size_t lens[2];
            char text[256]; /* both parts */
        } endpoint, expr;
        bool is_new; /* added by the transaction that is open */
    } names;
    struct session_payloads { /* see payload.h */
        struct known_dictionary {
            int64_t id; /* 0: none */
            struct body_packer *packer;
        } known[4];
        size_t next;          /* the place of the next one */
        struct arena scratch; /* the payload that was read last */
    } payloads;
    struct arena texts; /* SQL that is built at run time; see registry_repo.c */
    struct registry_texts {
        const char *select[REGISTRY_TABLE_COUNT];
        const char *insert[REGISTRY_TABLE_COUNT];
        const char *close[REGISTRY_TABLE_COUNT];
        const char *list;
        const char *version;
    } registry;
};

static inline struct sql_session *sql_session_of(struct store *store)
{
    return (struct sql_session *)store;
}

void sql_session_init(struct sql_session *session, const struct sql_driver *driver);
void sql_session_release(struct sql_session *session); /* forgets all statements */

/* The tables of functions, one per repository file. */
extern const struct store_registry_ops SQL_REGISTRY;
extern const struct store_schedule_ops SQL_SCHEDULE;
extern const struct store_plan_ops SQL_PLAN;
extern const struct store_task_ops SQL_TASK;
extern const struct store_cursor_ops SQL_CURSOR;
extern const struct store_pause_ops SQL_PAUSE;
extern const struct store_signal_ops SQL_SIGNAL;
extern const struct store_record_ops SQL_RECORD;
extern const struct store_record_read_ops SQL_RECORD_READ;
extern const struct store_child_ops SQL_CHILD;
extern const struct store_expr_ops SQL_EXPR;
extern const struct store_quarantine_ops SQL_QUARANTINE;
extern const struct store_outbox_ops SQL_OUTBOX;
extern const struct store_stream_ops SQL_STREAM;
extern const struct store_prune_ops SQL_PRUNE;
extern const struct store_subscription_ops SQL_SUBSCRIPTION;
extern const struct store_offset_ops SQL_OFFSET;
extern const struct store_bus_offset_ops SQL_BUS_OFFSET;
extern const struct store_parked_ops SQL_PARKED;
extern const struct store_sink_ops SQL_SINK;
extern const struct store_lease_ops SQL_LEASE;
extern const struct store_run_ops SQL_RUN;
extern const struct store_rate_ops SQL_RATE;
extern const struct store_status_ops SQL_STATUS;
extern const struct store_view_ops SQL_VIEW;
extern const struct store_trace_ops SQL_TRACE;
extern const struct store_token_ops SQL_TOKEN;
extern const struct store_archive_ops SQL_ARCHIVE;
extern const struct store_health_ops SQL_HEALTH;
extern const struct store_mark_ops SQL_MARK;
extern const struct store_alert_ops SQL_ALERT;
extern const struct store_alert_config_ops SQL_ALERT_CONFIG;

#endif
