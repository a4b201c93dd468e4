/* alive: patra alive. */
#ifndef PATRA_CMD_ALIVE_H
#define PATRA_CMD_ALIVE_H

#include "cli/command.h"

extern const struct command COMMAND_ALIVE;

#endif
