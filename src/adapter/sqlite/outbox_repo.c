#include <inttypes.h>

#include "adapter/sqlite/outbox_repo.h"

#include "adapter/sql/read.h"
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

static const char OF[] = "SELECT " EVENT_COLUMNS " FROM ing_outbox"
                         " WHERE aggregate_type = :aggregate_type AND aggregate_id = :aggregate_id"
                         "   AND version > :after ORDER BY version LIMIT :limit";

static bool outbox_of(struct store *store, struct arena *arena, const struct outbox_query *query,
                      struct outbox_event_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), OF);

    bind_text(st, ":aggregate_type", query->aggregate_type);
    bind_text(st, ":aggregate_id", query->aggregate_id);
    bind_i64(st, ":after", query->after_version);
    bind_i64(st, ":limit", query->limit);
    return read_events(&st->rows, arena, list, err) ||
           error_wrap(err, "events of %.*s", STR_ARG(query->aggregate_id));
}

const struct store_outbox_ops SQLITE_OUTBOX = { .of = outbox_of };
