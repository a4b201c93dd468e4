#include "adapter/sql/read.h"

void read_record_state(struct rows *rows, struct arena *arena, struct record_state *state)
{
    state->id = rows_i64(rows);
    state->version = rows_i64(rows);
    state->has_updated = !rows_is_null(rows);
    state->updated_us = rows_i64(rows);
    state->provider_version = rows_text(rows, arena);
    state->is_deleted = rows_bool(rows);
    state->content_hash = rows_text(rows, arena);
    state->expr_hash = rows_text(rows, arena);
    state->checked_us = rows_i64(rows);
}

void read_record(struct rows *rows, struct arena *arena, struct stored_record *record)
{
    record->id = rows_i64(rows);
    record->source = rows_text(rows, arena);
    record->endpoint = rows_text(rows, arena);
    record->provider_id = rows_text(rows, arena);
    record->has_updated = !rows_is_null(rows);
    record->updated_us = rows_i64(rows);
    record->provider_version = rows_text(rows, arena);
    record->version = rows_i64(rows);
    record->is_deleted = rows_bool(rows);
    record->content_hash = rows_text(rows, arena);
    record->expr_hash = rows_text(rows, arena);
    record->checked_us = rows_i64(rows);
    record->created_us = rows_i64(rows);
    record->lineage = rows_lineage(rows);
    record->payload = rows_text(rows, arena);
}

bool read_candidates(struct rows *rows, struct arena *arena, struct candidate_list *list,
                     struct error *err)
{
    struct candidate *candidate;

    *list = (struct candidate_list){ 0 };
    while ((candidate = ROWS_NEXT(rows, arena, list)) != NULL) {
        candidate->id = rows_i64(rows);
        candidate->provider_id = rows_text(rows, arena);
        candidate->checked_us = rows_i64(rows);
        candidate->expr_hash = rows_text(rows, arena);
    }
    return rows_finish(rows, err);
}

bool read_events(struct rows *rows, struct arena *arena, struct outbox_event_list *list,
                 struct error *err)
{
    struct outbox_event *event;

    *list = (struct outbox_event_list){ 0 };
    while ((event = ROWS_NEXT(rows, arena, list)) != NULL) {
        event->event_id = rows_text(rows, arena);
        event->aggregate_type = rows_text(rows, arena);
        event->aggregate_id = rows_text(rows, arena);
        event->event_type = rows_text(rows, arena);
        event->version = rows_i64(rows);
        event->schema_version = rows_i64(rows);
        event->lane = rows_i64(rows);
        event->occurred_us = rows_i64(rows);
        event->payload = rows_text(rows, arena);
    }
    return rows_finish(rows, err);
}
