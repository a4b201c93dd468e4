/* init: patra init. */
#ifndef PATRA_CMD_INIT_H
#define PATRA_CMD_INIT_H

#include "cli/command.h"

extern const struct command COMMAND_INIT;

#endif
