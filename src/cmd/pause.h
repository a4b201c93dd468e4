/* pause: patra pause, patra resume. */
#ifndef PATRA_CMD_PAUSE_H
#define PATRA_CMD_PAUSE_H

#include "cli/command.h"

extern const struct command COMMAND_PAUSE;
extern const struct command COMMAND_RESUME;

#endif
