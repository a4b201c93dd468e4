/* work: patra work: only executors, for hosts that only fetch. */
#ifndef PATRA_CMD_WORK_H
#define PATRA_CMD_WORK_H

#include "cli/command.h"

extern const struct command COMMAND_WORK;

#endif
