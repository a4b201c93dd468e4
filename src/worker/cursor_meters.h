/* cursor_meters: replays the events of all cursors and counts what that shows: how long it took,
 * gaps between events, cursors that differ from what their events give (000 sections 4, 5 and 7).
 */
#ifndef PATRA_WORKER_CURSOR_METERS_H
#define PATRA_WORKER_CURSOR_METERS_H

#include "base/log.h"
#include "base/meter.h"
#include "port/clock.h"
#include "port/store.h"

struct cursor_meters_parts {
    struct store *store;
    struct arena *arena;
    struct clock *clock;
    struct meters *meters;
    struct log *log; /* "cursor differs from its events" */
};

/* A read transaction for each cursor. One whose events cannot be replayed is logged; the others are
 * counted nevertheless. */
bool cursor_meters_replay(const struct cursor_meters_parts *parts, struct error *err) MUST_CHECK;

#endif
