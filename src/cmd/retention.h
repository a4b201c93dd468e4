/* retention: old batches and cursor events become files. */
#ifndef PATRA_CMD_RETENTION_H
#define PATRA_CMD_RETENTION_H

#include "cli/command.h"

extern const struct command COMMAND_RETENTION;

#endif
