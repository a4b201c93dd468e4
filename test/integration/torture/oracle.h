/* oracle: what must be true of a site at rest, by the simulator's truth and by SQL of its own. */
#ifndef PATRA_TEST_TORTURE_ORACLE_H
#define PATRA_TEST_TORTURE_ORACLE_H

#include "site.h"

/* Triggers and works until nothing is left to do; it must come to that within a few rounds.
 * with_replay: everything is read once more, for what was put into quarantine. */
void come_to_rest(struct site *site, bool with_replay);
void check_site(struct site *site);

#endif
