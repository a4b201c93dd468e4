/* record_event: what is told about a record that has changed.
 *
 *      event_type  RecordCreated, RecordUpdated, RecordDeleted
 *      key         crossref/works, 10.1000/182   source and endpoint, and the provider's id
 *      wire event  {"eventId":"019b...","eventType":"RecordUpdated","schemaVersion":1,
 *                   "occurredAt":"2026-01-02T00:00:00Z",
 *                   "source":"crossref","endpoint":"works","id":"10.1000/182","version":3,
 *                   "updatedAt":"2026-01-01T00:00:00Z","providerVersion":"2","deleted":false,
 *                   "contentHash":"...","exprHash":"...","fields":{...},
 *                   "lineage":{"scheduleInstanceId":1,"planId":2,...,"batchId":6}}
 *
 * An event carries state, not a difference: a consumer that keeps the highest version of each key
 * knows everything. The fields are the source's output fields; a tombstone has none, but may have
 * mergedInto. A record that comes back after its deletion is created again. Where the source asks
 * for it (event.payload), "payload" follows the fields: the record as it was received, JSON as it
 * is, XML as a string.
 *
 * An event of a record that was read again by a changed mapping (engine/rederive) also has
 * "rederived":true: the record at the source is the same.
 *
 * The outbox keeps the body only, which is what the rows that the event refers to do not say:
 *
 *      body        {"updatedAt":"...","providerVersion":"2","mergedInto":"...","contentHash":"...",
 *                   "fields":{...}}
 *
 * The record's row says source, endpoint and id; the event's own row its id, type, schema version,
 * time and version and, by its type, whether it is a deletion; the batch's row the lineage, and its
 * plan exprHash. An event that is not a batch's own (struct record_event_cause) has exprHash in its
 * body, and one without a batch its lineage, too. engine/message/envelope.h makes the wire event of
 * all that.
 */
#ifndef PATRA_ENGINE_EVENT_RECORD_EVENT_H
#define PATRA_ENGINE_EVENT_RECORD_EVENT_H

#include "base/uuid.h"
#include "engine/fetch/record.h"
#include "port/random.h"
#include "port/store_record.h"

/* Of the wire event; it goes up when a member changes its meaning or is removed. */
enum { RECORD_EVENT_SCHEMA = 1 };

#define RECORD_EVENT_DELETED STR("RecordDeleted")

/* "crossref/works"; data is NULL when the arena is full. */
struct str record_event_aggregate(struct arena *arena, const struct record_context *context);

/* What changed the record. The zero value: the batch that received it. */
struct record_event_cause {
    bool is_later;     /* something after the batch of the lineage, by other settings */
    bool is_rederived; /* a changed mapping */
};

/* Fills in change->record.fields, and change->event from change->record and the fields, all but
 * event_id, event_type, lane, and the batch's id, which may be unknown so far. */
bool record_event_make(struct record_change *change, const struct record_context *context,
                       const struct record_event_cause *cause, const struct record_origin *origin,
                       const struct record *record, struct error *err) MUST_CHECK;

/* The same for a record that is deleted although no response says so: it has no fields. */
bool record_event_gone(struct record_change *change, const struct record_context *context,
                       const struct record_event_cause *cause, struct arena *arena,
                       struct error *err) MUST_CHECK;

/* Gives the event its id and its lane. Ids go up in the order of these calls. */
struct record_event_ids {
    struct arena *arena;
    struct random_source *random;
    struct uuid_state *state;
    int64_t now_us;
};
bool record_event_name(struct record_change *change, const struct record_event_ids *ids,
                       struct str aggregate_type, struct error *err) MUST_CHECK;

#endif
