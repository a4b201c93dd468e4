/* store_base: what the repositories of the memory store share.
 *
 * Every call of the port is wrapped the same way:
 *
 *      struct memory_call call;
 *      if (!memory_enter(&call, store, "dict_find", err))
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

enum memory_table_id {
    MEMORY_REGISTRY, /* and the other tables of the Registry, in the order of their enum */
    MEMORY_REGISTRY_LAST = MEMORY_REGISTRY + REGISTRY_TABLE_COUNT - 1,
    MEMORY_TABLE_COUNT,
};

extern const struct table_def MEMORY_REGISTRY_TABLES[REGISTRY_TABLE_COUNT];

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

/* The table of functions, one per repository file. */
extern const struct store_dict_ops MEMORY_DICT;
extern const struct store_registry_ops MEMORY_REGISTRY_OPS;

#endif
