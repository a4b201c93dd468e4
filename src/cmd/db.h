/* db: patra db grants: roles and privileges for the processes of a PostgreSQL store. */
#ifndef PATRA_CMD_DB_H
#define PATRA_CMD_DB_H

#include "cli/command.h"

extern const struct command COMMAND_DB;

#endif
