/* sim_verify: `patra-sim verify`, run over a store as a user would run it. */
#ifndef PATRA_TEST_SUPPORT_SIM_VERIFY_H
#define PATRA_TEST_SUPPORT_SIM_VERIFY_H

#include "child.h"

struct sim_verify_ask {
    const char *store; /* its address */
    const char *protocol;
    const char *source;
    const char *endpoint;
    const char *from;
    const char *to;
};

/* NULL: nothing is wrong; else what it said, which lives until the test program ends. */
const char *sim_verify(const struct sim *sim, const struct sim_verify_ask *ask);

#endif
