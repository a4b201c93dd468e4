/* status: patra status [SOURCE]. */
#ifndef PATRA_CMD_STATUS_STATUS_H
#define PATRA_CMD_STATUS_STATUS_H

#include "cli/command.h"

extern const struct command COMMAND_STATUS;

#endif
