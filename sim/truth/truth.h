/* truth: what a perfect harvest must hold.
 *
 * Asked for a form ("crossref"), a window [from, to) of a date field, and a moment `at`, the truth
 * is about every record one of:
 *
 *      live      its current version at `at` lies in the window: hold exactly that version
 *      deleted   the same, but it is a tombstone (only where the API serves tombstones)
 *      merged    likewise, and its content now lives under another id
 *      gone      it vanished without a trace (APIs without tombstones): may be held or not
 *      moved     its current version lies outside of the window: may be held or not
 *      absent    never visible by then: must not be held
 *
 * "Must hold" is fair to a harvester which has read every part of the window at least once at a
 * moment when all that is visible at `at` was visible there: a single sweep at `at`; or a
 * continuous harvest up to `to`, re-reading at least as far back as versions arrive late
 * (world_options.late_us), whose last sweep was at `at`. It need not have seen any version that was
 * superseded before it looked: an API shows only the last one. What may be held must still be
 * right: one of the versions that were visible by `at`, byte by byte.
 *
 * `sha256` is that of the record's own bytes as they stand in a list or detail answer: from its
 * "{" to its "}", from <PubmedArticle> to </PubmedArticle>, from <record> to </record>.
 */
#ifndef PATRA_SIM_TRUTH_TRUTH_H
#define PATRA_SIM_TRUTH_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "sim/http/call.h"
#include "sim/protocol/body.h"
#include "sim/world/world.h"

enum truth_state {
    TRUTH_ABSENT,
    TRUTH_LIVE,
    TRUTH_DELETED,
    TRUTH_MERGED,
    TRUTH_GONE,
    TRUTH_MOVED,
};

struct truth_query {
    const struct body_form *form;
    enum view_order field; /* the date the window is about */
    int64_t from_us;
    int64_t to_us;
    int64_t at_us;
};

struct truth {
    enum truth_state state;
    uint32_t record;
    uint32_t version; /* the current one at `at`; CORPUS_NONE when absent */
};

enum { TRUTH_DIGEST_BYTES = 32 };

/* "updated" (also for an empty name), "deposited", "created", "entrez", "published". */
bool truth_field(struct str name, enum view_order *field);

const char *truth_state_name(enum truth_state state);
bool truth_must_hold(enum truth_state state); /* live, deleted, merged */

struct truth truth_of(const struct sim_world *world, const struct truth_query *query,
                      uint32_t record);

/* The hash of one version's body. `scratch` is overwritten. */
bool truth_hash(const struct sim_world *world, const struct body_form *form, uint32_t version,
                struct buf *scratch, uint8_t digest[TRUTH_DIGEST_BYTES],
                struct error *err) MUST_CHECK;

/* GET /_sim/truth?protocol=crossref&from=&to=&at=&field=&limit=&after=&may=1&summary=1&id=
 *
 * JSON lines in the order of ids, and a last one with the sums of what this answer covers:
 *      {"id":"...","version":2,"updated_at":"...","state":"live","sha256":"..."}
 *      {"summary":{"live":10,...,"digest":"...","world":"seed=1&...","next":"the id for after="}}
 * next is null when nothing follows. The digest is the SHA-256 of "id TAB version TAB state TAB
 * sha256 LF" of all that must be held. may=1 adds the lines of gone and moved records, with all
 * versions they may be held in; summary=1 leaves out the lines and sums up the whole window; id=
 * tells of one record alone. */
bool truth_respond(struct sim_world *world, struct http_call *call, struct error *err) MUST_CHECK;

#endif
