/* patra trace. */
#ifndef PATRA_CMD_TRACE_H
#define PATRA_CMD_TRACE_H

#include "cli/command.h"

extern const struct command COMMAND_TRACE;

#endif
