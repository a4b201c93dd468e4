/* Events, as `patra why` reads them; record_repo.c adds them. */
#include <inttypes.h>

#include "adapter/sql/session.h"
#include "port/store_outbox.h"

#define EVENT_COLUMNS                                                                    \
    "event_id, aggregate_type, aggregate_id, event_type, version, schema_version, lane," \
    " occurred_at, payload"

static bool read_events(struct rows *rows, struct arena *arena, struct outbox_event_list *list,
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

static const char OF[] = "SELECT " EVENT_COLUMNS " FROM ing_outbox"
                         " WHERE aggregate_type = :aggregate_type AND aggregate_id = :aggregate_id"
                         "   AND version > :after ORDER BY version LIMIT :limit";

static bool outbox_of(struct store *store, struct arena *arena, const struct outbox_query *query,
                      struct outbox_event_list *list, struct error *err)
{
    struct statement *st = statement_of(store, OF);

    bind_text(st, ":aggregate_type", query->aggregate_type);
    bind_text(st, ":aggregate_id", query->aggregate_id);
    bind_i64(st, ":after", query->after_version);
    bind_i64(st, ":limit", query->limit);
    return read_events(&st->rows, arena, list, err) ||
           error_wrap(err, "list events of %.*s", STR_ARG(query->aggregate_id));
}

const struct store_outbox_ops SQL_OUTBOX = { .of = outbox_of };
