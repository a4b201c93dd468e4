#include <inttypes.h>

#include "adapter/sqlite/outbox_repo.h"
#include "adapter/sqlite/sqlite.h"

static const char ADD[] =
    "INSERT INTO ing_outbox (event_id, aggregate_type, aggregate_id, event_type, version,"
    " schema_version, lane, occurred_at, payload)"
    " VALUES (:event_id, :aggregate_type, :aggregate_id, :event_type, :version, :schema_version,"
    " :lane, :occurred, :payload)";

bool outbox_add(struct sqlite_store *sqlite, const struct outbox_event *event, struct error *err)
{
    struct statement *st = statement_of(sqlite, ADD);

    bind_text(st, ":event_id", event->event_id);
    bind_text(st, ":aggregate_type", event->aggregate_type);
    bind_text(st, ":aggregate_id", event->aggregate_id);
    bind_text(st, ":event_type", event->event_type);
    bind_i64(st, ":version", event->version);
    bind_i64(st, ":schema_version", event->schema_version);
    bind_i64(st, ":lane", event->lane);
    bind_i64(st, ":occurred", event->occurred_us);
    bind_bytes(st, ":payload", event->payload);
    return statement_run(st, err) || error_wrap(err, "event %" PRId64 " of %.*s", event->version,
                                                STR_ARG(event->aggregate_id));
}

static const char OF[] =
    "SELECT event_id, aggregate_type, aggregate_id, event_type, version, schema_version, lane,"
    " occurred_at, payload FROM ing_outbox"
    " WHERE aggregate_type = :aggregate_type AND aggregate_id = :aggregate_id"
    "   AND version > :after ORDER BY version LIMIT :limit";
enum {
    COL_EVENT_ID,
    COL_AGGREGATE_TYPE,
    COL_AGGREGATE_ID,
    COL_EVENT_TYPE,
    COL_VERSION,
    COL_SCHEMA_VERSION,
    COL_LANE,
    COL_OCCURRED,
    COL_PAYLOAD,
};

static bool outbox_of(struct store *store, struct arena *arena, struct str aggregate_type,
                      struct str aggregate_id, int64_t after_version, int64_t limit,
                      struct outbox_event_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), OF);

    *list = (struct outbox_event_list){ 0 };
    bind_text(st, ":aggregate_type", aggregate_type);
    bind_text(st, ":aggregate_id", aggregate_id);
    bind_i64(st, ":after", after_version);
    bind_i64(st, ":limit", limit);
    while (statement_row(st)) {
        struct outbox_event *event = LIST_ADD(arena, list);

        if (event == NULL) {
            st->rows.full = arena;
            break;
        }
        event->event_id = column_text(st, COL_EVENT_ID, arena);
        event->aggregate_type = column_text(st, COL_AGGREGATE_TYPE, arena);
        event->aggregate_id = column_text(st, COL_AGGREGATE_ID, arena);
        event->event_type = column_text(st, COL_EVENT_TYPE, arena);
        event->version = column_i64(st, COL_VERSION);
        event->schema_version = column_i64(st, COL_SCHEMA_VERSION);
        event->lane = column_i64(st, COL_LANE);
        event->occurred_us = column_i64(st, COL_OCCURRED);
        event->payload = column_text(st, COL_PAYLOAD, arena);
    }
    return statement_finish(st, err) || error_wrap(err, "events of %.*s", STR_ARG(aggregate_id));
}

const struct store_outbox_ops SQLITE_OUTBOX = { .of = outbox_of };
