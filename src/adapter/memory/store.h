/* memory_store: the store in memory, failing on demand. Unit tests and simulations run on it.
 *
 * It keeps the promises of port/store.h, and is held to them by the same suite as the others. One
 * writer or reader at a time: a call waits for the transaction of another thread, and a session
 * that is used while another one of the same thread has a transaction open gets store.busy (L1)
 * rather than waiting for itself.
 *
 *      memory_store_fail(store, &(struct memory_fault){ .call = 3, .level = ERROR_TRANSIENT });
 *      memory_store_fail(store, &(struct memory_fault){ .name = "commit", .is_done = true });
 */
#ifndef PATRA_ADAPTER_MEMORY_STORE_H
#define PATRA_ADAPTER_MEMORY_STORE_H

#include "port/store.h"

/* A fault to come. It strikes once, and is then forgotten. */
struct memory_fault {
    int64_t call;           /* the n-th of the calls meant, from now; 0 is the next one, like 1 */
    const char *name;       /* "commit", "task_add", ...; NULL means any call */
    enum error_level level; /* ERROR_NONE stands for L1 */
    const char *code;       /* NULL: store.lost */
    bool is_done;           /* the work is done, only the answer is lost: commit, or a call outside
                               a transaction; for other calls it can not be and does not count */
};

bool memory_store_open(struct store **store, struct error *err) MUST_CHECK;

/* For the database and all its sessions. */
void memory_store_fail(struct store *store, const struct memory_fault *fault);
int64_t memory_store_calls(struct store *store); /* of all sessions, so far */

/* A digest of all that the database holds: equal before and after what has changed nothing. */
uint64_t memory_store_hash(struct store *store);

#endif
