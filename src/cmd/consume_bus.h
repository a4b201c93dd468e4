/* consume_bus: patra consume --bus: from a bus into tables, without a store. */
#ifndef PATRA_CMD_CONSUME_BUS_H
#define PATRA_CMD_CONSUME_BUS_H

#include "cli/command.h"

/* The command has the options --projection, --bus, --sink, --once and those of logs. */
enum exit_code consume_bus(const struct invocation *invocation);

#endif
