/* store_base: what the repositories of the memory store share.
 *
 * Every call of the port is wrapped the same way:
 *
 *      struct memory_call call;
 *      if (!memory_enter(&call, store, "task_add", err))
 *          return false;
 *      ... table_insert(&call.db->tables[MEMORY_TASK], &call.db->journal, &row, &id, err) ...
 *      return memory_leave(&call, ok, err);
 *
 * memory_leave() commits or undoes what the call did outside a transaction.
 */
#ifndef PATRA_ADAPTER_MEMORY_STORE_BASE_H
#define PATRA_ADAPTER_MEMORY_STORE_BASE_H

#include <pthread.h>

#include "adapter/memory/store.h"
#include "adapter/memory/table.h"
#include "core/registry.h"
#include "port/store_quarantine.h"
#include "port/store_rate.h"
#include "port/store_record.h"
#include "port/store_signal.h"
#include "port/store_task.h"

enum memory_table_id {
    MEMORY_REGISTRY, /* and the other tables of the Registry, in the order of their enum */
    MEMORY_REGISTRY_LAST = MEMORY_REGISTRY + REGISTRY_TABLE_COUNT - 1,
    MEMORY_SCHEDULE,
    MEMORY_TICK,
    MEMORY_PLAN,
    MEMORY_SLICE,
    MEMORY_TASK,
    MEMORY_CURSOR,
    MEMORY_CURSOR_EVENT,
    MEMORY_PAUSE,
    MEMORY_SIGNAL,
    MEMORY_RESLICE,
    MEMORY_RECORD,
    MEMORY_QUARANTINE,
    MEMORY_OUTBOX,
    MEMORY_RUN,
    MEMORY_BATCH,
    MEMORY_LISTED,
    MEMORY_RATE,
    MEMORY_QUOTA,
    MEMORY_SLOT,
    MEMORY_TABLE_COUNT,
};

extern const struct table_def MEMORY_REGISTRY_TABLES[REGISTRY_TABLE_COUNT];
extern const struct table_def MEMORY_SCHEDULE_TABLE;
extern const struct table_def MEMORY_TICK_TABLE;
extern const struct table_def MEMORY_PLAN_TABLE;
extern const struct table_def MEMORY_SLICE_TABLE;
extern const struct table_def MEMORY_TASK_TABLE;
extern const struct table_def MEMORY_CURSOR_TABLE;
extern const struct table_def MEMORY_CURSOR_EVENT_TABLE;
extern const struct table_def MEMORY_PAUSE_TABLE;
extern const struct table_def MEMORY_SIGNAL_TABLE;
extern const struct table_def MEMORY_RESLICE_TABLE;
extern const struct table_def MEMORY_RECORD_TABLE;
extern const struct table_def MEMORY_QUARANTINE_TABLE;
extern const struct table_def MEMORY_OUTBOX_TABLE;
extern const struct table_def MEMORY_RUN_TABLE;
extern const struct table_def MEMORY_BATCH_TABLE;
extern const struct table_def MEMORY_LISTED_TABLE;
extern const struct table_def MEMORY_RATE_TABLE;
extern const struct table_def MEMORY_QUOTA_TABLE;
extern const struct table_def MEMORY_SLOT_TABLE;

/* The indexes of tasks, which two repositories read. */
enum {
    TASK_BY_KEY,
    TASK_BY_COVERAGE,
    TASK_BY_QUEUE, /* QUEUED: partition, priority, scheduled_at */
    TASK_BY_PICK,  /* QUEUED: priority, scheduled_at */
    TASK_BY_LIVE,  /* DISPATCHED and EXECUTING: partition */
    TASK_BY_LEASE, /* leased: until when */
};
void memory_add_partition(struct key *key, const struct task_partition *partition);

/* Rows that more than one repository reads. */
struct signal_stored {
    struct signal signal; /* first: its id is the row's */
    int64_t plan_id;
    bool is_consumed;
};

struct ticket_stored {
    struct reslice_ticket ticket; /* first: its id is the row's */
    bool is_claimed;
};

struct quarantined_stored {
    struct quarantined record; /* first: its id is the row's */
};

struct gate_stored {
    int64_t id;
    struct str key;
    struct rate_gate gate;
};

struct memory_db {         /* what the sessions share */
    pthread_mutex_t turn;  /* held through a transaction, or a call outside of one */
    pthread_mutex_t guard; /* of what follows */
    int sessions;
    int64_t calls;
    bool has_fault;
    struct memory_fault fault;
    /* under `turn` */
    bool is_migrated;
    struct table tables[MEMORY_TABLE_COUNT];
    struct journal journal;
};

struct memory_store {
    struct store store; /* first: the port */
    struct memory_db *db;
    bool has_turn;
    bool failed; /* the transaction: only a rollback is allowed */
};

struct memory_call {
    struct memory_store *session;
    struct memory_db *db;
    const char *name;
    bool lose_answer;
};

bool memory_enter(struct memory_call *call, struct store *store, const char *name,
                  struct error *err) MUST_CHECK;
bool memory_leave(struct memory_call *call, bool ok, struct error *err) MUST_CHECK;

/* L3 store.text for what no store can keep as text; `what` names it. */
bool memory_text_ok(struct str text, const char *what, struct error *err) MUST_CHECK;
bool memory_json_ok(struct str text, const char *what, struct error *err) MUST_CHECK; /* L2 */

/* table_insert() and table_update() of a row whose texts are checked: L3 for what is no text, L2
 * for what is no JSON. `table` is a memory_table_id. */
bool memory_insert(struct memory_db *db, int table, const void *row, int64_t *id,
                   struct error *err) MUST_CHECK;
bool memory_update(struct memory_db *db, int table, const void *row, struct error *err) MUST_CHECK;

/* What a foreign key says: L2 when the row is not there. */
bool memory_refers(struct memory_db *db, int table, int64_t id, struct error *err) MUST_CHECK;
/* What a CHECK says. Returns `holds`. */
bool memory_check(bool holds, const char *constraint, struct error *err) MUST_CHECK;

/* A copy of a row, its texts in the arena of who asked. False, with an error, at its ceiling, which
 * `out` may have met already (LIST_ADD): then it is NULL. */
bool memory_give(struct memory_db *db, int table, const void *row, struct arena *arena, void *out,
                 struct error *err) MUST_CHECK;

/* Those of the rate gate that this owner holds. */
void memory_free_slots(struct memory_db *db, struct str owner);

/* The table of functions, one per repository file. */
extern const struct store_registry_ops MEMORY_REGISTRY_OPS;
extern const struct store_schedule_ops MEMORY_SCHEDULE_OPS;
extern const struct store_plan_ops MEMORY_PLAN_OPS;
extern const struct store_task_ops MEMORY_TASK_OPS;
extern const struct store_cursor_ops MEMORY_CURSOR_OPS;
extern const struct store_pause_ops MEMORY_PAUSE_OPS;
extern const struct store_signal_ops MEMORY_SIGNAL_OPS;
extern const struct store_record_ops MEMORY_RECORD_OPS;
extern const struct store_quarantine_ops MEMORY_QUARANTINE_OPS;
extern const struct store_outbox_ops MEMORY_OUTBOX_OPS;
extern const struct store_lease_ops MEMORY_LEASE_OPS;
extern const struct store_run_ops MEMORY_RUN_OPS;
extern const struct store_rate_ops MEMORY_RATE_OPS;
extern const struct store_status_ops MEMORY_STATUS_OPS;

#endif
