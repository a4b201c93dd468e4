/* serve: patra serve: runs as a service, in one process or in many.
 *
 *      planner     fires schedules, re-slices, puts back the tasks of dead workers
 *      executor    runs tasks
 *
 * Any number of processes may have either role: each tick fires once, and each task belongs to one
 * worker.
 */
#ifndef PATRA_CMD_SERVE_H
#define PATRA_CMD_SERVE_H

#include "cli/command.h"

extern const struct command COMMAND_SERVE;

#endif
