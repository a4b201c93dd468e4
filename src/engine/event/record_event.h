/* record_event: what the outbox says about a record that has changed.
 *
 *      aggregate_type  crossref/works      source and endpoint
 *      aggregate_id    10.1000/182         the provider's id, which is the ordering key
 *      event_type      RecordCreated, RecordUpdated, RecordDeleted
 *      payload         {"source":"crossref","endpoint":"works","id":"10.1000/182","version":3,
 *                       "updatedAt":"2026-01-01T00:00:00Z","providerVersion":"2","deleted":false,
 *                       "contentHash":"...","exprHash":"...","fields":{...},
 *                       "lineage":{"scheduleInstanceId":1,"planId":2,...,"batchId":6}}
 *
 * An event carries state, not a difference: a consumer that keeps the highest version of each key
 * knows everything. The fields are the source's output fields; a tombstone has none, but may have
 * mergedInto. A record that comes back after its deletion is created again.
 *
 * An event of a record that was read again by a changed mapping (engine/rederive) also has
 * "rederived":true: the record at the source is the same.
 *
 * The payload is made in two steps. All but the lineage is known before the transaction begins; the
 * lineage ends with the batch's id, which the transaction gives.
 */
#ifndef PATRA_ENGINE_EVENT_RECORD_EVENT_H
#define PATRA_ENGINE_EVENT_RECORD_EVENT_H

#include "base/uuid.h"
#include "engine/fetch/record.h"
#include "port/random.h"
#include "port/store_record.h"

/* Of the payload; it goes up when a member changes its meaning or is removed. */
enum { RECORD_EVENT_SCHEMA = 1 };

/* "crossref/works"; data is NULL when the arena is full. */
struct str record_event_aggregate(struct arena *arena, const struct record_context *context);

/* Fills in change->record.fields, and change->event from change->record and the record's fields,
 * all but event_id, aggregate_type, event_type and lane. The payload ends before the lineage. */
bool record_event_begin(struct record_change *change, const struct record_context *context,
                        const struct record_origin *origin, const struct record *record,
                        struct error *err) MUST_CHECK;

/* Gives the event its id, its aggregate and its lane. Ids go up in the order of these calls. */
struct record_event_ids {
    struct arena *arena;
    struct random_source *random;
    struct uuid_state *state;
    int64_t now_us;
};
bool record_event_name(struct outbox_event *event, const struct record_event_ids *ids,
                       struct str aggregate_type, struct error *err) MUST_CHECK;

/* Ends the payloads of all changes of a batch with its lineage. */
bool record_events_end(struct record_change *changes, size_t count, struct arena *arena,
                       const struct lineage *lineage, struct error *err) MUST_CHECK;

#endif
