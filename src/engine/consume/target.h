/* target: what a consumer does with events. engine/consume/projection.h makes one of a spec.
 *
 *      make    before the transaction: what is to be written, from events alone
 *      write   within it
 */
#ifndef PATRA_ENGINE_CONSUME_TARGET_H
#define PATRA_ENGINE_CONSUME_TARGET_H

#include "base/arena.h"
#include "base/error.h"
#include "engine/project/project.h"

struct consume_target {
    void *context;
    bool (*takes)(void *context, struct str aggregate_type, struct str event_type);
    /* Events of each key by version. L3: event *failed is at fault, and nothing before it is. What
     * is made lives in the arena and may refer to the events. */
    bool (*make)(void *context, struct arena *arena, const struct project_event *events,
                 size_t count, const void **made, size_t *failed, struct error *err);
    /* In the transaction that is open, which it leaves open. L2 and L3: an event is at fault. */
    bool (*write)(void *context, struct arena *arena, const void *made, struct error *err);
};

/* What a failure of `write` says of the events: they are at fault, not the database. */
static inline bool consume_error_is_of_data(const struct error *err)
{
    return err->level == ERROR_REQUEST || err->level == ERROR_DATA;
}

#endif
