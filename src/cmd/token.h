/* token: patra token new, list, revoke. */
#ifndef PATRA_CMD_TOKEN_H
#define PATRA_CMD_TOKEN_H

#include "cli/command.h"

extern const struct command COMMAND_TOKEN;

#endif
