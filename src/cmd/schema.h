/* schema: patra schema check: whether the events of two schemas can be mixed. */
#ifndef PATRA_CMD_SCHEMA_H
#define PATRA_CMD_SCHEMA_H

#include "cli/command.h"

extern const struct command COMMAND_SCHEMA;

#endif
