/* who: the account that runs a command, for rows that record who did something, and the process,
 * for rows that record who holds something. */
#ifndef PATRA_CLI_WHO_H
#define PATRA_CLI_WHO_H

#include <stdint.h>

#include "base/arena.h"

/* "alice@host"; under sudo "root@host for alice". The account comes from the system, not from the
 * environment; only the user behind sudo is read from there. */
struct str who_am_i(struct arena *arena);

enum { WHO_PROCESS_MAX = 112 }; /* bytes, with a part of up to 10 and the NUL */

/* "host:4711:7f3a9c2e/1": host and pid, a random number drawn when the process started (because
 * pids are reused), and which part of the process this is. */
void who_process(char text[WHO_PROCESS_MAX], uint64_t start, const char *part);

#endif
