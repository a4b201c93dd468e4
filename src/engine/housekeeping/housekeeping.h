/* housekeeping: what those who work on a store do for all of them, between two tasks.
 *
 *      leases     that ran out are put back: their executors died or were paused
 *      tickets    of slices that proved too big become smaller slices (engine/reslice/reslice.h)
 *
 * Any number of processes may do it at once; each lease and each ticket is one process's.
 */
#ifndef PATRA_ENGINE_HOUSEKEEPING_HOUSEKEEPING_H
#define PATRA_ENGINE_HOUSEKEEPING_HOUSEKEEPING_H

#include "base/attr.h"
#include "engine/source/spec_cache.h"
#include "port/store.h"

struct housekeeping_request {
    struct str owner; /* who does it */
    int64_t now_us;
    int64_t leases_max;       /* at most so many; 0: leases are left alone */
    int64_t tickets_max;      /* at most so many; 0: tickets are left alone */
    struct spec_cache *specs; /* NULL: none */
};

enum housekeeping_step { HOUSEKEEPING_LEASES, HOUSEKEEPING_TICKETS, HOUSEKEEPING_DONE };

struct housekeeping_result {
    enum housekeeping_step reached; /* when it failed: where */
    int64_t leases;                 /* put back */
    int64_t tickets;                /* slices that were re-sliced */
    int64_t children;               /* into so many */
};

/* False when a step failed; what was done before it stays done. A ticket that cannot be served
 * fails HOUSEKEEPING_TICKETS once and is dropped, so it keeps nobody from working. */
bool housekeeping_run(struct store *store, const struct housekeeping_request *request,
                      struct housekeeping_result *result, struct error *err) MUST_CHECK;

#endif
