/* The steps of housekeeping, in their order. */
#include "engine/housekeeping/housekeeping.h"

#include "engine/reslice/reslice.h"
#include "port/store_lease.h"

bool housekeeping_run(struct store *store, const struct housekeeping_request *request,
                      struct housekeeping_result *result, struct error *err)
{
    const struct plan_reslice_request tickets = { .owner = request->owner,
                                                  .now_us = request->now_us,
                                                  .limit = request->tickets_max,
                                                  .specs = request->specs };
    struct plan_reslice_result resliced = { 0 };
    bool ok;

    *result = (struct housekeeping_result){ .reached = HOUSEKEEPING_LEASES };
    if (request->leases_max > 0 &&
        !store_lease_reclaim(store, request->now_us, request->leases_max, &result->leases, err))
        return false;
    result->reached = HOUSEKEEPING_TICKETS;
    ok = request->tickets_max == 0 || plan_reslice(store, &tickets, &resliced, err);
    result->tickets = resliced.tickets;
    result->children = resliced.children;
    if (ok)
        result->reached = HOUSEKEEPING_DONE;
    return ok;
}
