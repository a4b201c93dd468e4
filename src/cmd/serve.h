/* serve: patra serve: what has to run all the time, in one process or spread over many.
 *
 *      planner     fires schedules, cuts slices again, puts back what dead workers held
 *      executor    carries out tasks
 *
 * Any number of processes may have either role: a tick is fired once, a task is one worker's.
 */
#ifndef PATRA_CMD_SERVE_H
#define PATRA_CMD_SERVE_H

#include "cli/command.h"

extern const struct command COMMAND_SERVE;

#endif
