/* event_rows: an event with what its row refers to, as every repository reads it: from ing_outbox
 * AS o with EVENT_JOINS, in the order of EVENT_COLUMNS. The body is read by who needs it. */
#ifndef PATRA_ADAPTER_SQL_EVENT_ROWS_H
#define PATRA_ADAPTER_SQL_EVENT_ROWS_H

#include "adapter/sql/rows.h"
#include "port/store_outbox.h"

#define EVENT_COLUMNS                                                                           \
    "o.event_id, o.event_type, o.batch_id, o.version, o.schema_version, o.lane, o.occurred_at," \
    " coalesce(e.provenance_code, ''), coalesce(e.endpoint_name, ''),"                          \
    " coalesce(k.provider_id, ''), coalesce(p.expr_proto_hash, ''), p.schedule_instance_id,"    \
    " b.plan_id, b.slice_id, b.task_id, b.run_id, b.id, coalesce(o.aggregate_type, ''),"        \
    " coalesce(o.aggregate_id, '')"

/* The batch is missing where a record came back out of quarantine without one; record and batch
 * where the event is a foreign one. */
#define EVENT_JOINS "{event-joins}"

void event_rows_read(struct rows *rows, struct arena *arena, struct stored_event *stored);

#endif
