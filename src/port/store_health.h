/* store_health: what of a database is broken, missing or held up, for patra doctor. Only reads. */
#ifndef PATRA_PORT_STORE_HEALTH_H
#define PATRA_PORT_STORE_HEALTH_H

#include "port/store.h"

struct health_text_list {
    struct str *items;
    size_t count;
};

struct health_ages { /* when the oldest row was written; 0: there is none */
    int64_t batch_us;
    int64_t cursor_event_us;
    int64_t newest_plan_us; /* and the newest */
};

/* A record with what its content is known by. */
struct health_payload {
    int64_t id; /* of its row */
    struct str source;
    struct str endpoint;
    struct str provider_id;
    struct str content_hash; /* hex */
    struct str payload;
    bool is_broken; /* stored packed, and cannot be unpacked: payload is '' */
};
struct health_payload_list {
    struct health_payload *items;
    size_t count;
};

/* An endpoint that has other records than is kept of their number. */
struct health_count {
    int64_t endpoint_id; /* of its row */
    struct str source;
    struct str endpoint;
    int64_t live, deleted;           /* counted */
    int64_t kept_live, kept_deleted; /* as patra record count says */
};
struct health_count_list {
    struct health_count *items;
    size_t count;
};

struct store_health_ops {
    bool (*faults)(struct store *store, struct arena *arena, bool is_deep,
                   struct health_text_list *list, struct error *err);
    bool (*payloads)(struct store *store, struct arena *arena, int64_t after_id, int64_t limit,
                     struct health_payload_list *list, struct error *err);
    bool (*miscounts)(struct store *store, struct arena *arena, struct health_count_list *list,
                      struct error *err);
    bool (*missing_indexes)(struct store *store, struct arena *arena, struct health_text_list *list,
                            struct error *err);
    bool (*long_transactions)(struct store *store, struct arena *arena, int64_t before_us,
                              struct health_text_list *list, struct error *err);
    bool (*ages)(struct store *store, struct health_ages *ages, struct error *err);
};

/* A text for each thing that the database itself finds broken; reads all of a SQLite file. Deep:
 * also compares each index with its table there, which takes several times as long. */
static inline bool MUST_CHECK store_health_faults(struct store *store, struct arena *arena,
                                                  bool is_deep, struct health_text_list *list,
                                                  struct error *err)
{
    return store->health->faults(store, arena, is_deep, list, err);
}

/* Records with a hash, by id, from the first above after_id. */
static inline bool MUST_CHECK store_health_payloads(struct store *store, struct arena *arena,
                                                    int64_t after_id, int64_t limit,
                                                    struct health_payload_list *list,
                                                    struct error *err)
{
    return store->health->payloads(store, arena, after_id, limit, list, err);
}

/* Counts all records. */
static inline bool MUST_CHECK store_health_miscounts(struct store *store, struct arena *arena,
                                                     struct health_count_list *list,
                                                     struct error *err)
{
    return store->health->miscounts(store, arena, list, err);
}

/* Names of indexes that the migrations make and the database does not have. */
static inline bool MUST_CHECK store_health_missing_indexes(struct store *store, struct arena *arena,
                                                           struct health_text_list *list,
                                                           struct error *err)
{
    return store->health->missing_indexes(store, arena, list, err);
}

/* Other sessions whose transaction began before the instant: what they began with is kept for
 * them, and later events wait. */
static inline bool MUST_CHECK store_health_long_transactions(struct store *store,
                                                             struct arena *arena, int64_t before_us,
                                                             struct health_text_list *list,
                                                             struct error *err)
{
    return store->health->long_transactions(store, arena, before_us, list, err);
}

static inline bool MUST_CHECK store_health_ages(struct store *store, struct health_ages *ages,
                                                struct error *err)
{
    return store->health->ages(store, ages, err);
}

#endif
