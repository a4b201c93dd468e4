/* When old events are looked for. */
#include "engine/publish/retention.h"

#define LOOK_US US_PER_MINUTE

/* 5,000 rows of numbers. */
enum { ARENA_MAX = 1 << 20 };

bool retention_turn(struct retention *retention, struct store *store, int64_t now_us,
                    int64_t mono_us, int64_t *events, struct error *err)
{
    struct arena arena;
    bool ok;

    *events = 0;
    if (retention->keep_us == 0 || mono_us < retention->next_us)
        return true;
    arena_init(&arena, ARENA_MAX);
    ok = store_prune_run(store, &arena, now_us - retention->keep_us, events, err);
    arena_release(&arena);
    retention->next_us = mono_us + (*events < PRUNE_EVENTS_MAX ? LOOK_US : RETENTION_AGAIN_US);
    return ok;
}
