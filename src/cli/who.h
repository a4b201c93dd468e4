/* who: the person or account behind a command, for rows that say who did something; and the
 * process, for rows that say who holds something. */
#ifndef PATRA_CLI_WHO_H
#define PATRA_CLI_WHO_H

#include <stdint.h>

#include "base/arena.h"

/* "alice@host"; under sudo "root@host for alice". The account is the system's word, whatever the
 * environment says; only for whom sudo acts is taken from there. */
struct str who_am_i(struct arena *arena);

enum { WHO_PROCESS_MAX = 112 }; /* bytes, with a part of up to 10 and the NUL */

/* "host:4711:7f3a9c2e/1": where a person finds the process, a number made by chance when it was
 * started (pids come again), and which part of it this is. */
void who_process(char text[WHO_PROCESS_MAX], uint64_t start, const char *part);

#endif
