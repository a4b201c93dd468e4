/* store_outbox: the events of a change, written in the transaction of the change itself.
 *
 * An event belongs to an aggregate (a record) and has its version; there is one event per version,
 * and the order of versions is the order of events. They are added by store_record_write.
 */
#ifndef PATRA_PORT_STORE_OUTBOX_H
#define PATRA_PORT_STORE_OUTBOX_H

#include "port/store.h"

struct outbox_event {
    struct str event_id; /* a UUID, 36 characters, lower case */
    struct str aggregate_type;
    struct str aggregate_id; /* the ordering key */
    struct str event_type;   /* "RecordCreated" */
    int64_t version;         /* of the aggregate */
    int64_t schema_version;  /* of the payload */
    int64_t lane;            /* where its key is published through */
    int64_t occurred_us;
    struct str payload; /* any bytes */
};

struct outbox_event_list {
    struct outbox_event *items;
    size_t count;
};

struct outbox_query {
    struct str aggregate_type;
    struct str aggregate_id;
    int64_t after_version; /* 0: from the first */
    int64_t limit;
};

struct store_outbox_ops {
    bool (*of)(struct store *store, struct arena *arena, const struct outbox_query *query,
               struct outbox_event_list *list, struct error *err);
};

/* The events of an aggregate, by version. */
static inline bool MUST_CHECK store_outbox_of(struct store *store, struct arena *arena,
                                              const struct outbox_query *query,
                                              struct outbox_event_list *list, struct error *err)
{
    return store->outbox->of(store, arena, query, list, err);
}

#endif
