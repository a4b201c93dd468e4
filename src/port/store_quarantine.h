/* store_quarantine: items that could not become records, kept with all that is needed to see why,
 * until they are resolved.
 *
 *      add ──▶ open ──▶ RETRIED   read again after the source was corrected, and stored
 *                  ├──▶ REPLACED  a valid version of the record was received later
 *                  ╰──▶ DROPPED   a person decided to ignore it
 *
 * A row is resolved once and is never deleted: it says who resolved it, when and why.
 */
#ifndef PATRA_PORT_STORE_QUARANTINE_H
#define PATRA_PORT_STORE_QUARANTINE_H

#include "core/window.h"
#include "port/store.h"
#include "port/store_lineage.h"
#include "port/store_record.h"

enum quarantine_resolution {
    QUARANTINE_OPEN,
    QUARANTINE_RETRIED,
    QUARANTINE_REPLACED,
    QUARANTINE_DROPPED,
};

/* As the rows hold it; '' = open. */
static inline struct str quarantine_resolution_word(enum quarantine_resolution resolution)
{
    return resolution == QUARANTINE_RETRIED    ? STR("RETRIED")
           : resolution == QUARANTINE_REPLACED ? STR("REPLACED")
           : resolution == QUARANTINE_DROPPED  ? STR("DROPPED")
                                               : STR("");
}

static inline enum quarantine_resolution quarantine_resolution_find(struct str word)
{
    return str_eq(word, STR("RETRIED"))    ? QUARANTINE_RETRIED
           : str_eq(word, STR("REPLACED")) ? QUARANTINE_REPLACED
           : str_eq(word, STR("DROPPED"))  ? QUARANTINE_DROPPED
                                           : QUARANTINE_OPEN;
}

struct quarantined {
    int64_t id;
    struct str source;
    struct str endpoint;    /* the one under which it would have been stored */
    struct str provider_id; /* '' when none could be read */
    struct str reason;      /* a code: "id.missing" */
    struct str detail;
    int64_t position; /* within the batch */
    struct lineage lineage;
    int64_t observed_us; /* when the request was sent that brought it */
    int64_t created_us;
    enum quarantine_resolution resolution;
    int64_t resolved_us;    /* 0 = open */
    struct str resolved_by; /* '' = open */
    struct str note;        /* the reason, in the words of the one who resolved it */
    int64_t bytes;          /* of the payload */
    struct str payload;     /* as received; lists leave it out */
};

struct quarantined_list {
    struct quarantined *items;
    size_t count;
};

struct quarantine_filter {
    struct str source; /* '' = any; so for the next two */
    struct str endpoint;
    struct str reason;
    bool with_resolved; /* false: only open ones */
    int64_t after_id;
    int64_t limit;
};

struct quarantine_sum { /* counts only open ones */
    struct str source;
    struct str endpoint;
    struct str reason;
    int64_t count;
    int64_t first_us;
    int64_t last_us;
    struct window window; /* that their tasks requested, from the first to the last; not valid: they
                             were requested by ids, or are of a feed */
};

struct quarantine_sum_list {
    struct quarantine_sum *items;
    size_t count;
};

struct quarantine_resolve {
    int64_t id;
    enum quarantine_resolution resolution; /* not OPEN */
    struct str by;                         /* not '' */
    struct str note;
    int64_t now_us;
};

struct quarantine_replace { /* valid records of one endpoint that were received */
    struct str source;
    struct str endpoint;
    const struct str *provider_ids;
    size_t count;
    int64_t observed_us; /* what was quarantined later stays */
    struct str by;       /* not '' */
    struct str note;
    int64_t now_us;
};

struct store_quarantine_ops {
    bool (*add)(struct store *store, const struct quarantined *records, size_t count,
                int64_t *added, struct error *err);
    bool (*list)(struct store *store, struct arena *arena, const struct quarantine_filter *filter,
                 struct quarantined_list *list, struct error *err);
    bool (*get)(struct store *store, struct arena *arena, int64_t id, struct quarantined *record,
                bool *found, struct error *err);
    bool (*of)(struct store *store, struct arena *arena, const struct record_key *key,
               int64_t limit, struct quarantined_list *list, struct error *err);
    bool (*sums)(struct store *store, struct arena *arena, struct str source,
                 struct quarantine_sum_list *list, struct error *err);
    bool (*resolve)(struct store *store, const struct quarantine_resolve *resolve, bool *resolved,
                    struct error *err);
    bool (*replace)(struct store *store, const struct quarantine_replace *replace,
                    int64_t *resolved, struct error *err);
};

/* Adds one record per batch and position (0 means no batch, and has no such limit); *added counts
 * the new ones. A record that is received again in another batch, with the same bytes and the same
 * reason, is not added while the first one is open or was dropped: sweeps, lookbacks and updates
 * may receive it any number of times. */
static inline bool MUST_CHECK store_quarantine_add(struct store *store,
                                                   const struct quarantined *records, size_t count,
                                                   int64_t *added, struct error *err)
{
    return store->quarantine->add(store, records, count, added, err);
}

/* By id, from the first above after_id; without payloads. */
static inline bool MUST_CHECK store_quarantine_list(struct store *store, struct arena *arena,
                                                    const struct quarantine_filter *filter,
                                                    struct quarantined_list *list,
                                                    struct error *err)
{
    return store->quarantine->list(store, arena, filter, list, err);
}

/* With its payload, open or not. */
static inline bool MUST_CHECK store_quarantine_get(struct store *store, struct arena *arena,
                                                   int64_t id, struct quarantined *record,
                                                   bool *found, struct error *err)
{
    return store->quarantine->get(store, arena, id, record, found, err);
}

/* What was received under the id of a record, open or not, the newest first; without payloads. */
static inline bool MUST_CHECK store_quarantine_of(struct store *store, struct arena *arena,
                                                  const struct record_key *key, int64_t limit,
                                                  struct quarantined_list *list, struct error *err)
{
    return store->quarantine->of(store, arena, key, limit, list, err);
}

/* Counts of open ones, ordered by source, endpoint and reason; source '' counts all. */
static inline bool MUST_CHECK store_quarantine_sums(struct store *store, struct arena *arena,
                                                    struct str source,
                                                    struct quarantine_sum_list *list,
                                                    struct error *err)
{
    return store->quarantine->sums(store, arena, source, list, err);
}

/* *resolved is false when it was resolved before or does not exist: of several callers, one
 * succeeds. Inside a transaction its row stays locked until the end. */
static inline bool MUST_CHECK store_quarantine_resolve(struct store *store,
                                                       const struct quarantine_resolve *resolve,
                                                       bool *resolved, struct error *err)
{
    assert(resolve->resolution != QUARANTINE_OPEN && resolve->by.len > 0);
    return store->quarantine->resolve(store, resolve, resolved, err);
}

/* All open ones of these records that were not observed later become REPLACED; *resolved counts
 * them. Cheap enough for every batch: when the endpoint has no open one with an id, it is one
 * lookup in an index. Needs a transaction. */
static inline bool MUST_CHECK store_quarantine_replace(struct store *store,
                                                       const struct quarantine_replace *replace,
                                                       int64_t *resolved, struct error *err)
{
    assert(store->state == STORE_WRITING && replace->by.len > 0);
    return store->quarantine->replace(store, replace, resolved, err);
}

#endif
