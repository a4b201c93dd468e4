/* offset: patra offset: how far subscriptions are, and moving them. */
#ifndef PATRA_CMD_OFFSET_OFFSET_H
#define PATRA_CMD_OFFSET_OFFSET_H

#include "cli/command.h"

extern const struct command COMMAND_OFFSET;
extern const struct command OFFSET_SHOW;  /* offset_show.c */
extern const struct command OFFSET_RESET; /* offset_reset.c */

#endif
