/* place: where an operation is: the namespace and the cursor that its next plan would go on from,
 * with the settings that are in force. Nothing is written.
 */
#ifndef PATRA_ENGINE_PLAN_PLACE_H
#define PATRA_ENGINE_PLAN_PLACE_H

#include "engine/plan/plan.h"
#include "port/store_cursor.h"
#include "port/store_task.h"

struct plan_place {
    struct coverage_namespace of;
    enum slice_dimension dimension; /* what its plans are cut by */
    bool has_cursor;
    struct cursor cursor;
    int64_t lag_us;
    int64_t align_us; /* how far a window's end may be rounded down; 0: it is not */
};

/* request: source, operation, now_us and specs. Errors are those of plan_trigger(). */
bool plan_place(struct store *store, struct arena *arena, const struct plan_request *request,
                struct plan_place *place, struct error *err) MUST_CHECK;

#endif
