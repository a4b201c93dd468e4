/* sequencer: turns committed events into the stream, in the one order that everybody reads.
 *
 *      ing_outbox   ids in the order they were drawn     5 6 . 8 9     7 is still being written,
 *                                                            ^         or never will be
 *      ing_stream   per lane 1, 2, 3 ...                 appended as they are seen, 7 later
 *
 * A round:
 *
 *      claim ── mark ── scan ── settle ── append
 *      if not    if there   one       gaps that    one transaction under the
 *      held      are gaps   moment    are dead     lease's epoch
 *
 * Order of a key. Its later event has the higher id, and who sees it sees the earlier one. Events
 * are appended by id within a round; so the earlier one is in this round or in one before.
 *
 * Nothing is skipped. Ids that were passed over are gaps (core/gaps.h), which every scan looks at
 * again. A gap is dead when all who were writing when it was known have ended: a mark says how far
 * ids were given out and, read after that, who is writing; when a later mark shares no writer with
 * it, the scan after that later mark has seen all there will be. Never by time.
 *
 * Nothing is appended twice, or by two. The lease's epoch fences the append; whoever is overtaken,
 * or does not know whether its append was committed, forgets everything it knew, claims again and
 * reads from the stream what is in it.
 *
 * Memory: gaps up to SEQUENCER_GAPS_MAX. If that is reached, a round stops at the event that needs
 * another gap, and goes on when the horizon has moved.
 */
#ifndef PATRA_ENGINE_PUBLISH_SEQUENCER_H
#define PATRA_ENGINE_PUBLISH_SEQUENCER_H

#include "base/attr.h"
#include "base/instant.h"
#include "port/store_stream.h"

enum {
    SEQUENCER_ROUND_MAX = 2000, /* new events of a round: some 10 ms of work */
    SEQUENCER_GAPS_MAX = 65536,
};

#define SEQUENCER_LEASE_US (5 * US_PER_SECOND)

struct sequencer_settings {
    struct str owner;  /* of the lease; no other sequencer has it */
    int64_t lease_us;  /* 0: SEQUENCER_LEASE_US */
    size_t gaps_max;   /* 0: SEQUENCER_GAPS_MAX */
    int64_t round_max; /* 0: SEQUENCER_ROUND_MAX */
};

struct sequencer_round {
    bool is_held;       /* it is the sequencer; else somebody else is */
    bool was_overtaken; /* it was, and another one has claimed the stream */
    int64_t appended;
    size_t gaps;   /* left */
    bool has_more; /* events wait that one round could not take */
};

struct sequencer;

/* The store must outlive it. */
bool sequencer_open(struct sequencer **sequencer, struct store *store,
                    const struct sequencer_settings *settings, struct error *err) MUST_CHECK;
void sequencer_close(struct sequencer *sequencer); /* accepts NULL; does not give the lease back */

/* One round at this instant of the clock that all processes share. After a failure it holds nothing
 * and the next round begins with a claim. */
bool sequencer_round(struct sequencer *sequencer, int64_t now_us, struct sequencer_round *round,
                     struct error *err) MUST_CHECK;

/* Gives the lease back, if it has it, also after a round that failed. */
bool sequencer_release(struct sequencer *sequencer, struct error *err) MUST_CHECK;

#endif
