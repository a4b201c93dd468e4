/* offset_bus: patra offset for projections that are fed from a bus: where their rows are (--sink)
 * is all that is known of them. */
#ifndef PATRA_CMD_OFFSET_OFFSET_BUS_H
#define PATRA_CMD_OFFSET_OFFSET_BUS_H

#include "cli/command.h"
#include "engine/lanes/offset_reset.h"

/* The options that say so. */
bool offset_is_of_bus(const struct invocation *invocation);

enum exit_code offset_bus_show(const struct invocation *invocation);

/* `place` has kind, at_us and event_id; `now_us` is its. */
enum exit_code offset_bus_reset(const struct invocation *invocation,
                                const struct offset_reset *place);

#endif
