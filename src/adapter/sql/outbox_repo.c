/* Events, as `patra why` reads them, and foreign ones; record_repo.c adds those of records. */
#include <inttypes.h>

#include "adapter/sql/event_rows.h"
#include "adapter/sql/session.h"
#include "port/store_outbox.h"

static const char OF[] = "SELECT " EVENT_COLUMNS ", o.body FROM ing_outbox AS o " EVENT_JOINS
                         " WHERE o.record_id = :record AND o.version > :after"
                         " ORDER BY o.version LIMIT :limit";

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
        event_rows_read(&st->rows, arena, stored);
        stored->event.body = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err) ||
           error_wrap(err, "list events of record %" PRId64, query->record_id);
}

/* ---- foreign events ---- */

#define OF_AGGREGATE                                     \
    "record_id IS NULL AND aggregate_id = @aggregate_id" \
    " AND aggregate_type = @aggregate_type"

static const char LAST[] = "SELECT @place, t.version FROM {range ing_outbox: " OF_AGGREGATE
                           " ORDER BY version DESC LIMIT 1}";
static const char SAME[] =
    "SELECT @place, t.event_id FROM {find ing_outbox: " OF_AGGREGATE " AND version = @version}";

static bool read_last(struct store *store, const struct foreign_event *events, size_t count,
                      struct foreign_place *places, struct error *err)
{
    struct statement *st = statement_of(store, LAST);

    for (size_t i = 0; i < count; i++) {
        cell_text(st, "@aggregate_id", events[i].aggregate_id);
        cell_text(st, "@aggregate_type", events[i].aggregate_type);
    }
    while (rows_next(&st->rows)) {
        const int64_t place = rows_i64(&st->rows);

        places[place - 1].last_version = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

static bool read_same(struct store *store, struct arena *arena, const struct foreign_event *events,
                      size_t count, struct foreign_place *places, struct error *err)
{
    struct statement *st = statement_of(store, SAME);

    for (size_t i = 0; i < count; i++) {
        cell_text(st, "@aggregate_id", events[i].aggregate_id);
        cell_text(st, "@aggregate_type", events[i].aggregate_type);
        cell_i64(st, "@version", events[i].event.version);
    }
    while (rows_next(&st->rows)) {
        const int64_t place = rows_i64(&st->rows);

        places[place - 1].event_id = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err);
}

static bool outbox_places(struct store *store, struct arena *arena,
                          const struct foreign_event *events, size_t count,
                          struct foreign_place *places, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        places[i] = (struct foreign_place){ 0 };
    return (read_last(store, events, count, places, err) &&
            read_same(store, arena, events, count, places, err)) ||
           error_wrap(err, "look for %zu foreign events", count);
}

static const char ADD[] =
    "INSERT INTO ing_outbox (version, occurred_at, event_id, lane, schema_version, event_type,"
    " aggregate_type, aggregate_id, body) {insert @version, @occurred, @event_id, @lane, @schema,"
    " @event_type, @aggregate_type, @aggregate_id, @body} ON CONFLICT DO NOTHING";

static bool outbox_add(struct store *store, const struct foreign_event *events, size_t count,
                       int64_t *added, struct error *err)
{
    struct statement *st = statement_of(store, ADD);

    for (size_t i = 0; i < count; i++) {
        const struct outbox_event *event = &events[i].event;

        cell_i64(st, "@version", event->version);
        cell_instant(st, "@occurred", event->occurred_us);
        cell_uuid(st, "@event_id", event->event_id);
        cell_i64(st, "@lane", event->lane);
        cell_i64(st, "@schema", event->schema_version);
        cell_text(st, "@event_type", event->event_type);
        cell_text(st, "@aggregate_type", events[i].aggregate_type);
        cell_text(st, "@aggregate_id", events[i].aggregate_id);
        cell_bytes(st, "@body", event->body);
    }
    return statement_run(st, added, err) || error_wrap(err, "add %zu foreign events", count);
}

const struct store_outbox_ops SQL_OUTBOX = {
    .of = outbox_of,
    .places = outbox_places,
    .add = outbox_add,
};
