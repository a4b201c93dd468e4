/* task: patra task list | show. */
#ifndef PATRA_CMD_TASK_H
#define PATRA_CMD_TASK_H

#include "cli/command.h"

extern const struct command COMMAND_TASK;

#endif
