/* who: the person or account behind a command, for rows that say who did something. */
#ifndef PATRA_CMD_WHO_H
#define PATRA_CMD_WHO_H

#include "base/arena.h"

/* "alice@host"; under sudo "root@host for alice". The account is the system's word, whatever the
 * environment says; only for whom sudo acts is taken from there. */
struct str who_am_i(struct arena *arena);

#endif
