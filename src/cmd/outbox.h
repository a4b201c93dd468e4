/* outbox: patra outbox: what became of the events. */
#ifndef PATRA_CMD_OUTBOX_H
#define PATRA_CMD_OUTBOX_H

#include "cli/command.h"

extern const struct command COMMAND_OUTBOX;

#endif
