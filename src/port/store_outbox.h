/* store_outbox: the events of changes, written in the transaction of the change itself.
 *
 * An event belongs to a record and has its version; there is one event per version, and the order
 * of versions is the order of events. They are added by store_record_write. An event is never
 * changed: what was done with it is written elsewhere (port/store_stream.h).
 *
 * A foreign event belongs to an aggregate of another service instead (engine/import/import.h); its
 * body is that service's. One writer at a time adds those of an aggregate, in the order of their
 * versions.
 *
 * Its row is short. What it says together with its record and its batch is put together by
 * engine/message/envelope.h.
 */
#ifndef PATRA_PORT_STORE_OUTBOX_H
#define PATRA_PORT_STORE_OUTBOX_H

#include "port/store.h"
#include "port/store_lineage.h"

struct outbox_event {
    struct str event_id;    /* a UUID, 36 characters, lower case */
    struct str event_type;  /* "RecordCreated" */
    int64_t batch_id;       /* whose change it is; 0: none */
    int64_t version;        /* of its record */
    int64_t schema_version; /* of the event as it is published */
    int64_t lane;           /* where its key is published through */
    int64_t occurred_us;
    struct str body; /* any bytes: what record and batch do not say */
};

/* An event with what its row refers to. */
struct stored_event {
    struct outbox_event event;
    struct str source; /* of its record */
    struct str endpoint;
    struct str provider_id;
    struct str expr_hash;      /* of its batch's plan; empty: it has no batch */
    struct lineage lineage;    /* of its batch */
    struct str aggregate_type; /* of a foreign event, which has no record; else empty */
    struct str aggregate_id;
};

struct stored_event_list {
    struct stored_event *items;
    size_t count;
};

struct outbox_query {
    int64_t record_id;
    int64_t after_version; /* 0: from the first */
    int64_t limit;
};

struct foreign_event {
    struct str aggregate_type;
    struct str aggregate_id;
    struct outbox_event event;
};

struct foreign_place {    /* what the outbox has of an event's aggregate */
    int64_t last_version; /* the highest; 0: none */
    struct str event_id;  /* of the event with the same version; empty: none */
};

struct store_outbox_ops {
    bool (*of)(struct store *store, struct arena *arena, const struct outbox_query *query,
               struct stored_event_list *list, struct error *err);
    bool (*places)(struct store *store, struct arena *arena, const struct foreign_event *events,
                   size_t count, struct foreign_place *places, struct error *err);
    bool (*add)(struct store *store, const struct foreign_event *events, size_t count,
                int64_t *added, struct error *err);
};

/* The events of a record, by version. */
static inline bool MUST_CHECK store_outbox_of(struct store *store, struct arena *arena,
                                              const struct outbox_query *query,
                                              struct stored_event_list *list, struct error *err)
{
    return store->outbox->of(store, arena, query, list, err);
}

/* For each of the events, what is there; of the events only aggregate and version count. */
static inline bool MUST_CHECK store_outbox_places(struct store *store, struct arena *arena,
                                                  const struct foreign_event *events, size_t count,
                                                  struct foreign_place *places, struct error *err)
{
    return store->outbox->places(store, arena, events, count, places, err);
}

/* Adds foreign events, in this order; those of an aggregate by version. *added counts them: one
 * whose version is there already is left out. */
static inline bool MUST_CHECK store_outbox_add(struct store *store,
                                               const struct foreign_event *events, size_t count,
                                               int64_t *added, struct error *err)
{
    assert(store->state == STORE_WRITING);
    store_wrote_events(store);
    return store->outbox->add(store, events, count, added, err);
}

#endif
