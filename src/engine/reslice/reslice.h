/* plan_reslice: re-slices what proved too big, as executors asked for by tickets.
 *
 * An executor that finds a slice too deep, over the source's cap, oversized, too slow or mostly
 * 429 ends its task PARTIAL with what it finished, and leaves a ticket in the same transaction
 * (store_reslice_add). The ticket's `remaining` is the part of the slice's window that is not
 * finished, at its end or at its start. Its detail is JSON:
 *
 *      {"total":12345}             the source's own count for the slice's query
 *      {"finishedPage":17}         by page: the first page that is not finished
 *      {"finishedIds":200}         by id: how many of the slice's ids are finished, from the first
 *
 * Each ticket becomes children that cover exactly what remains and is neither covered nor live by
 * now: a trigger may have been faster. The parent is PARTIAL and keeps what it finished. A window
 * as short as the resolution of the source's dates is cut by ids, where the source accepts a range
 * of them (page.id_max); its parts cover it together. What cannot be cut becomes one child that
 * says so ("lastResort" in its params): its executor must complete it or fail, and adds no other
 * ticket.
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

/* Each ticket is served in a transaction of its own, under the lock of its namespace. After L1 the
 * ticket that failed is open again; any other failure drops it, and the next trigger plans its
 * window. Tickets served before stay served. */
bool plan_reslice(struct store *store, const struct plan_reslice_request *request,
                  struct plan_reslice_result *result, struct error *err) MUST_CHECK;

#endif
