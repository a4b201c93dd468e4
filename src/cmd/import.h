/* patra outbox import: foreign outboxes. */
#ifndef PATRA_CMD_IMPORT_H
#define PATRA_CMD_IMPORT_H

#include "cli/command.h"

extern const struct command COMMAND_OUTBOX_IMPORT;

#endif
