/* patra why. */
#ifndef PATRA_CMD_WHY_H
#define PATRA_CMD_WHY_H

#include "cli/command.h"

extern const struct command COMMAND_WHY;

#endif
