/* relay_run: runs a relay until it is stopped or nothing is left (engine/lanes/lanes_run.h). */
#ifndef PATRA_ENGINE_RELAY_RELAY_RUN_H
#define PATRA_ENGINE_RELAY_RELAY_RUN_H

#include "engine/lanes/lanes_run.h"
#include "engine/relay/relay.h"

struct relay_run {
    struct relay_settings relay;
    bool is_draining; /* ends when nothing is left; a bus that fails is then an error */
};

/* Gives the lanes back when it ends; *total may be NULL. */
bool relay_run(const struct relay_parts *parts, const struct relay_run *run,
               struct lanes_total *total, struct error *err) MUST_CHECK;

#endif
