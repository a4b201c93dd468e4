/* consume: patra consume: applies events to projections. */
#ifndef PATRA_CMD_CONSUME_H
#define PATRA_CMD_CONSUME_H

#include "cli/command.h"

extern const struct command COMMAND_CONSUME;

#endif
