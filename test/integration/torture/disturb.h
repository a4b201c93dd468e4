/* disturb: what happens to a site, by chance.
 *
 * One disturbance is one thing: a trigger, a process that comes or is killed, stopped or told to
 * end, a command of an operator, a fault of the upstream or its end, time that passes there, a
 * store that is out of reach. They do not wait for one another.
 */
#ifndef PATRA_TEST_TORTURE_DISTURB_H
#define PATRA_TEST_TORTURE_DISTURB_H

#include "site.h"

/* with_spoilt: records that can not be read are among the faults. They end in quarantine, and what
 * is in there may be missing although its window is complete. */
void disturb(struct site *site, bool with_spoilt);

/* Everything ends: faults, pauses, processes; leases of the dead run out. */
void calm(struct site *site);

#endif
