/* plan: patra plan list | show | cancel. */
#ifndef PATRA_CMD_PLAN_H
#define PATRA_CMD_PLAN_H

#include "cli/command.h"

extern const struct command COMMAND_PLAN;

#endif
