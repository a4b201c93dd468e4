/* reharvest: archived responses read again by the source in force, without one request.
 *
 *      batches of the source whose bodies are there, in the order in which they were stored
 *        response ── by the snapshot in force ──▶ records ── judged as in a harvest
 *                                                    │
 *      one transaction per response:                 ├─ new, or other content: a version, an event
 *                                                    ├─ quarantined then, good now: resolved
 *                                                    ╰─ the same: nothing
 *
 * This finds what stored payloads cannot show (engine/rederive): items that were quarantined, and
 * items, ids or dates that were looked for in wrong places. Records are observed when the request
 * was sent, so nothing that was fetched since is overwritten. Whatever does not change is not
 * touched; running it twice changes nothing the second time.
 */
#ifndef PATRA_ENGINE_REHARVEST_REHARVEST_H
#define PATRA_ENGINE_REHARVEST_REHARVEST_H

#include "base/uuid.h"
#include "engine/archive/archive.h"
#include "engine/source/spec_cache.h"
#include "port/random.h"
#include "port/store_run.h"
#include "spec/snapshot.h"

struct reharvest_result {
    int64_t responses; /* read */
    int64_t records;   /* in them */
    int64_t created;   /* stored, or with is_dry would be; the next two as well */
    int64_t updated;
    int64_t deleted;
    int64_t unchanged;
    int64_t older;      /* than what is stored by now */
    int64_t bad;        /* cannot be judged by the source in force */
    int64_t unreadable; /* responses that the source in force cannot read */
    int64_t masked;     /* responses left alone, because a secret was taken out of them */
};

struct reharvest_request { /* all must outlive the call */
    const struct source *source;
    struct archive *archive;
    struct spec_cache *specs;
    struct secret_source *secrets;
    struct random_source *random;
    const struct xml *xml; /* NULL: loaded where it is needed */
    int64_t now_us;
    bool is_dry; /* nothing is written */
};

/* Without a transaction. What was done before a failure stays done. */
bool reharvest(struct store *store, const struct reharvest_request *request,
               struct reharvest_result *result, struct error *err) MUST_CHECK;

/* ---- parts ---- */

struct reharvesting {
    struct store *store;
    const struct reharvest_request *request;
    struct reharvest_result *result;
    struct arena own;  /* the snapshot */
    struct arena page; /* of one response */
    struct arena list; /* of batches */
    struct uuid_state event_ids;
    struct str operation; /* that `snapshot` is of; '' = none yet */
    bool has_snapshot;    /* the operation exists */
    struct snapshot snapshot;
    char last_hash[HASH_HEX_MAX]; /* of the body that was read last */
};

/* One response (reharvest_batch.c). */
bool reharvest_batch(struct reharvesting *r, const struct archived_batch *row,
                     struct error *err) MUST_CHECK;

#endif
