/* store_archive: full responses, known by the hash of their bytes (engine/archive).
 *
 * A body is written in the transaction of the batch that refers to it, so a batch that is committed
 * finds its body until that is pruned. The same bytes are kept once, however many batches had them.
 * The archive is in the store, not in files beside it: all hosts see it, and a backup of the store
 * has it.
 */
#ifndef PATRA_PORT_STORE_ARCHIVE_H
#define PATRA_PORT_STORE_ARCHIVE_H

#include "port/store.h"

struct archived_body {
    struct str hash; /* SHA-256 of the bytes before packing, in hex */
    struct str source;
    struct str endpoint;
    int64_t dictionary_id; /* 0: none */
    int64_t raw_bytes;
    struct str packed;
    int64_t used_us; /* when a batch had it last */
};

struct dictionary_key { /* of what */
    struct str source;
    struct str endpoint;
    bool of_payloads; /* of its records; false: of its responses */
};

/* Never changed, never removed. */
struct archive_dictionary {
    int64_t id; /* given by the store; 0: none */
    int64_t created_us;
    struct str bytes;
};

struct archive_bound { /* of one endpoint */
    struct str source;
    struct str endpoint;
    int64_t before_us; /* bodies that no batch had since are removed */
    int64_t bytes_max; /* 0: any; otherwise the oldest are removed until no more are left */
    int64_t limit;     /* of one call */
};

struct archive_sum {
    int64_t bodies;
    int64_t raw_bytes;
    int64_t packed_bytes;
};

/* A batch whose body is there. */
struct archived_batch {
    int64_t id;
    int64_t run_id;
    int64_t number;
};

struct archived_batch_list {
    struct archived_batch *items; /* by id */
    size_t count;
};

struct archive_hash_list {
    struct str *items;
    size_t count;
};

/* Evidence that was taken out of the black box: an audit row, which is never changed. */
struct evidence_pack {
    int64_t id;
    struct str subject; /* "run 31" */
    struct str path;
    struct str sha256; /* of its manifest */
    struct str reason;
    struct str exported_by;
    int64_t created_us;
    int64_t expires_us;
};

struct evidence_pack_list {
    struct evidence_pack *items;
    size_t count;
};

struct store_archive_ops {
    bool (*pack_add)(struct store *store, const struct evidence_pack *pack, int64_t *id,
                     struct error *err);
    bool (*packs)(struct store *store, struct arena *arena, int64_t limit,
                  struct evidence_pack_list *list, struct error *err);
    bool (*put)(struct store *store, const struct archived_body *body, struct error *err);
    bool (*get)(struct store *store, struct arena *arena, struct str hash,
                struct archived_body *body, bool *found, struct error *err);
    bool (*sample)(struct store *store, struct arena *arena, struct str source, struct str endpoint,
                   int64_t limit, struct archive_hash_list *hashes, struct error *err);
    bool (*dictionary_add)(struct store *store, const struct dictionary_key *key, struct str bytes,
                           int64_t now_us, struct error *err);
    bool (*dictionary_last)(struct store *store, const struct dictionary_key *key,
                            struct archive_dictionary *dictionary, struct error *err);
    bool (*dictionary_get)(struct store *store, struct arena *arena, int64_t id,
                           struct archive_dictionary *dictionary, bool *found, struct error *err);
    bool (*batches)(struct store *store, struct arena *arena, struct str source,
                    struct store_page page, struct archived_batch_list *list, struct error *err);
    bool (*sum)(struct store *store, struct str source, struct str endpoint,
                struct archive_sum *sum, struct error *err);
    bool (*prune)(struct store *store, const struct archive_bound *bound, int64_t *removed,
                  struct error *err);
};

/* Adds the body, or notes that it was used again. In the transaction of its batch. */
static inline bool MUST_CHECK store_archive_put(struct store *store,
                                                const struct archived_body *body, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->archive->put(store, body, err);
}

static inline bool MUST_CHECK store_archive_get(struct store *store, struct arena *arena,
                                                struct str hash, struct archived_body *body,
                                                bool *found, struct error *err)
{
    return store->archive->get(store, arena, hash, body, found, err);
}

/* Hashes of the bodies of an endpoint that were used last. */
static inline bool MUST_CHECK store_archive_sample(struct store *store, struct arena *arena,
                                                   struct str source, struct str endpoint,
                                                   int64_t limit, struct archive_hash_list *hashes,
                                                   struct error *err)
{
    return store->archive->sample(store, arena, source, endpoint, limit, hashes, err);
}

static inline bool MUST_CHECK store_archive_dictionary_add(struct store *store,
                                                           const struct dictionary_key *key,
                                                           struct str bytes, int64_t now_us,
                                                           struct error *err)
{
    return store->archive->dictionary_add(store, key, bytes, now_us, err);
}

/* The newest, without its bytes; id 0 where there is none. */
static inline bool MUST_CHECK store_archive_dictionary_last(struct store *store,
                                                            const struct dictionary_key *key,
                                                            struct archive_dictionary *dictionary,
                                                            struct error *err)
{
    return store->archive->dictionary_last(store, key, dictionary, err);
}

static inline bool MUST_CHECK store_archive_dictionary_get(struct store *store, struct arena *arena,
                                                           int64_t id,
                                                           struct archive_dictionary *dictionary,
                                                           bool *found, struct error *err)
{
    return store->archive->dictionary_get(store, arena, id, dictionary, found, err);
}

/* Batches of a source that succeeded and whose bodies are there, after page.after. */
static inline bool MUST_CHECK store_archive_batches(struct store *store, struct arena *arena,
                                                    struct str source, struct store_page page,
                                                    struct archived_batch_list *list,
                                                    struct error *err)
{
    return store->archive->batches(store, arena, source, page, list, err);
}

static inline bool MUST_CHECK store_archive_sum(struct store *store, struct str source,
                                                struct str endpoint, struct archive_sum *sum,
                                                struct error *err)
{
    return store->archive->sum(store, source, endpoint, sum, err);
}

static inline bool MUST_CHECK store_archive_pack_add(struct store *store,
                                                     const struct evidence_pack *pack, int64_t *id,
                                                     struct error *err)
{
    return store->archive->pack_add(store, pack, id, err);
}

/* The latest first. */
static inline bool MUST_CHECK store_archive_packs(struct store *store, struct arena *arena,
                                                  int64_t limit, struct evidence_pack_list *list,
                                                  struct error *err)
{
    return store->archive->packs(store, arena, limit, list, err);
}

/* Up to bound->limit bodies, the oldest first. */
static inline bool MUST_CHECK store_archive_prune(struct store *store,
                                                  const struct archive_bound *bound,
                                                  int64_t *removed, struct error *err)
{
    return store->archive->prune(store, bound, removed, err);
}

#endif
