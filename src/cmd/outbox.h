/* outbox: patra outbox: what became of the events, and what waits. */
#ifndef PATRA_CMD_OUTBOX_H
#define PATRA_CMD_OUTBOX_H

#include "cli/command.h"

extern const struct command COMMAND_OUTBOX;

extern const struct command OUTBOX_PARKED; /* and the rest: outbox_parked.c */
extern const struct command OUTBOX_RETRY;
extern const struct command OUTBOX_SKIP;
extern const struct command OUTBOX_PAUSE;
extern const struct command OUTBOX_RESUME;
extern const struct command OUTBOX_DEAD; /* outbox_dead.c */
extern const struct command OUTBOX_REDRIVE;
extern const struct command OUTBOX_PRUNE; /* outbox_prune.c */

#endif
