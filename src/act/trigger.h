/* trigger: what a trigger would plan, for people who look before they leap. */
#ifndef PATRA_ACT_TRIGGER_H
#define PATRA_ACT_TRIGGER_H

#include "view/reader.h"
#include "view/trigger.h"

struct act_preview_request {
    struct str source;
    struct str operation;
    struct maybe_instant from;
    struct maybe_instant to;
    int64_t slices_max;
    struct spec_cache *specs;
    struct random_source *random;
};

struct act_preview { /* as view_trigger_write() takes it */
    struct plan_request request;
    struct plan_result result;
    struct trigger_preview preview;
};

/* Writes nothing. The errors of plan_preview(), and "request.parameter" (L2) where the window ends
 * before it begins. */
bool act_preview(const struct view_reader *reader, const struct act_preview_request *request,
                 struct act_preview *made, struct error *err) MUST_CHECK;

#endif
