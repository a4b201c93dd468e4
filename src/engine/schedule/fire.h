/* schedule_fire: operations that carry `every` or a cron line, fired when they are due.
 *
 * Any number of servers may do this at once. A tick is an instant of the calendar
 * (core/schedule.h); it is claimed in the transaction that makes its plan, so one server fires it,
 * and when that server dies half way another one does. Ticks that were missed collapse into the
 * latest: one plan catches up with all of them, because a plan begins where coverage ends.
 *
 * A source that is paused, stopped or disabled is passed over, and fires once when it is resumed.
 * One that does not compile is fired and refused: the trigger is recorded with its faults.
 *
 * After the tick of a harvest, gaps before its cursor are replayed (gaps.h).
 */
#ifndef PATRA_ENGINE_SCHEDULE_FIRE_H
#define PATRA_ENGINE_SCHEDULE_FIRE_H

#include "base/attr.h"
#include "core/window_decision.h"
#include "engine/plan/plan.h"
#include "engine/schedule/memory.h"
#include "port/store.h"

struct schedule_fired {
    struct str source;
    struct str operation; /* its name in the source */
    int64_t tick_us;
    const struct plan_result *result; /* NULL when it failed */
    const struct error *err;          /* NULL when it did not; L1 is tried again next time */
    bool is_gap;                      /* a replay of what the tick's harvest lacks: gaps.h */
    struct window gap;                /* not valid: they could not be found */
};

/* Called for every tick that this call fired or failed to fire. */
struct schedule_listener {
    void (*fired)(struct schedule_listener *listener, const struct schedule_fired *fired);
};

struct schedule_fire_request {
    struct str owner; /* this server */
    int64_t now_us;
    struct schedule_memory *memory;     /* kept for the next call; NULL: all is read */
    struct schedule_listener *listener; /* may be NULL */
    struct spec_cache *specs;           /* NULL: none */
    struct secret_source *secrets;      /* plan_request.secrets */
    struct random_source *random;       /* plan_request.random */
    struct plan_watch *watch;           /* plan_request.watch; `fired` follows, if it was fired */
};

struct schedule_fire_result {
    int64_t fired;             /* by this server */
    int64_t failed;            /* refused, or put off by L1 */
    int64_t gaps;              /* replays of gaps that were planned */
    struct maybe_instant next; /* the next tick of any schedule */
};

/* A source that fails does not keep the others from firing; false only when the sources cannot be
 * read. */
bool schedule_fire_due(struct store *store, const struct schedule_fire_request *request,
                       struct schedule_fire_result *result, struct error *err) MUST_CHECK;

/* ---- for people ---- */

struct schedule_view {
    struct str operation; /* its name in the source */
    struct str endpoint;
    bool has_last;
    int64_t last_us; /* the tick fired last */
    bool is_due;     /* a tick has come and was not fired yet: */
    int64_t due_us;  /* the first such */
    bool has_next;
    int64_t next_us;
    int64_t period_us; /* from the next tick to the one after it; 0: unknown */
};

struct schedule_view_list {
    struct schedule_view *items;
    size_t count;
};

/* The operations of a source that have a schedule, whether it is paused or not. */
bool schedule_view(struct store *store, struct arena *arena, const struct source *source,
                   int64_t now_us, struct schedule_view_list *list, struct error *err) MUST_CHECK;

#endif
