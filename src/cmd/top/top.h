/* top: patra top. */
#ifndef PATRA_CMD_TOP_TOP_H
#define PATRA_CMD_TOP_TOP_H

#include "cli/command.h"

extern const struct command COMMAND_TOP;

#endif
