/* Reads an event with its record and its lineage, column by column. */
#include "adapter/sql/event_rows.h"

void event_rows_read(struct rows *rows, struct arena *arena, struct stored_event *stored)
{
    struct outbox_event *event = &stored->event;

    event->event_id = rows_text(rows, arena);
    event->event_type = rows_text(rows, arena);
    event->batch_id = rows_i64(rows);
    event->version = rows_i64(rows);
    event->schema_version = rows_i64(rows);
    event->lane = rows_i64(rows);
    event->occurred_us = rows_i64(rows);
    stored->source = rows_text(rows, arena);
    stored->endpoint = rows_text(rows, arena);
    stored->provider_id = rows_text(rows, arena);
    stored->expr_hash = rows_text(rows, arena);
    stored->lineage = rows_lineage(rows);
    stored->aggregate_type = rows_text(rows, arena);
    stored->aggregate_id = rows_text(rows, arena);
}
