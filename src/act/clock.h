/* clock: a person says that the clock is right. */
#ifndef PATRA_ACT_CLOCK_H
#define PATRA_ACT_CLOCK_H

#include "engine/session/store_time.h"
#include "port/store_mark.h"
#include "view/reader.h"

struct act_clock_accepted {
    struct store_time time; /* as it was found */
    struct store_mark_mended mended;
    int64_t cursors; /* that were set back */
};

/* The store goes by the clock from now on. If it has seen a later time, what was written then is
 * brought back to now: settings are in force, leases and waits end, and each cursor that was moved
 * then is set back to where it was before, so that what it passed is fetched again. Nothing is
 * changed when the clock is steady. */
bool act_clock_accept(const struct view_reader *reader, struct str who,
                      struct act_clock_accepted *accepted, struct error *err) MUST_CHECK;

#endif
