/* strike: what happens to the ground that a site stands on: its store, and the clock of its host.
 *
 *      SQLite        locked; replaced by a backup that was taken earlier
 *      PostgreSQL    sessions cut off; stopped; a read-only standby for a while; silent for a while
 *      both          the host's clock jumps, by seconds to days, either way; a process dies while
 *                    the upstream makes it wait, so that its slot has no holder
 */
#ifndef PATRA_TEST_TORTURE_STRIKE_H
#define PATRA_TEST_TORTURE_STRIKE_H

#include "site.h"

void strike(struct site *site);

/* The clock is right again. */
void strike_end(struct site *site);

#endif
