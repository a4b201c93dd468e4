/* quarantine_retry: reads a quarantined record again with the source's current settings, and
 * stores it like any other record.
 *
 *      row ── task: which operation fetched it ── the source's present snapshot ── judge
 *                                                                                   │ bad: it stays
 *      one transaction:   resolve the row ── check ── judge ── write ── event ◀─────╯
 *                              │ resolved before: nothing is written
 *
 * At most once: the row is resolved in the transaction that stores the record, so of any number of
 * attempts one succeeds. After "store.commit_unknown" another attempt finds out what happened. The
 * record's lineage is that of the batch that fetched it; its expr_hash is that of the current
 * settings.
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

/* L2: "quarantine.unknown", "source.unknown", "quarantine.operation" when no operation of the
 * source reads such records. */
bool quarantine_retry(struct store *store, struct arena *arena, struct random_source *random,
                      const struct quarantine_retry_request *request,
                      struct quarantine_retried *retried, struct error *err) MUST_CHECK;

#endif
