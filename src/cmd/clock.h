/* patra clock. */
#ifndef PATRA_CMD_CLOCK_H
#define PATRA_CMD_CLOCK_H

#include "cli/command.h"

extern const struct command COMMAND_CLOCK;

#endif
