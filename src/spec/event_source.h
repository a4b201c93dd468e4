/* event_source: the schema of the events that a source makes.
 *
 * A message for each endpoint under which records are stored, and one for each other endpoint whose
 * responses become its records ("works (from work)"). Its fields are fields.NAME, with the
 * type of the source file, and `payload` where events carry the whole record. What all events have
 * (engine/event/record_event.h) is not part of it.
 */
#ifndef PATRA_SPEC_EVENT_SOURCE_H
#define PATRA_SPEC_EVENT_SOURCE_H

#include "core/event_compat.h"
#include "spec/source.h"

bool event_source_schema(struct arena *arena, const struct source *source,
                         struct event_schema *schema, struct error *err) MUST_CHECK;

#endif
