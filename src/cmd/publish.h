/* publish: patra publish: gives events their place in the stream. */
#ifndef PATRA_CMD_PUBLISH_H
#define PATRA_CMD_PUBLISH_H

#include "cli/command.h"

extern const struct command COMMAND_PUBLISH;

#endif
