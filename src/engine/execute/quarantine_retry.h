/* quarantine_retry: a record out of quarantine, read again by its source as it is in force now, and
 * stored the ordinary way.
 *
 *      row ── task: which operation fetched it ── the source's present snapshot ── judge
 *                                                                                   │ bad: it stays
 *      one transaction:   resolve the row ── check ── judge ── write ── event ◀─────╯
 *                              │ resolved before: nothing is written
 *
 * At most once: the row is resolved in the transaction that stores the record, so of any number of
 * people and processes that try, one does. An answer that was lost ("store.commit_unknown") is
 * found out by trying again. The record's lineage is that of the batch which brought it; its
 * expr_hash that of the source now.
 */
#ifndef PATRA_ENGINE_EXECUTE_QUARANTINE_RETRY_H
#define PATRA_ENGINE_EXECUTE_QUARANTINE_RETRY_H

#include "engine/source/spec_cache.h"
#include "port/random.h"
#include "port/store_quarantine.h"

enum quarantine_outcome {
    QUARANTINE_STORED,    /* a new version, and its event */
    QUARANTINE_KNOWN,     /* the store has this state or a newer one: resolved, nothing written */
    QUARANTINE_STILL_BAD, /* stays where it is */
    QUARANTINE_SETTLED,   /* somebody resolved it before */
};

struct quarantine_retry_request {
    int64_t id;
    struct str by;
    struct str note;
    int64_t now_us;
    bool is_dry;              /* all but the commit */
    struct spec_cache *specs; /* NULL: none */
};

struct quarantine_retried { /* texts in the arena */
    enum quarantine_outcome outcome;
    struct quarantined was;
    struct str provider_id; /* '' where none can be read */
    struct str change;      /* STORED: "new", "changed" or "gone" */
    struct str reason;      /* STILL_BAD, as the source is now */
    struct str detail;
};

/* L2: "quarantine.unknown", "source.unknown", "quarantine.operation" when nothing of the source
 * reads such records any more. */
bool quarantine_retry(struct store *store, struct arena *arena, struct random_source *random,
                      const struct quarantine_retry_request *ask,
                      struct quarantine_retried *retried, struct error *err) MUST_CHECK;

#endif
