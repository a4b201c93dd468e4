/* Events, as `patra why` reads them; record_repo.c adds them. */
#include <inttypes.h>

#include "adapter/sql/session.h"
#include "port/store_outbox.h"

static void read_event(struct rows *rows, struct arena *arena, struct outbox_event *event)
{
    event->event_id = rows_text(rows, arena);
    event->event_type = rows_text(rows, arena);
    event->batch_id = rows_i64(rows);
    event->version = rows_i64(rows);
    event->schema_version = rows_i64(rows);
    event->lane = rows_i64(rows);
    event->occurred_us = rows_i64(rows);
    event->body = rows_text(rows, arena);
}

/* The batch is missing where a record came back out of quarantine without one. */
static const char OF[] =
    "SELECT o.event_id, o.event_type, o.batch_id, o.version, o.schema_version, o.lane,"
    " o.occurred_at, o.body, r.provenance_code, r.endpoint_name, r.provider_id,"
    " coalesce(p.expr_proto_hash, ''), p.schedule_instance_id, b.plan_id, b.slice_id, b.task_id,"
    " b.run_id, b.id"
    " FROM ing_outbox AS o JOIN ing_record AS r ON r.id = o.record_id"
    " LEFT JOIN ing_task_run_batch AS b ON b.id = o.batch_id"
    " LEFT JOIN ing_plan AS p ON p.id = b.plan_id"
    " WHERE o.record_id = :record AND o.version > :after ORDER BY o.version LIMIT :limit";

static bool outbox_of(struct store *store, struct arena *arena, const struct outbox_query *query,
                      struct stored_event_list *list, struct error *err)
{
    struct statement *st = statement_of(store, OF);
    struct stored_event *stored;

    *list = (struct stored_event_list){ 0 };
    bind_i64(st, ":record", query->record_id);
    bind_i64(st, ":after", query->after_version);
    bind_i64(st, ":limit", query->limit);
    while ((stored = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        read_event(&st->rows, arena, &stored->event);
        stored->source = rows_text(&st->rows, arena);
        stored->endpoint = rows_text(&st->rows, arena);
        stored->provider_id = rows_text(&st->rows, arena);
        stored->expr_hash = rows_text(&st->rows, arena);
        stored->lineage = rows_lineage(&st->rows);
    }
    return rows_finish(&st->rows, err) ||
           error_wrap(err, "list events of record %" PRId64, query->record_id);
}

const struct store_outbox_ops SQL_OUTBOX = { .of = outbox_of };
