/* patra batch: what was requested and received, and the same again. */
#ifndef PATRA_CMD_BATCH_BATCH_H
#define PATRA_CMD_BATCH_BATCH_H

#include "cli/command.h"

extern const struct command COMMAND_BATCH;
extern const struct command COMMAND_BATCH_SHOW;
extern const struct command COMMAND_BATCH_REPLAY;

#endif
