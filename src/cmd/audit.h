/* patra audit. */
#ifndef PATRA_CMD_AUDIT_H
#define PATRA_CMD_AUDIT_H

#include "cli/command.h"

extern const struct command COMMAND_AUDIT;

#endif
