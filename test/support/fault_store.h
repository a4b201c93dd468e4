/* fault_store: faults injected beneath a store, whichever database it is.
 *
 *      struct store *store = contract_store();
 *
 *      fault_store_wrap(store);
 *      fault_store_arm(store, &(struct store_fault){ .number = 3 });
 *      ... the third call from now fails, and nothing of it is done ...
 *      CHECK(fault_store_disarm(store), "the fault was hit");
 *
 * It sits between the repositories and the driver of the database (adapter/sql/session.h), so a
 * call is what the database sees: begin, commit, a lock, a statement, or a part of a bulk write.
 * Sessions that store_another() makes of a wrapped one are wrapped too and share its faults and its
 * count.
 *
 * Tests with faults run in virtual time, so a wrapped store has no clock of its own: it takes the
 * caller's, as SQLite does.
 *
 * It also asserts what PostgreSQL enforces and SQLite does not: after a call has failed inside a
 * transaction, only a rollback may follow.
 */
#ifndef PATRA_TEST_SUPPORT_FAULT_STORE_H
#define PATRA_TEST_SUPPORT_FAULT_STORE_H

#include "port/clock.h"
#include "port/store.h"

enum fault_effect {
    FAULT_BEFORE, /* the call fails and nothing is done; a transaction is rolled back */
    FAULT_AFTER,  /* the call is done and its result is lost; inside a transaction, which can only
                     be rolled back then, this is the same as FAULT_BEFORE */
    FAULT_SLOW,   /* the call succeeds, and `clock` has moved by `slow_us` before it */
    FAULT_OUTAGE, /* this call and every later one of all sessions fails until disarmed */
    FAULT_DEATH,  /* this call and every later one of its process fails, for good */
};

enum fault_call {
    FAULT_ANY_CALL,
    FAULT_BEGIN,
    FAULT_COMMIT,
    FAULT_LOCK,
    FAULT_STATEMENT,
    FAULT_BULK, /* a statement that is sent without waiting, or the wait for all of them */
};

struct store_fault {
    enum fault_effect effect;
    enum fault_call call;
    const char *sql;        /* only statements whose text contains this; NULL: any call */
    int64_t number;         /* the n-th of those, from now; 0 is the next one, like 1 */
    enum error_level level; /* ERROR_NONE: L4 for a death, L1 for others */
    const char *code;       /* NULL: store.corrupt for a death, store.commit_unknown for a commit,
                               store.lost for others */
    struct clock *clock;
    int64_t slow_us;
};

/* Once per database, on its first session. */
void fault_store_wrap(struct store *store);

/* This session and those made of it from now on are a process of their own: a death affects only
 * them. Without this, all sessions are one process. */
void fault_store_new_process(struct store *session);

/* For all sessions. It replaces the fault that was armed before; all but an outage and a death
 * happen once. */
void fault_store_arm(struct store *store, const struct store_fault *fault);
bool fault_store_disarm(struct store *store); /* true: the fault has happened */

int64_t fault_store_calls(struct store *store); /* of all sessions, so far */

#endif
