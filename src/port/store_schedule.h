/* store_schedule: triggers that have fired (ing_schedule_instance, the root of every lineage), and
 * the ticks of schedules, each of which is fired by one server only.
 */
#ifndef PATRA_PORT_STORE_SCHEDULE_H
#define PATRA_PORT_STORE_SCHEDULE_H

#include "core/codes.h"
#include "port/store.h"

struct schedule_instance {
    int64_t id;           /* given by the store */
    struct str scheduler; /* what fired it: "patra", or the name of another scheduler */
    struct str job_id;    /* that scheduler's names for the job and for this run of it; '' = none.
                             patra's own: SOURCE/OPERATION, and the instant of the tick */
    struct str log_id;
    enum trigger_type trigger;
    struct str source;
    struct str endpoint; /* '' = not given */
    enum operation operation;
    struct str params;          /* JSON: the parameters of the trigger */
    struct str expr_proto_hash; /* '' until the source is compiled */
    struct str remarks;         /* JSON: faults, warnings, why nothing was planned */
    int64_t triggered_us;
};

struct schedule_tick {
    struct str source;
    struct str schedule; /* the operation's name in the source */
    int64_t tick_us;
};

struct store_schedule_ops {
    bool (*add)(struct store *store, const struct schedule_instance *instance, int64_t *id,
                struct error *err);
    bool (*get)(struct store *store, struct arena *arena, int64_t id,
                struct schedule_instance *instance, bool *found, struct error *err);
    bool (*tick_claim)(struct store *store, const struct schedule_tick *tick, struct str owner,
                       int64_t now_us, bool *claimed, struct error *err);
    bool (*tick_last)(struct store *store, struct str source, struct str schedule, int64_t *tick_us,
                      bool *found, struct error *err);
};

static inline bool MUST_CHECK store_schedule_add(struct store *store,
                                                 const struct schedule_instance *instance,
                                                 int64_t *id, struct error *err)
{
    return store->schedule->add(store, instance, id, err);
}

static inline bool MUST_CHECK store_schedule_get(struct store *store, struct arena *arena,
                                                 int64_t id, struct schedule_instance *instance,
                                                 bool *found, struct error *err)
{
    return store->schedule->get(store, arena, id, instance, found, err);
}

/* Of all sessions that claim the same tick, *claimed is true for one only. */
static inline bool MUST_CHECK store_tick_claim(struct store *store,
                                               const struct schedule_tick *tick, struct str owner,
                                               int64_t now_us, bool *claimed, struct error *err)
{
    return store->schedule->tick_claim(store, tick, owner, now_us, claimed, err);
}

/* The latest claimed tick. */
static inline bool MUST_CHECK store_tick_last(struct store *store, struct str source,
                                              struct str schedule, int64_t *tick_us, bool *found,
                                              struct error *err)
{
    return store->schedule->tick_last(store, source, schedule, tick_us, found, err);
}

#endif
