#include "adapter/postgres/outbox_repo.h"
#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"

/* All of them arrays. */
enum {
    ADD_EVENT_ID = 1,
    ADD_AGGREGATE_TYPE,
    ADD_AGGREGATE_ID,
    ADD_EVENT_TYPE,
    ADD_VERSION,
    ADD_SCHEMA_VERSION,
    ADD_LANE,
    ADD_OCCURRED,
    ADD_PAYLOAD,
    ADD_END,
};
static const char ADD[] =
    "INSERT INTO ing_outbox (event_id, aggregate_type, aggregate_id, event_type, version,"
    " schema_version, lane, occurred_at, payload)"
    " SELECT event_id::uuid, aggregate_type, aggregate_id, event_type, version, schema_version,"
    "        lane, occurred, payload"
    "   FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)"
    "     AS r (event_id, aggregate_type, aggregate_id, event_type, version, schema_version, lane,"
    "           occurred, payload)";

void outbox_query(struct query *q, struct postgres_store *postgres,
                  const struct record_change *changes, size_t count)
{
    static const enum array_type TYPES[ADD_END] = {
        [ADD_EVENT_ID] = ARRAY_TEXT,     [ADD_AGGREGATE_TYPE] = ARRAY_TEXT,
        [ADD_AGGREGATE_ID] = ARRAY_TEXT, [ADD_EVENT_TYPE] = ARRAY_TEXT,
        [ADD_VERSION] = ARRAY_I64,       [ADD_SCHEMA_VERSION] = ARRAY_I64,
        [ADD_LANE] = ARRAY_I64,          [ADD_OCCURRED] = ARRAY_TIME,
        [ADD_PAYLOAD] = ARRAY_BYTES,
    };
    struct array arrays[ADD_END];

    for (int i = 1; i < ADD_END; i++)
        array_init(&arrays[i], &postgres->scratch, TYPES[i]);
    for (size_t i = 0; i < count; i++) {
        const struct outbox_event *event = &changes[i].event;

        array_add_text(&arrays[ADD_EVENT_ID], event->event_id);
        array_add_text(&arrays[ADD_AGGREGATE_TYPE], event->aggregate_type);
        array_add_text(&arrays[ADD_AGGREGATE_ID], event->aggregate_id);
        array_add_text(&arrays[ADD_EVENT_TYPE], event->event_type);
        array_add_i64(&arrays[ADD_VERSION], event->version);
        array_add_i64(&arrays[ADD_SCHEMA_VERSION], event->schema_version);
        array_add_i64(&arrays[ADD_LANE], event->lane);
        array_add_i64(&arrays[ADD_OCCURRED], event->occurred_us);
        array_add_text(&arrays[ADD_PAYLOAD], event->payload);
    }
    query_init(q, postgres, ADD);
    for (int i = 1; i < ADD_END; i++)
        set_array(q, i, &arrays[i]);
}

enum { OF_AGGREGATE_TYPE = 1, OF_AGGREGATE_ID, OF_AFTER, OF_LIMIT };
static const char OF[] = "SELECT " EVENT_COLUMNS " FROM ing_outbox"
                         " WHERE aggregate_type = $1 AND aggregate_id = $2 AND version > $3"
                         " ORDER BY version LIMIT $4";

static bool outbox_of(struct store *store, struct arena *arena, const struct outbox_query *query,
                      struct outbox_event_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), OF);
    set_text(&q, OF_AGGREGATE_TYPE, query->aggregate_type);
    set_text(&q, OF_AGGREGATE_ID, query->aggregate_id);
    set_i64(&q, OF_AFTER, query->after_version);
    set_i64(&q, OF_LIMIT, query->limit);
    return read_events(&q.rows, arena, list, err) ||
           error_wrap(err, "events of %.*s", STR_ARG(query->aggregate_id));
}

const struct store_outbox_ops POSTGRES_OUTBOX = { .of = outbox_of };
