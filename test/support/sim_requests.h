/* sim_requests: what a harvest from patra-sim cost, by patra-sim's own books.
 *
 * The requests are those of its audit without the ones that it spoiled or refused. The need is the
 * pages of each slice that was planned, by the truth of the slice's window. Pieces of a slice that
 * was re-sliced are not planned ones: what re-slicing costs is not needed.
 */
#ifndef PATRA_TEST_SUPPORT_SIM_REQUESTS_H
#define PATRA_TEST_SUPPORT_SIM_REQUESTS_H

#include <stdint.h>

#include "child.h"

struct sim_requests_ask {
    const char *store; /* as patra takes it */
    const char *protocol;
    const char *source;
    int id_batch;       /* ids to a request of phase two; 0: there is none */
    int cap, halvings;  /* see page_need.h */
    int64_t overlap_us; /* by which requests begin before their window */
};

/* Prints requests, need and their ratio, and fails the test where the ratio is too large. */
void sim_requests_check(const struct sim *sim, const struct sim_requests_ask *ask);

#endif
