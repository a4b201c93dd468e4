/* plan_reslice: slices that proved too big, cut again as their executors asked.
 *
 * An executor that finds a slice too deep, over the source's cap, oversized, too slow or mostly
 * 429 ends its task PARTIAL with what it finished, and leaves a ticket in the same transaction
 * (store_reslice_add). The ticket's `remaining` is the part of the slice's window that is not
 * finished, at its end or at its start; its detail is JSON:
 *
 *      {"total":12345}             the source's own count for the slice's query
 *      {"finishedPage":17}         by page: the first page that is not finished
 *      {"finishedIds":200}         by id: how many of the slice's ids are finished, from the first
 *
 * Here each ticket becomes children that cover exactly what remains and is neither covered nor live
 * by now: a trigger may have been faster. The parent is PARTIAL and keeps what it finished. A
 * window that is as short as the source's dates tell apart is cut by ids, where the source can be
 * asked for a range of them (page.id_max); its parts cover it together. What can not be cut becomes
 * one child that says so ("lastResort" in its params): its executor must go through with it or
 * fail, and not ask again.
 */
#ifndef PATRA_ENGINE_RESLICE_RESLICE_H
#define PATRA_ENGINE_RESLICE_RESLICE_H

#include "base/attr.h"
#include "engine/source/spec_cache.h"
#include "port/store.h"

struct plan_reslice_request {
    struct str owner; /* who does it */
    int64_t now_us;
    int64_t limit;            /* tickets at most */
    struct spec_cache *specs; /* NULL: none */
};

struct plan_reslice_result {
    int64_t tickets;
    int64_t children;
};

/* Each ticket in a transaction of its own, under the lock of its namespace. After L1 the ticket it
 * was at is open again; any other failure drops that ticket, for the next trigger to plan what it
 * was about. Those before it stand in either case. */
bool plan_reslice(struct store *store, const struct plan_reslice_request *request,
                  struct plan_reslice_result *result, struct error *err) MUST_CHECK;

#endif
