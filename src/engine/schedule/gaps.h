/* gaps: periods that a harvest's cursor has passed and that no task covers, replayed.
 *
 *      covered   |=====|    |=========|======|
 *      gap             |----|                 cursor
 *
 * A cursor passes only what is covered, so there should be none. Rows that were lost, changed by
 * hand or restored from an older backup leave some, and then records are missing without a word.
 * A gap is replayed in a campaign of its own: records that are missing or were changed are stored,
 * the others stay as they are, and no forward cursor moves. A period that a person skipped (cursor
 * reset to a later value) is not a gap. Nor is one that a replay of a gap has covered or has under
 * way.
 */
#ifndef PATRA_ENGINE_SCHEDULE_GAPS_H
#define PATRA_ENGINE_SCHEDULE_GAPS_H

#include "engine/plan/plan.h"
#include "engine/schedule/fire.h"

/* The name of the campaign that replays gaps. */
#define GAPS_CAMPAIGN "gaps"

/* How far before the cursor gaps are looked for, and how many are replayed at a time. */
#define GAPS_SPAN_US (30 * US_PER_DAY)
enum { GAPS_MAX = 8 };

struct gaps_request {
    struct str source;
    struct str operation; /* a harvest's name in the source */
    int64_t now_us;
    struct spec_cache *specs;
    struct secret_source *secrets;
};

/* The gaps that no replay covers or has under way, the oldest first, GAPS_MAX at most. None for an
 * operation that is not a HARVEST by time. */
bool gaps_find(struct store *store, struct arena *arena, const struct gaps_request *request,
               struct window_list *gaps, struct error *err) MUST_CHECK;

/* The trigger that replays one of them. */
struct plan_request gaps_replay(const struct gaps_request *request, struct window gap);

#endif
