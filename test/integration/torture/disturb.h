/* disturb: what happens to a site, chosen by chance.
 *
 * A disturbance is one of: a trigger; a process that starts, is killed, stopped or asked to end; a
 * command of an operator; a fault of the upstream, or the end of its faults; time that passes
 * there; a strike at the store or the clock (strike.h). They do not wait for one another.
 */
#ifndef PATRA_TEST_TORTURE_DISTURB_H
#define PATRA_TEST_TORTURE_DISTURB_H

#include "site.h"

/* with_spoilt: records that cannot be read are among the faults. They are quarantined, and may be
 * missing although their window is complete. */
void disturb(struct site *site, bool with_spoilt);

/* Ends all faults, pauses and processes, and lets the leases of killed processes expire. */
void calm(struct site *site);

#endif
