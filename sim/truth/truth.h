/* truth: what a perfect harvest must hold.
 *
 * For a form ("crossref"), a window [from, to) of a date field, and a time `at`, every record is in
 * one of these states:
 *
 *      live      its current version at `at` is in the window: hold exactly that version
 *      deleted   the same, but it is a tombstone (only where the API serves tombstones)
 *      merged    the same, and its content is now under another id
 *      gone      it disappeared without a tombstone: may be held or not
 *      moved     its current version is outside the window: may be held or not
 *      absent    not visible by then: must not be held
 *
 * "Must hold" is fair to a harvester that has read every part of the window at least once at a time
 * when everything visible at `at` was already visible: by one sweep at `at`, or by a continuous
 * harvest up to `to` that re-reads at least as far back as versions arrive late
 * (world_options.late_us) and whose last sweep was at `at`. It need not have seen a version that
 * was replaced before it looked: an API shows only the last one. What may be held must still be
 * right: one of the versions that were visible by `at`, byte by byte.
 *
 * `sha256` is the hash of the record's own bytes in a list or detail response: from its "{" to its
 * "}", from <PubmedArticle> to </PubmedArticle>, from <record> to </record>.
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
    enum view_order field; /* the date that the window restricts */
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
 * JSON lines in the order of ids, and a last line with the totals of this response:
 *      {"id":"...","version":2,"updated_at":"...","state":"live","sha256":"..."}
 *      {"summary":{"live":10,...,"digest":"...","world":"seed=1&...","next":"the id for after="}}
 * next is null when nothing follows. The digest is the SHA-256 of "id TAB version TAB state TAB
 * sha256 LF" of all that must be held. may=1 adds the lines of gone and moved records, with all
 * versions that may be held; summary=1 omits the lines and totals the whole window; id= selects one
 * record. */
bool truth_respond(struct sim_world *world, struct http_call *call, struct error *err) MUST_CHECK;

#endif
