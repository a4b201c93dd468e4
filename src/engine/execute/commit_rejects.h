/* commit_rejects: what of a batch did not become a record, a part of commit.h: bad records, and ids
 * that gave no record.
 *
 *      bad     quarantined with its payload; signalled, so that it is fetched again
 *      lost    signalled
 *
 * What was requested by its id has just been fetched again: there a bad record makes no signal, nor
 * does an id that the source no longer has. Both count as checked.
 */
#ifndef PATRA_ENGINE_EXECUTE_COMMIT_REJECTS_H
#define PATRA_ENGINE_EXECUTE_COMMIT_REJECTS_H

#include "engine/execute/commit.h"
#include "port/store_record.h"
#include "port/store_signal.h"

struct rejects {
    struct store *store;
    struct arena *arena;
    const struct fetch_batch *batch;
    bool is_by_id; /* the slice is a list of ids */

    /* Made by rejects_init(). */
    struct signal *signals; /* by provider_id */
    size_t signal_count;
};

bool rejects_init(struct rejects *rejects, const struct record_context *context,
                  struct error *err) MUST_CHECK;

/* In a transaction, before the batch row: *added of the signals are new. */
bool rejects_signal(const struct rejects *rejects, int64_t *added, struct error *err) MUST_CHECK;

/* In a transaction. The context has the whole lineage now. */
bool rejects_write(const struct rejects *rejects, const struct record_context *context,
                   struct error *err) MUST_CHECK;

#endif
