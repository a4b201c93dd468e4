/* trigger: patra trigger SOURCE [OPERATION]. */
#ifndef PATRA_CMD_TRIGGER_TRIGGER_H
#define PATRA_CMD_TRIGGER_TRIGGER_H

#include "cli/command.h"
#include "cli/session.h"
#include "view/trigger.h"

extern const struct command COMMAND_TRIGGER;

/* ---- trigger_show.c: what it prints ---- */

struct trigger_shown {
    struct view_trigger view;
    struct arena *arena;
    FILE *out;
};

bool trigger_print(const struct trigger_shown *shown, struct error *err) MUST_CHECK;

#endif
