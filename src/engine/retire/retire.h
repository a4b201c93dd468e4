/* retire: takes a source out of force, so that nothing of it runs any more.
 *
 *      Registry rows     are ended, never deleted: what was in force can still be shown
 *      waiting tasks     are cancelled with their plans; their snapshots would run otherwise
 *      cursors, plans,
 *      runs, records     stay: a source that is applied again continues where it was
 *
 * Records are deleted only on request, and as a source deletes them: the payload is emptied, the
 * version goes up, and an event says RecordDeleted. The row stays with its version, because the
 * outbox is append-only and consumers keep the highest version of each key: a record that came
 * back with version 1 would be refused by the first and overlooked by the second.
 */
#ifndef PATRA_ENGINE_RETIRE_RETIRE_H
#define PATRA_ENGINE_RETIRE_RETIRE_H

#include "base/arena.h"
#include "base/attr.h"
#include "port/random.h"
#include "port/store.h"
#include "spec/source.h"

struct retire_view {
    int64_t version; /* in force; 0: the source was taken out of force before */
    int64_t rows;    /* of the Registry, in force */
    int64_t waiting; /* tasks */
    int64_t running;
};

/* "source.unknown" (L2) where there is nothing of it: no rows in force, no tasks. */
bool retire_look(struct store *store, struct arena *arena, struct str code, int64_t now_us,
                 struct retire_view *view, struct error *err) MUST_CHECK;

/* "source.busy" (L1) while tasks run. A failure between its transactions leaves tasks that wait: a
 * second call cancels them. */
struct retire_result {
    int64_t rows;
    int64_t cancelled;
};
bool retire_source(struct store *store, struct arena *arena, struct str code, int64_t now_us,
                   struct retire_result *result, struct error *err) MUST_CHECK;

/* Deletes the records of all endpoints that the source has, some hundred per transaction. Call it
 * after retire_source(), with the source as it was: then nothing brings them back meanwhile.
 * *deleted counts those of this call, also after a failure. */
struct retire_records {
    const struct source *source;
    int64_t now_us;
    struct random_source *random;
};
bool retire_records(struct store *store, const struct retire_records *request, int64_t *deleted,
                    struct error *err) MUST_CHECK;

#endif
