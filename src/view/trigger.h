/* trigger: what a trigger did, or would do, as people and programs see it. */
#ifndef PATRA_VIEW_TRIGGER_H
#define PATRA_VIEW_TRIGGER_H

#include "data/json_write.h"
#include "engine/plan/plan.h"

/* The first slices of a preview, as rows. Embeds the viewer first. */
struct trigger_preview {
    struct plan_viewer viewer;
    struct arena *arena;
    int64_t limit; /* of the slices kept */
    struct trigger_slice *slices;
    size_t count;
    bool failed; /* memory ran out */
};

struct trigger_slice {
    struct slice slice;
    int64_t ids;
    bool is_now;
    int64_t scheduled_us;
};

void trigger_preview_init(struct trigger_preview *preview, struct arena *arena, int64_t limit);

struct view_trigger {
    const struct plan_request *request;
    const struct plan_result *result;
    const struct trigger_preview *preview; /* NULL unless it is a dry run; it has not failed */
};

void view_trigger_write(struct json_writer *w, const struct view_trigger *view);

#endif
