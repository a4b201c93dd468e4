#include "adapter/postgres/outbox_repo.h"
#include "adapter/postgres/postgres.h"
#include "port/store_outbox.h"

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
static const char OF[] =
    "SELECT event_id, aggregate_type, aggregate_id, event_type, version, schema_version, lane,"
    " occurred_at, payload FROM ing_outbox"
    " WHERE aggregate_type = $1 AND aggregate_id = $2 AND version > $3"
    " ORDER BY version LIMIT $4";
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
    struct query q;

    *list = (struct outbox_event_list){ 0 };
    query_init(&q, postgres_store_of(store), OF);
    set_text(&q, OF_AGGREGATE_TYPE, aggregate_type);
    set_text(&q, OF_AGGREGATE_ID, aggregate_id);
    set_i64(&q, OF_AFTER, after_version);
    set_i64(&q, OF_LIMIT, limit);
    while (query_row(&q)) {
        struct outbox_event *event = LIST_ADD(arena, list);

        if (event == NULL) {
            q.rows.full = arena;
            break;
        }
        event->event_id = get_text(&q, COL_EVENT_ID, arena);
        event->aggregate_type = get_text(&q, COL_AGGREGATE_TYPE, arena);
        event->aggregate_id = get_text(&q, COL_AGGREGATE_ID, arena);
        event->event_type = get_text(&q, COL_EVENT_TYPE, arena);
        event->version = get_i64(&q, COL_VERSION);
        event->schema_version = get_i64(&q, COL_SCHEMA_VERSION);
        event->lane = get_i64(&q, COL_LANE);
        event->occurred_us = get_i64(&q, COL_OCCURRED);
        event->payload = get_text(&q, COL_PAYLOAD, arena);
    }
    return query_finish(&q, err) || error_wrap(err, "events of %.*s", STR_ARG(aggregate_id));
}

const struct store_outbox_ops POSTGRES_OUTBOX = { .of = outbox_of };
