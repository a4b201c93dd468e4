/* schedule_memory: what fires by itself, of all sources, kept from one look to the next.
 *
 *      if (!schedule_memory_refresh(&memory, store, now_us, err))
 *          return false;
 *      ... memory.scheduled ...
 *
 * A look costs one query while no source changes. When one has, or one of its rows comes into
 * force or goes out of it, all are read again.
 */
#ifndef PATRA_ENGINE_SCHEDULE_MEMORY_H
#define PATRA_ENGINE_SCHEDULE_MEMORY_H

#include "engine/schedule/scheduled.h"
#include "port/store_registry.h"

struct schedule_memory {
    struct arena arena; /* of the members below */
    bool is_read;
    struct registry_entry_list sources; /* as they were read */
    struct scheduled_list scheduled;    /* by source and name */
};

void schedule_memory_init(struct schedule_memory *memory);
void schedule_memory_release(struct schedule_memory *memory);

/* After a failure it has nothing. */
bool schedule_memory_refresh(struct schedule_memory *memory, struct store *store, int64_t now_us,
                             struct error *err) MUST_CHECK;

#endif
