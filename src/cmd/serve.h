/* serve: patra serve: runs as a service, in one process or in many.
 *
 *      planner     fires schedules, re-slices, puts back the tasks of dead workers
 *      executor    runs tasks
 *      publisher   gives events their place in the stream
 *
 * Any number of processes may have any role: each tick fires once, each task belongs to one worker,
 * and one publisher is at work while the others wait.
 */
#ifndef PATRA_CMD_SERVE_H
#define PATRA_CMD_SERVE_H

#include "cli/command.h"

extern const struct command COMMAND_SERVE;

#endif
