/* settled: up to which event nothing can be committed any more.
 *
 * Events are numbered before they are committed, so on PostgreSQL one with a lower number may
 * become visible after one with a higher number was read. A reader that remembers the highest
 * number would miss it. See store_stream_writers().
 */
#ifndef PATRA_ENGINE_EXPORT_SETTLED_H
#define PATRA_ENGINE_EXPORT_SETTLED_H

#include "port/clock.h"
#include "port/store_stream.h"

struct settled {
    int64_t last;    /* the last event given out */
    bool is_settled; /* all up to it are visible now, or will never be */
};

struct settled_request {
    struct store *store;
    struct clock *clock;
    int64_t wait_us; /* for transactions that may still add events, which take milliseconds */
};

/* Takes a mark, then waits until those who were writing have ended. Others may begin meanwhile:
 * their events have higher numbers. */
bool settled_wait(struct arena *arena, const struct settled_request *request,
                  struct settled *settled, struct error *err) MUST_CHECK;

#endif
