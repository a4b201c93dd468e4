/* patra rederive. */
#ifndef PATRA_CMD_REDERIVE_H
#define PATRA_CMD_REDERIVE_H

#include "cli/command.h"

extern const struct command COMMAND_REDERIVE;

#endif
