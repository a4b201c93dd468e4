/* The stream: its head, its lanes, and the positions of events. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "adapter/sql/event_rows.h"
#include "adapter/sql/session.h"
#include "port/store_stream.h"

/* ---- the lease ---- */

static const char CLAIM[] =
    "UPDATE ing_stream_head SET lease_owner = :owner, leased_until = :until,"
    " lease_epoch = lease_epoch + 1"
    " WHERE one = 1 AND (leased_until IS NULL OR leased_until < :now OR lease_owner = :owner)"
    " RETURNING lease_epoch, cursor_id, horizon_id";

static const char LANES[] = "SELECT lane, last_pos FROM ing_stream_lane WHERE lane < :lanes";

static bool read_positions(struct statement *st, int64_t positions[OUTBOX_LANES], struct error *err)
{
    bind_i64(st, ":lanes", OUTBOX_LANES);
    while (rows_next(&st->rows)) {
        const int64_t lane = rows_i64(&st->rows);

        positions[lane] = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

static bool read_lanes(struct store *store, int64_t last_pos[OUTBOX_LANES], struct error *err)
{
    return read_positions(statement_of(store, LANES), last_pos, err);
}

/* From here on nobody else moves the lanes: an older epoch is refused. */
static bool stream_claim(struct store *store, const struct stream_claim *claim,
                         struct stream_lease *lease, bool *held, struct error *err)
{
    struct statement *st = statement_of(store, CLAIM);

    *lease = (struct stream_lease){ 0 };
    bind_text(st, ":owner", claim->owner);
    bind_instant(st, ":until", claim->until_us);
    bind_instant(st, ":now", claim->now_us);
    *held = rows_next(&st->rows);
    if (*held) {
        lease->epoch = rows_i64(&st->rows);
        lease->cursor_id = rows_i64(&st->rows);
        lease->horizon_id = rows_i64(&st->rows);
        (void)rows_next(&st->rows);
    }
    return (rows_finish(&st->rows, err) && (!*held || read_lanes(store, lease->last_pos, err))) ||
           error_wrap(err, "claim the stream");
}

static const char RENEW[] = "UPDATE ing_stream_head SET leased_until = :until"
                            " WHERE one = 1 AND lease_epoch = :epoch AND lease_owner IS NOT NULL";

static bool stream_renew(struct store *store, int64_t epoch, int64_t until_us, bool *held,
                         struct error *err)
{
    struct statement *st = statement_of(store, RENEW);

    bind_instant(st, ":until", until_us);
    bind_i64(st, ":epoch", epoch);
    return statement_changed(st, held, err) || error_wrap(err, "renew the lease of the stream");
}

static const char RELEASE[] = "UPDATE ing_stream_head SET lease_owner = NULL, leased_until = NULL"
                              " WHERE one = 1 AND lease_epoch = :epoch";

static bool stream_release(struct store *store, int64_t epoch, struct error *err)
{
    struct statement *st = statement_of(store, RELEASE);
    int64_t changes;

    bind_i64(st, ":epoch", epoch);
    return statement_run(st, &changes, err) || error_wrap(err, "give the stream back");
}

/* ---- looking at the outbox ---- */

static const char TAKEN[] = "{stream-ids}";

static bool stream_taken(struct store *store, struct arena *arena, int64_t above_id,
                         struct stream_ids *ids, struct error *err)
{
    struct statement *st = statement_of(store, TAKEN);
    int64_t *id;

    *ids = (struct stream_ids){ 0 };
    bind_i64(st, ":above", above_id);
    while ((id = ROWS_NEXT(&st->rows, arena, ids)) != NULL)
        *id = rows_i64(&st->rows);
    return rows_finish(&st->rows, err) ||
           error_wrap(err, "read the stream above %" PRId64, above_id);
}

/* Two statements, in this order: who draws an id is a writer before that. */
static const char LAST_ID[] = "SELECT {outbox-last-id}";
static const char WRITERS[] = "SELECT {outbox-writers}";

static bool stream_writers(struct store *store, struct arena *arena, struct stream_mark *mark,
                           struct error *err)
{
    struct statement *st;
    struct str *writer;

    *mark = (struct stream_mark){ 0 };
    if (!rows_only_i64(&statement_of(store, LAST_ID)->rows, &mark->last_id, err))
        return error_wrap(err, "read the last id of the outbox");
    st = statement_of(store, WRITERS);
    while ((writer = ROWS_NEXT(&st->rows, arena, &mark->writers)) != NULL)
        *writer = rows_text(&st->rows, arena);
    return rows_finish(&st->rows, err) || error_wrap(err, "list the writers of the outbox");
}

static const char FRESH[] =
    "SELECT id, lane FROM ing_outbox WHERE id > :cursor ORDER BY id LIMIT :limit";
static const char PASSED[] =
    "SELECT t.id, t.lane FROM {range ing_outbox: id BETWEEN @first AND @last}";

static bool read_refs(struct statement *st, struct arena *arena, struct outbox_ref_list *list,
                      struct error *err)
{
    struct outbox_ref *ref;

    while ((ref = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        ref->id = rows_i64(&st->rows);
        ref->lane = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

static int by_id(const void *a, const void *b)
{
    const struct outbox_ref *left = a, *right = b;

    return (left->id > right->id) - (left->id < right->id);
}

static bool read_passed(struct store *store, struct arena *arena, const struct stream_scan *scan,
                        struct outbox_ref_list *list, struct error *err)
{
    struct statement *st = statement_of(store, PASSED);

    for (size_t i = 0; i < scan->gap_count; i++) {
        cell_i64(st, "@first", scan->gaps[i].first);
        cell_i64(st, "@last", scan->gaps[i].last);
    }
    return read_refs(st, arena, list, err);
}

static bool read_fresh(struct store *store, struct arena *arena, const struct stream_scan *scan,
                       struct outbox_ref_list *list, struct error *err)
{
    struct statement *st = statement_of(store, FRESH);

    bind_i64(st, ":cursor", scan->cursor_id);
    bind_i64(st, ":limit", scan->limit);
    return read_refs(st, arena, list, err);
}

/* Both of one moment: if the gaps were read first, two events of a key could commit in between, and
 * the later one would be seen without the earlier. */
static bool read_both(struct store *store, struct arena *arena, const struct stream_scan *scan,
                      struct outbox_ref_list *list, struct error *err)
{
    bool ok;

    if (!store_begin_read(store, err))
        return false;
    ok = read_passed(store, arena, scan, list, err) && read_fresh(store, arena, scan, list, err);
    store_rollback(store); /* it has only read */
    if (ok && list->count > 0)
        qsort(list->items, list->count, sizeof(list->items[0]), by_id);
    return ok;
}

static bool stream_scan(struct store *store, struct arena *arena, const struct stream_scan *scan,
                        struct outbox_ref_list *list, struct error *err)
{
    *list = (struct outbox_ref_list){ 0 };
    return (scan->gap_count > 0 ? read_both(store, arena, scan, list, err)
                                : read_fresh(store, arena, scan, list, err)) ||
           error_wrap(err, "look at the outbox after %" PRId64, scan->cursor_id);
}

/* ---- appending ---- */

/* First: it locks the row to the end of the transaction, and a sequencer with another epoch waits
 * here and then changes nothing. */
static const char HEAD[] =
    "UPDATE ing_stream_head SET cursor_id = :cursor, horizon_id = :horizon, leased_until = :until"
    " WHERE one = 1 AND lease_epoch = :epoch AND lease_owner IS NOT NULL";
static const char MOVE[] = "UPDATE ing_stream_lane AS t SET last_pos = @last {rows}"
                           " WHERE t.lane = @lane AND t.last_pos = @before";
static const char ADD[] =
    "INSERT INTO ing_stream ({stream-columns}) {insert {stream-values}}{stream-group}";

/* In the transaction: readers hear of it when it is committed. There is one sequencer, so nobody
 * queues for the lock that a NOTIFY takes until its commit. */
static const char TOLD[] = "{stream-told}";

static bool send_head(struct store *store, const struct stream_append *append, struct error *err)
{
    struct statement *st = statement_of(store, HEAD);

    bind_i64(st, ":cursor", append->cursor_id);
    bind_i64(st, ":horizon", append->horizon_id);
    bind_instant(st, ":until", append->until_us);
    bind_i64(st, ":epoch", append->epoch);
    return statement_send(st, &(struct statement_send){ .expected = 1 }, err);
}

static bool send_lanes(struct store *store, const struct stream_append *append, int64_t *lanes,
                       struct error *err)
{
    struct statement *st = statement_of(store, MOVE);
    struct {
        int64_t first, last;
    } moved[OUTBOX_LANES] = { { 0 } };

    for (size_t i = 0; i < append->count; i++) {
        const struct stream_entry *entry = &append->entries[i];

        if (moved[entry->ref.lane].first == 0)
            moved[entry->ref.lane].first = entry->pos;
        moved[entry->ref.lane].last = entry->pos;
    }
    *lanes = 0;
    for (int i = 0; i < OUTBOX_LANES; i++) {
        if (moved[i].first == 0)
            continue;
        cell_i64(st, "@last", moved[i].last);
        cell_i64(st, "@lane", i);
        cell_i64(st, "@before", moved[i].first - 1);
        (*lanes)++;
    }
    return statement_send(st, &(struct statement_send){ .expected = *lanes }, err);
}

static bool send_entries(struct store *store, const struct stream_append *append, int64_t lanes,
                         struct error *err)
{
    struct statement *st = statement_of(store, ADD);
    const struct statement_send send = { .expected = statement_is_single(st)
                                                         ? lanes
                                                         : (int64_t)append->count };

    bind_instant(st, ":now", append->now_us);
    for (size_t i = 0; i < append->count; i++) {
        cell_i64(st, "@lane", append->entries[i].ref.lane);
        cell_i64(st, "@pos", append->entries[i].pos);
        cell_i64(st, "@id", append->entries[i].ref.id);
    }
    return statement_send(st, &send, err);
}

static bool send_append(struct store *store, const struct stream_append *append, struct error *err)
{
    int64_t lanes;

    return send_head(store, append, err) &&
           (append->count == 0 ||
            (send_lanes(store, append, &lanes, err) && send_entries(store, append, lanes, err) &&
             statement_send(statement_of(store, TOLD), &(struct statement_send){ 0 }, err)));
}

static bool stream_append(struct store *store, const struct stream_append *append, bool *held,
                          struct error *err)
{
    struct error ignored;
    bool sent, settled;

    *held = false;
    if (!store_begin(store, err))
        return error_wrap(err, "append to the stream");
    sent = send_append(store, append, err);
    settled = statements_settle(store, held, sent ? err : &ignored);
    if (sent && settled && *held && store_commit(store, err))
        return true;
    store_rollback(store);
    return (sent && settled && !*held) ||
           error_wrap(err, "append %zu events to the stream", append->count);
}

/* ---- reading ---- */

static bool stream_ends(struct store *store, int64_t last_pos[OUTBOX_LANES], struct error *err)
{
    return read_lanes(store, last_pos, err) || error_wrap(err, "read the ends of the lanes");
}

static const char BEGINS[] = "SELECT l.lane, coalesce({stream-first} - 1, l.last_pos)"
                             " FROM ing_stream_lane AS l WHERE l.lane < :lanes";

static bool stream_begins(struct store *store, int64_t before[OUTBOX_LANES], struct error *err)
{
    return read_positions(statement_of(store, BEGINS), before, err) ||
           error_wrap(err, "read the beginnings of the lanes");
}

static const char SINCE[] = "SELECT l.lane, coalesce({stream-since} - 1, l.last_pos)"
                            " FROM ing_stream_lane AS l WHERE l.lane < :lanes";

static bool stream_since(struct store *store, int64_t at_us, int64_t before[OUTBOX_LANES],
                         struct error *err)
{
    struct statement *st = statement_of(store, SINCE);

    bind_instant(st, ":at", at_us);
    return read_positions(st, before, err) || error_wrap(err, "find an instant in the stream");
}

static const char PLACE_OF[] =
    "SELECT t.lane, {stream-place} FROM {range ing_outbox: event_id = @event}";

static bool stream_place_of(struct store *store, struct str event_id, struct stream_place *place,
                            bool *found, struct error *err)
{
    struct statement *st = statement_of(store, PLACE_OF);

    *found = false;
    *place = (struct stream_place){ 0 };
    cell_uuid(st, "@event", event_id);
    while (rows_next(&st->rows)) {
        place->lane = rows_i64(&st->rows);
        *found = !rows_is_null(&st->rows);
        place->pos = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "find event %.*s", STR_ARG(event_id));
}

static const char READ[] =
    "SELECT {stream-body}, s.lane, s.pos, s.sequenced_at, coalesce(o.record_id, 0), " EVENT_COLUMNS
    " FROM {stream-after} " EVENT_JOINS " ORDER BY @place, s.pos";

static void read_stream_event(struct rows *rows, struct arena *arena, struct stream_event *event)
{
    event->stored.event.body = rows_text(rows, arena);
    event->lane = rows_i64(rows);
    event->pos = rows_i64(rows);
    event->sequenced_us = rows_i64(rows);
    event->record_id = rows_i64(rows);
    event_rows_read(rows, arena, &event->stored);
}

static void bind_read(struct statement *st, const struct stream_read *read)
{
    bind_i64(st, ":many", read->lane_max);
    bind_i64(st, ":bytes", read->bytes_max);
    for (size_t i = 0; i < read->count; i++) {
        cell_i64(st, "@lane", read->places[i].lane);
        cell_i64(st, "@pos", read->places[i].pos);
    }
}

static bool is_same(const struct stream_ahead *ahead, const struct stream_read *read)
{
    bool same = ahead->count == read->count && ahead->lane_max == read->lane_max &&
                ahead->bytes_max == read->bytes_max;

    for (size_t i = 0; i < read->count && same; i++)
        same = ahead->places[i].lane == read->places[i].lane &&
               ahead->places[i].pos == read->places[i].pos;
    return same;
}

static bool stream_read_ahead(struct store *store, const struct stream_read *read,
                              struct error *err)
{
    struct stream_ahead *ahead = &sql_session_of(store)->ahead;
    struct statement *st = statement_of(store, READ);

    assert(read->count <= OUTBOX_LANES);
    statement_drop_ahead(st);
    *ahead = (struct stream_ahead){ .lane_max = read->lane_max, .bytes_max = read->bytes_max };
    for (size_t i = 0; i < read->count; i++)
        ahead->places[i] = read->places[i];
    bind_read(st, read);
    if (!statement_begin_ahead(st, err))
        return error_wrap(err, "read the stream ahead");
    ahead->count = read->count;
    return true;
}

/* What comes after an event that does not fit is left out too, or a lane would have a gap. */
static bool stream_read(struct store *store, struct arena *arena, const struct stream_read *read,
                        struct stream_event_list *list, struct error *err)
{
    struct stream_ahead *ahead = &sql_session_of(store)->ahead;
    struct statement *st = statement_of(store, READ);
    int64_t left = read->bytes_max;

    *list = (struct stream_event_list){ 0 };
    if (!is_same(ahead, read))
        statement_drop_ahead(st);
    ahead->count = 0;
    bind_read(st, read);
    while (rows_next(&st->rows)) {
        struct stream_event *event;

        if (left <= 0 || rows_is_null(&st->rows)) {
            left = 0;
            continue;
        }
        event = rows_placed(&st->rows, arena, LIST_ADD(arena, list));
        if (event == NULL)
            break;
        read_stream_event(&st->rows, arena, event);
        left -= (int64_t)event->stored.event.body.len;
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "read the stream");
}

/* ---- for people ---- */

static const char STATUS[] =
    "SELECT h.cursor_id, h.horizon_id, h.lease_owner, h.leased_until, h.lease_epoch,"
    " (SELECT count(*) FROM (SELECT 1 FROM ing_outbox AS o WHERE o.id > h.cursor_id"
    "   LIMIT :limit) AS first_ones),"
    " (SELECT o.occurred_at FROM ing_outbox AS o WHERE o.id > h.cursor_id ORDER BY o.id LIMIT 1)"
    " FROM ing_stream_head AS h WHERE h.one = 1";

static bool read_head(struct store *store, struct arena *arena, struct stream_status *status,
                      struct error *err)
{
    struct statement *st = statement_of(store, STATUS);

    bind_i64(st, ":limit", STREAM_COUNTED_MAX);
    while (rows_next(&st->rows)) {
        status->cursor_id = rows_i64(&st->rows);
        status->horizon_id = rows_i64(&st->rows);
        status->lease_owner = rows_text(&st->rows, arena);
        status->leased_until_us = rows_i64(&st->rows);
        status->epoch = rows_i64(&st->rows);
        status->waiting = rows_i64(&st->rows);
        status->has_oldest = !rows_is_null(&st->rows);
        status->oldest_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

static bool stream_status(struct store *store, struct arena *arena, struct stream_status *status,
                          struct error *err)
{
    bool ok;

    *status = (struct stream_status){ 0 };
    if (!store_begin_read(store, err))
        return false;
    ok = read_head(store, arena, status, err) && read_lanes(store, status->last_pos, err) &&
         rows_only_i64(&statement_of(store, LAST_ID)->rows, &status->last_id, err);
    store_rollback(store); /* it has only read */
    if (ok && status->waiting == STREAM_COUNTED_MAX)
        status->waiting = status->last_id - status->cursor_id;
    return ok || error_wrap(err, "read the state of the stream");
}

const struct store_stream_ops SQL_STREAM = {
    .claim = stream_claim,
    .renew = stream_renew,
    .release = stream_release,
    .taken = stream_taken,
    .writers = stream_writers,
    .scan = stream_scan,
    .append = stream_append,
    .begins = stream_begins,
    .since = stream_since,
    .place_of = stream_place_of,
    .ends = stream_ends,
    .read_ahead = stream_read_ahead,
    .read = stream_read,
    .status = stream_status,
};
