/* Runs `patra-sim verify` and returns what it found. */
#include "sim_verify.h"

#include "run.h"

const char *sim_verify(const struct sim *sim, const struct sim_verify_ask *ask)
{
    const struct run run =
        RUN("patra-sim", "verify", "--store", ask->store, "--protocol", ask->protocol, "--source",
            ask->source, "--endpoint", ask->endpoint, "--from", ask->from, "--to", ask->to, "--url",
            sim->base, "--show", "1");

    if (run.code == 0)
        return NULL;
    return run.out.len > 0 ? run.out.data : run.talk.len > 0 ? run.talk.data : "verify failed";
}
