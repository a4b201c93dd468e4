/* signals: patra signal list | drop. */
#ifndef PATRA_CMD_SIGNALS_H
#define PATRA_CMD_SIGNALS_H

#include "cli/command.h"

extern const struct command COMMAND_SIGNAL;

#endif
