/* init: makes the store, or brings it to this program's schema. */
#ifndef PATRA_CMD_INIT_H
#define PATRA_CMD_INIT_H

#include "cli/command.h"

extern const struct command COMMAND_INIT;

#endif
