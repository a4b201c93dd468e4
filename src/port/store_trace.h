/* store_trace: what the store knows of one record's way: who was to fetch it, who did, and where
 * its events are. For people who look for a record; nothing here writes.
 *
 *      store_trace_windows()     tasks whose window holds an instant
 *      store_trace_plans()       plans whose window holds it
 *      store_trace_planned()     whether there is any plan
 *      store_trace_listed()      tasks whose phase one listed the id
 *      store_trace_ids()         records from an id on, in the order of ids
 *      store_trace_request()     a batch that brought it, and what was asked
 *      store_trace_events()      its events, with their positions in the stream
 *      store_trace_foreign()     those of an aggregate of another service
 *      store_trace_sequencer()   how far the stream is
 *      store_trace_offset()      how far a subscription is in a lane
 *      store_trace_parked()      whether its key waits in a subscription
 *      store_trace_letters()     its events that were given up
 *      store_trace_seek()        who moved a subscription over a position
 *
 * The last four are read where the subscription keeps its offsets: in the store, or where the
 * tables of a projection are (port/store_sink.h).
 *
 * Each reads as many rows as it returns, through an index, whatever the size of the store. Windows
 * and plans look at an index entry for every task or plan of the endpoint that ends after the
 * instant.
 */
#ifndef PATRA_PORT_STORE_TRACE_H
#define PATRA_PORT_STORE_TRACE_H

#include "port/store_offset.h"
#include "port/store_outbox.h"
#include "port/store_plan.h"
#include "port/store_record.h"
#include "port/store_status.h"

struct trace_instant {
    struct str source;
    struct str endpoint; /* of the requests */
    int64_t at_us;
    int64_t limit;
};

struct trace_plan {
    int64_t id;
    enum operation operation;
    struct window window;
    enum plan_status status;
    struct str expr_hash;
    bool is_by_pages; /* its tasks cover its window together, and none of them a part of it */
};

struct trace_plan_list {
    struct trace_plan *items; /* the newest first */
    size_t count;
};

struct trace_id_list {
    struct record_key *items; /* by id, in the order of bytes */
    size_t count;
};

struct trace_request {
    struct lineage lineage;
    int64_t batch_no; /* of its run */
    enum operation operation;
    struct str endpoint;
    struct window window; /* of the task; not valid: it has none */
    int64_t attempt;      /* of the task: which run */
    struct str worker;
    struct str digest; /* of the request, as its row has it: JSON, no secrets */
    int64_t committed_us;
};

struct trace_event {
    struct outbox_event event;
    int64_t id;           /* of its row */
    int64_t pos;          /* in its lane; 0: not in the stream, or so late that it was not found */
    int64_t sequenced_us; /* when it came there */
};

struct trace_event_list {
    struct trace_event *items; /* the newest version first */
    size_t count;
};

struct trace_sequencer {
    int64_t cursor_id; /* the highest id of an event that it has looked at */
    int64_t horizon_id;
    struct str owner; /* empty: none */
    int64_t leased_until_us;
};

struct trace_key { /* of an event, as a subscription knows it */
    struct offset_key offset;
    struct str aggregate_type;
    struct str aggregate_id;
};

struct trace_parked {
    int64_t head_version;
    int64_t seen_version;
    int64_t attempts;
    int64_t next_retry_us;
    struct str last_error;
    int64_t parked_us;
};

struct trace_letter {
    struct str subscription;
    int64_t version;
    struct str reason;
    int64_t attempts;
    int64_t dead_us;
    int64_t redriven_us; /* 0: it was not delivered again */
};

struct trace_letter_list {
    struct trace_letter *items; /* the newest version first */
    size_t count;
};

struct trace_place {
    struct offset_key offset;
    int64_t lane;
    int64_t pos;
};

struct trace_seek {
    bool is_past; /* it left the position out; else it moved back to before it */
    struct str reason;
    struct str by;
    int64_t at_us;
};

struct store_trace_ops {
    bool (*windows)(struct store *store, struct arena *arena, const struct trace_instant *query,
                    struct ended_task_list *list, struct error *err);
    bool (*plans)(struct store *store, struct arena *arena, const struct trace_instant *query,
                  struct trace_plan_list *list, struct error *err);
    bool (*planned)(struct store *store, struct str source, struct str endpoint, bool *is_planned,
                    struct error *err);
    bool (*listed)(struct store *store, struct arena *arena, struct str source,
                   struct str provider_id, int64_t limit, struct ended_task_list *list,
                   struct error *err);
    bool (*request)(struct store *store, struct arena *arena, int64_t batch_id,
                    struct trace_request *request, bool *found, struct error *err);
    bool (*events)(struct store *store, struct arena *arena, int64_t record_id, int64_t limit,
                   struct trace_event_list *list, struct error *err);
    bool (*ids)(struct store *store, struct arena *arena, struct str from, int64_t limit,
                struct trace_id_list *list, struct error *err);
    bool (*foreign)(struct store *store, struct arena *arena, struct str aggregate_type,
                    struct str aggregate_id, int64_t limit, struct trace_event_list *list,
                    struct error *err);
    bool (*sequencer)(struct store *store, struct arena *arena, struct trace_sequencer *sequencer,
                      struct error *err);
    bool (*offset)(struct store *store, const struct offset_key *key, int64_t lane, int64_t *pos,
                   struct error *err);
    bool (*parked)(struct store *store, struct arena *arena, const struct trace_key *key,
                   struct trace_parked *parked, bool *found, struct error *err);
    bool (*letters)(struct store *store, struct arena *arena, const struct trace_key *key,
                    struct trace_letter_list *list, struct error *err);
    bool (*seek)(struct store *store, struct arena *arena, const struct trace_place *place,
                 struct trace_seek *seek, bool *found, struct error *err);
};

/* The newest first, whatever became of them. */
static inline bool MUST_CHECK store_trace_windows(struct store *store, struct arena *arena,
                                                  const struct trace_instant *query,
                                                  struct ended_task_list *list, struct error *err)
{
    return store->trace->windows(store, arena, query, list, err);
}

static inline bool MUST_CHECK store_trace_plans(struct store *store, struct arena *arena,
                                                const struct trace_instant *query,
                                                struct trace_plan_list *list, struct error *err)
{
    return store->trace->plans(store, arena, query, list, err);
}

/* Whether the endpoint was ever requested by a plan. */
static inline bool MUST_CHECK store_trace_planned(struct store *store, struct str source,
                                                  struct str endpoint, bool *is_planned,
                                                  struct error *err)
{
    return store->trace->planned(store, source, endpoint, is_planned, err);
}

/* The newest first, whatever became of them. */
static inline bool MUST_CHECK store_trace_listed(struct store *store, struct arena *arena,
                                                 struct str source, struct str provider_id,
                                                 int64_t limit, struct ended_task_list *list,
                                                 struct error *err)
{
    return store->trace->listed(store, arena, source, provider_id, limit, list, err);
}

static inline bool MUST_CHECK store_trace_request(struct store *store, struct arena *arena,
                                                  int64_t batch_id, struct trace_request *request,
                                                  bool *found, struct error *err)
{
    return store->trace->request(store, arena, batch_id, request, found, err);
}

static inline bool MUST_CHECK store_trace_events(struct store *store, struct arena *arena,
                                                 int64_t record_id, int64_t limit,
                                                 struct trace_event_list *list, struct error *err)
{
    return store->trace->events(store, arena, record_id, limit, list, err);
}

/* Of every source. */
static inline bool MUST_CHECK store_trace_ids(struct store *store, struct arena *arena,
                                              struct str from, int64_t limit,
                                              struct trace_id_list *list, struct error *err)
{
    return store->trace->ids(store, arena, from, limit, list, err);
}

static inline bool MUST_CHECK store_trace_foreign(struct store *store, struct arena *arena,
                                                  struct str aggregate_type,
                                                  struct str aggregate_id, int64_t limit,
                                                  struct trace_event_list *list, struct error *err)
{
    return store->trace->foreign(store, arena, aggregate_type, aggregate_id, limit, list, err);
}

static inline bool MUST_CHECK store_trace_sequencer(struct store *store, struct arena *arena,
                                                    struct trace_sequencer *sequencer,
                                                    struct error *err)
{
    return store->trace->sequencer(store, arena, sequencer, err);
}

/* 0 where there is no such lane. */
static inline bool MUST_CHECK store_trace_offset(struct store *store, const struct offset_key *key,
                                                 int64_t lane, int64_t *pos, struct error *err)
{
    return store->trace->offset(store, key, lane, pos, err);
}

static inline bool MUST_CHECK store_trace_parked(struct store *store, struct arena *arena,
                                                 const struct trace_key *key,
                                                 struct trace_parked *parked, bool *found,
                                                 struct error *err)
{
    return store->trace->parked(store, arena, key, parked, found, err);
}

/* Of every subscription of the group: key->offset.subscription does not count. */
static inline bool MUST_CHECK store_trace_letters(struct store *store, struct arena *arena,
                                                  const struct trace_key *key,
                                                  struct trace_letter_list *list, struct error *err)
{
    return store->trace->letters(store, arena, key, list, err);
}

/* The last one that concerns the position. */
static inline bool MUST_CHECK store_trace_seek(struct store *store, struct arena *arena,
                                               const struct trace_place *place,
                                               struct trace_seek *seek, bool *found,
                                               struct error *err)
{
    return store->trace->seek(store, arena, place, seek, found, err);
}

#endif
