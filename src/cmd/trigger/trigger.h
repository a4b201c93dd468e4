/* trigger: patra trigger SOURCE [OPERATION]. */
#ifndef PATRA_CMD_TRIGGER_TRIGGER_H
#define PATRA_CMD_TRIGGER_TRIGGER_H

#include "cli/command.h"
#include "cli/session.h"
#include "engine/plan/plan.h"

extern const struct command COMMAND_TRIGGER;

/* ---- trigger_show.c: what it prints ---- */

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

struct trigger_shown {
    const struct plan_request *request;
    const struct plan_result *result;
    const struct trigger_preview *preview; /* NULL unless it is a dry run */
    struct arena *arena;
    FILE *out;
};

bool trigger_print(const struct trigger_shown *shown, struct error *err) MUST_CHECK;

/* The same as one JSON object. */
bool trigger_print_json(const struct trigger_shown *shown, struct error *err) MUST_CHECK;

#endif
