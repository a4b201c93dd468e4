/* record_event: the outbox event of a record that has changed.
 *
 *      aggregate_type  crossref/works      source and endpoint
 *      aggregate_id    10.1000/182         the provider's id, which is the ordering key
 *      event_type      RecordCreated, RecordUpdated, RecordDeleted
 *      payload         {"source":"crossref","endpoint":"works","id":"10.1000/182","version":3,
 *                       "updatedAt":"2026-01-01T00:00:00Z","providerVersion":"2","deleted":false,
 *                       "contentHash":"...","exprHash":"...","fields":{...},
 *                       "lineage":{"scheduleInstanceId":1,"planId":2,...,"batchId":6}}
 *
 * An event carries the state, not a difference: a consumer that keeps the highest version of each
 * key has everything. fields are the source's output fields; a tombstone has none, but may have
 * mergedInto. A record that comes back after its deletion is created again.
 */
#ifndef PATRA_ENGINE_EXECUTE_RECORD_EVENT_H
#define PATRA_ENGINE_EXECUTE_RECORD_EVENT_H

#include "port/store_outbox.h"
#include "port/store_record.h"

/* Of the payload; counts up when a member changes its meaning or goes. */
enum { RECORD_EVENT_SCHEMA = 1 };

struct record_event {
    const struct record_context *context;
    const struct record_write *write;
    const char *type;       /* "RecordCreated" */
    struct str fields;      /* JSON; empty: none */
    struct str merged_into; /* empty: none */
};

/* Sets all but event_id, aggregate_type (record_event_place: the same for a whole batch) and lane
 * (core/lane.h), which hangs on it. */
bool record_event_make(const struct record_event *record, struct arena *arena,
                       struct outbox_event *event, struct error *err) MUST_CHECK;

/* "crossref/works"; data is NULL when the arena is full. */
struct str record_event_place(struct arena *arena, const struct record_context *context);

#endif
