/* store: where patra keeps what it knows. This is the port's root; each noun has a header of its
 * own beside it (store_registry.h, store_plan.h, store_task.h, ...), all on the same handle.
 *
 *      if (!store_begin(store, err))
 *          return false;
 *      if (!store_cursor_event_add(store, ...) || !store_cursor_move(store, ...) ||
 *          !store_commit(store, err)) {
 *          store_rollback(store);
 *          return false;
 *      }
 *
 * The promises, kept by SQLite and PostgreSQL alike (test/contract):
 *
 * Threads. A store is a session: one thread at a time uses it. store_another() gives a further
 * session on the same database for another thread.
 *
 * Atomicity. The calls between begin and commit take effect together or not at all, whatever fails
 * and whenever the process dies. A call outside a transaction is a transaction of its own.
 * Transactions do not nest; a second begin is a programming error. Inside a transaction, the
 * commits of other writers may become visible from call to call (PostgreSQL: READ COMMITTED), so
 * decisions that must not race are made under store_lock(), by unique keys or by compare-and-set. A
 * transaction begun with store_begin_read() sees the database as of one moment, and may not write.
 *
 * Failure. A call that fails has changed nothing. After a failed call inside a transaction only
 * store_rollback() is allowed: PostgreSQL has aborted the transaction by then, and the other stores
 * behave the same. When store_commit() fails with the code "store.commit_unknown" (L1), the
 * connection was lost before the result arrived: the transaction may have been committed. The same
 * holds for a call outside a transaction that fails with "store.lost". Every write has a key that
 * makes repeating it harmless; repeat it.
 *
 * Levels and codes. L1 store.busy, store.conflict (serialization, deadlock), store.lost
 * (connection), store.full, store.commit_unknown. L2 store.constraint (the text names it),
 * store.missing, store.value. L3 store.text (not UTF-8, or with a NUL: no store can keep it as
 * text). L4 store.schema, store.lanes, store.newer, store.migration, store.corrupt, store.auth,
 * store.replaced (the file is another one than was opened), store.statement.
 *
 * Memory. What a call returns lives in the arena it was given. Arguments are only borrowed.
 *
 * Time. The store reads no clock: the caller says what time it is. Instants are microseconds, and
 * each is read back exactly as it was written.
 */
#ifndef PATRA_PORT_STORE_H
#define PATRA_PORT_STORE_H

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/list.h"
#include "base/str.h"
#include "core/limits.h"
#include "port/body_packer.h"

struct store;

/* One page of a list that is read in order: what comes after `after`, at most `limit` rows. Each
 * list says what `after` is; 0 = from the first. */
struct store_page {
    int64_t after;
    int64_t limit;
};

struct store_schema {
    int64_t version; /* the last migration that was applied to the database; 0 = empty */
    int64_t latest;  /* the last one that this program knows */
};

struct store_words { /* of the program's dictionaries (core/codes.h) that the database lacks */
    int64_t missing;
    struct str type; /* the first of them: "ing_operation", "HARVEST" */
    struct str code;
};

/* Hears of events, whoever writes them and by whichever call. */
struct store_listener {
    /* A transaction that wrote events was committed, or may have been. Called in the session's
     * thread; uses neither the store nor much time. */
    void (*wrote_events)(struct store_listener *listener);
};

/* How long a session waits for a database that does not respond, and who hears of it. */
struct store_patience {
    int stop_fd; /* readable: the process ends, so give up soon; -1: never */
    /* Nothing came for so long. Called in the session's thread; NULL: nobody listens. */
    void (*silent)(void *context, int64_t waited_us);
    void *context;
    /* Monotonic: once stop_fd is readable, no session waits beyond this. They have one end, or the
     * waits of several would add up. NULL: each of them waits a moment. */
    const _Atomic int64_t *give_up_us;
};

struct store_ops {
    void (*close)(struct store *store);
    bool (*another)(struct store *store, struct store **session, struct error *err);
    bool (*reconnect)(struct store *store, struct error *err);
    bool (*begin)(struct store *store, bool for_write, struct error *err);
    bool (*commit)(struct store *store, struct error *err);
    void (*rollback)(struct store *store);
    bool (*lock)(struct store *store, struct str name, struct error *err);
    bool (*migrate)(struct store *store, int64_t now_us, int64_t *taken, struct error *err);
    bool (*schema)(struct store *store, struct store_schema *schema, struct error *err);
    bool (*words)(struct store *store, struct store_words *words, struct error *err);
    bool (*words_restore)(struct store *store, int64_t *restored, struct error *err);
    bool (*lanes)(struct store *store, int64_t *lanes, struct error *err);
    bool (*place)(struct store *store, struct arena *arena, struct str *place, struct error *err);
};

struct store {
    const struct store_ops *ops;
    const struct store_registry_ops *registry;
    const struct store_schedule_ops *schedule;
    const struct store_plan_ops *plan;
    const struct store_task_ops *task;
    const struct store_cursor_ops *cursor;
    const struct store_pause_ops *pause;
    const struct store_signal_ops *signal;
    const struct store_record_ops *record;
    const struct store_record_read_ops *record_read;
    const struct store_child_ops *child;
    const struct store_expr_ops *expr;
    const struct store_quarantine_ops *quarantine;
    const struct store_outbox_ops *outbox;
    const struct store_stream_ops *stream;
    const struct store_prune_ops *prune;
    const struct store_subscription_ops *subscription;
    const struct store_offset_ops *offset;
    const struct store_bus_offset_ops *bus_offset;
    const struct store_parked_ops *parked;
    const struct store_sink_ops *sink;
    const struct store_lease_ops *lease;
    const struct store_run_ops *run;
    const struct store_rate_ops *rate;
    const struct store_status_ops *status;
    const struct store_view_ops *view;
    const struct store_trace_ops *trace;
    const struct store_token_ops *token;
    const struct store_archive_ops *archive;
    const struct store_health_ops *health;
    const struct store_mark_ops *mark;
    const struct store_alert_ops *alert;
    const struct store_alert_config_ops *alert_config;
    const struct store_wake_ops *wake;
    struct store_listener *listener;       /* of this session and those made of it; NULL: none */
    const struct store_patience *patience; /* the same; NULL: none */
    /* The same: for records that are stored packed. NULL: those cannot be read. */
    bool (*packer_open)(struct body_packer **packer, struct error *err);
    bool has_events; /* the transaction has written some */
    enum store_state {
        STORE_IDLE,
        STORE_WRITING, /* between begin and commit */
        STORE_READING,
    } state;
};

/* Ends the session; a transaction that is still open is rolled back. Accepts NULL. */
static inline void store_close(struct store *store)
{
    if (store != NULL)
        store->ops->close(store);
}

/* Which database it is, and where in it: the path of a file, or what a server knows it by. Sessions
 * with one place see one set of tables; a file has several paths. Empty: not known. */
static inline bool MUST_CHECK store_place(struct store *store, struct arena *arena,
                                          struct str *place, struct error *err)
{
    return store->ops->place(store, arena, place, err);
}

/* A further session on the same database. */
static inline bool MUST_CHECK store_another(struct store *store, struct store **session,
                                            struct error *err)
{
    if (!store->ops->another(store, session, err))
        return false;
    (*session)->listener = store->listener;
    (*session)->patience = store->patience;
    (*session)->packer_open = store->packer_open;
    return true;
}

/* For the calls that write events; in a transaction, its listener hears of it after the commit. */
static inline void store_wrote_events(struct store *store)
{
    store->has_events = true;
}

/* After store.lost: connects again. Nothing is repeated; an open transaction was rolled back. */
static inline bool MUST_CHECK store_reconnect(struct store *store, struct error *err)
{
    store->state = STORE_IDLE;
    return store->ops->reconnect(store, err);
}

static inline bool MUST_CHECK store_begin(struct store *store, struct error *err)
{
    assert(store->state == STORE_IDLE);
    if (!store->ops->begin(store, true, err))
        return false;
    store->state = STORE_WRITING;
    store->has_events = false;
    return true;
}

static inline bool MUST_CHECK store_begin_read(struct store *store, struct error *err)
{
    assert(store->state == STORE_IDLE);
    if (!store->ops->begin(store, false, err))
        return false;
    store->state = STORE_READING;
    return true;
}

static inline void store_rollback(struct store *store)
{
    if (store->state == STORE_IDLE)
        return; /* a failed commit has ended it */
    store->state = STORE_IDLE;
    store->ops->rollback(store);
}

/* A failed commit ends the transaction too; store_rollback() is then allowed and does nothing. */
static inline bool MUST_CHECK store_commit(struct store *store, struct error *err)
{
    const bool has_events = store->state == STORE_WRITING && store->has_events;
    bool ok;

    assert(store->state != STORE_IDLE);
    store->state = STORE_IDLE;
    ok = store->ops->commit(store, err);
    if (has_events && store->listener != NULL)
        store->listener->wrote_events(store->listener);
    return ok;
}

/* Around a call that consists of several statements: they are part of the caller's transaction, or,
 * when there is none, form a transaction of their own. store_end_if_owned() ends the latter: it
 * commits when `ok`, and rolls back otherwise. */
static inline bool MUST_CHECK store_begin_if_idle(struct store *store, bool *owns_transaction,
                                                  struct error *err)
{
    *owns_transaction = store->state == STORE_IDLE;
    return !*owns_transaction || store_begin(store, err);
}

static inline bool MUST_CHECK store_end_if_owned(struct store *store, bool owns_transaction,
                                                 bool ok, struct error *err)
{
    if (!owns_transaction)
        return ok;
    if (ok)
        return store_commit(store, err);
    store_rollback(store);
    return false;
}

/* Waits until no other transaction holds the lock of this name, and holds it until this one ends.
 * Take locks in one order everywhere. */
static inline bool MUST_CHECK store_lock(struct store *store, struct str name, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->ops->lock(store, name, err);
}

/* The same with a formatted name: "registry:crossref". Names that differ only after the maximum are
 * one lock: a session then waits that need not, which is harmless. */
enum { STORE_LOCK_NAME_MAX = 512 };
static inline bool MUST_CHECK PRINTF_LIKE(3, 4)
    store_lock_named(struct store *store, struct error *err, const char *format, ...)
{
    char name[STORE_LOCK_NAME_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(name, sizeof(name), format, args);
    va_end(args);
    return store_lock(store, str_of(name), err);
}

/* Applies the missing migrations, each in a transaction of its own; *taken counts them. Any number
 * of processes may do this at once: each migration is applied by one of them. Refused, with nothing
 * done, when the database is newer than this program or has a migration whose text differs. */
static inline bool MUST_CHECK store_migrate(struct store *store, int64_t now_us, int64_t *taken,
                                            struct error *err)
{
    assert(store->state == STORE_IDLE);
    return store->ops->migrate(store, now_us, taken, err);
}

static inline bool MUST_CHECK store_schema(struct store *store, struct store_schema *schema,
                                           struct error *err)
{
    return store->ops->schema(store, schema, err);
}

/* Adds the words of the program's dictionaries that the database lacks; *restored counts them.
 * Words that the program does not know are left alone. */
static inline bool MUST_CHECK store_words_restore(struct store *store, int64_t *restored,
                                                  struct error *err)
{
    assert(store->state == STORE_IDLE);
    return store->ops->words_restore(store, restored, err);
}

/* False, L4, unless the database has exactly the schema this program was built for, every word
 * of its dictionaries, and its number of lanes. Others may use the dictionaries to read rows: a
 * word that was removed from them must not appear in rows. With another number of lanes, the events
 * of one key would be in two of them. */
static inline bool MUST_CHECK store_schema_check(struct store *store, struct error *err)
{
    struct store_schema schema;
    struct store_words words;
    int64_t lanes;

    if (!store_schema(store, &schema, err))
        return false;
    if (schema.version != schema.latest)
        return error_set(err, ERROR_FATAL, "store.schema",
                         "the database's schema is at %lld, this patra needs %lld: run patra init",
                         (long long)schema.version, (long long)schema.latest);
    if (!store->ops->words(store, &words, err))
        return false;
    if (words.missing > 0)
        return error_set(
            err, ERROR_FATAL, "store.dictionary",
            "sys_dict_item lacks %lld of this patra's words, such as %.*s of %.*s: run "
            "patra init, which restores them",
            (long long)words.missing, STR_ARG(words.code), STR_ARG(words.type));
    if (!store->ops->lanes(store, &lanes, err))
        return false;
    if (lanes != OUTBOX_LANES)
        return error_set(
            err, ERROR_FATAL, "store.lanes",
            "the database's events are in %lld lanes, this patra has %d: run the patra "
            "that made the database",
            (long long)lanes, OUTBOX_LANES);
    return true;
}

/* ---- kinds of failure ---- */

/* Whether the failure is the store's: "store.*", whatever its level. */
static inline bool store_error_is_own(const struct error *err)
{
    return strncmp(err->code, "store.", strlen("store.")) == 0;
}

/* The session is lost, and the outcome of a commit may be unknown: store_reconnect(), then repeat.
 */
static inline bool store_error_is_lost(const struct error *err)
{
    return strcmp(err->code, "store.lost") == 0 || strcmp(err->code, "store.commit_unknown") == 0;
}

/* Whether the transaction was committed is unknown. */
static inline bool store_error_is_unknown(const struct error *err)
{
    return strcmp(err->code, "store.commit_unknown") == 0;
}

/* Another transaction was faster: repeat the transaction at once. */
static inline bool store_error_is_conflict(const struct error *err)
{
    return strcmp(err->code, "store.conflict") == 0;
}

/* The store waited for a lock until the busy timeout. */
static inline bool store_error_is_busy(const struct error *err)
{
    return strcmp(err->code, "store.busy") == 0;
}

/* A value breaks a rule of its table. */
static inline bool store_error_is_constraint(const struct error *err)
{
    return strcmp(err->code, "store.constraint") == 0;
}

/* Whether every store can keep it as text: UTF-8 without NUL. */
static inline bool store_text_ok(struct str text)
{
    return str_find_char(text, '\0') == text.len && str_is_utf8(text);
}

#endif
