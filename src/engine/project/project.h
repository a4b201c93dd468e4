/* project: events become the rows of a projection's tables. Pure: no store, no clock.
 *
 *      spec ──project_compile──▶ struct projector
 *      events of a batch ──project_batch──▶ struct sink_batch ──store_sink_write──▶ tables
 *
 * The JSON of an event is what a bus would carry (engine/message/wire.h, without a codec): of a
 * record the wire event of engine/event/record_event.h ($.fields.title), of another service's
 * aggregate the payload as it was written ($.title).
 *
 * For each table, the first of its sources that takes the event (core/projection_spec.h) says what
 * it does:
 *
 *      replace   every column is read. With `where` that is false: the key has no row
 *      partial   columns whose path finds something; null is NULL. `where` false: nothing
 *      delete    the row is marked, with the columns that are found, or erased. `where` false:
 *                nothing
 *
 * An event that no table takes gives no rows. Of several events of a key in a batch, those before
 * its last replace or delete are left out; partial ones after it are steps of their own, in order.
 *
 * A value that does not fit its column is L3 "projection.value" and names table, column and path; a
 * body that is not JSON is L3 "projection.body". `failed` then is the event's place in the batch.
 */
#ifndef PATRA_ENGINE_PROJECT_PROJECT_H
#define PATRA_ENGINE_PROJECT_PROJECT_H

#include "port/store_sink.h"

struct project_event {
    struct str aggregate_type;
    struct str aggregate_id;
    struct str event_id;
    struct str event_type;
    int64_t version;
    int64_t occurred_us;
    struct str body; /* JSON */
};

/* Immutable; lives in the arena it was compiled in, together with the spec, which it refers to. Any
 * number of threads may use one. */
struct projector;

/* Fails only when the arena is full or the spec was not read by spec/projection.h. */
bool project_compile(struct arena *arena, const struct projection_spec *spec,
                     const struct projector **projector, struct error *err) MUST_CHECK;

/* The events of each key by version, from low to high. What is made refers to the events. */
bool project_batch(const struct projector *projector, struct arena *arena,
                   const struct project_event *events, size_t count, struct sink_batch *batch,
                   size_t *failed, struct error *err) MUST_CHECK;

#endif
