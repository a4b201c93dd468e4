/* blackbox: evidence of what happened, as files that can be handed on. */
#ifndef PATRA_CMD_BLACKBOX_H
#define PATRA_CMD_BLACKBOX_H

#include "cli/command.h"

extern const struct command COMMAND_BLACKBOX;

#endif
