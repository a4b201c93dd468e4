/* How far the readers of a bus are, and moving them. */
#include "adapter/sql/session.h"
#include "port/store_bus_offset.h"

#define OF_NAME "consumer_group = :group AND subscription = :name"

static void bind_name(struct statement *st, struct str name)
{
    bind_text(st, ":group", BUS_OFFSET_GROUP);
    bind_text(st, ":name", name);
}

/* ---- saving ---- */

static const char SAVE[] =
    "INSERT INTO ing_offset AS t (consumer_group, subscription, lane, stream_pos, ack_id,"
    " message_id, publish_time, lag_us, updated_by, updated_at)"
    " {insert by lane: :group, :name, @lane, @events, @ack, @message, @published, @lag, :by, :now}"
    " ON CONFLICT (consumer_group, subscription, lane) DO UPDATE SET"
    " stream_pos = t.stream_pos + excluded.stream_pos,"
    " ack_id = CASE WHEN excluded.publish_time >= t.publish_time THEN excluded.ack_id"
    "  ELSE t.ack_id END,"
    " message_id = CASE WHEN excluded.publish_time >= t.publish_time THEN excluded.message_id"
    "  ELSE t.message_id END,"
    " publish_time = {greatest}(t.publish_time, excluded.publish_time), lag_us = excluded.lag_us,"
    " updated_by = excluded.updated_by, updated_at = excluded.updated_at";

static bool bus_offset_save(struct store *sink, const struct bus_offset_save *save,
                            struct error *err)
{
    struct statement *st = statement_of(sink, SAVE);

    bind_name(st, save->name);
    bind_text(st, ":by", save->by);
    bind_instant(st, ":now", save->now_us);
    for (size_t i = 0; i < save->count; i++) {
        const struct bus_place *place = &save->places[i];

        cell_i64(st, "@lane", place->lane);
        cell_i64(st, "@events", place->events);
        cell_text(st, "@ack", place->bus_id);
        cell_text(st, "@message", place->event_id);
        cell_instant(st, "@published", place->published_us);
        cell_i64(st, "@lag", save->now_us - place->published_us);
    }
    return statement_run(st, NULL, err) || error_wrap(err, "save offsets");
}

/* ---- looking ---- */

static const char LIST[] =
    "SELECT subscription, lane, stream_pos, message_id, ack_id, publish_time, updated_by,"
    " updated_at FROM ing_offset WHERE consumer_group = :group"
    " ORDER BY subscription{byte-order}, lane";

static bool bus_offset_list(struct store *sink, struct arena *arena, struct bus_offset_list *list,
                            struct error *err)
{
    struct statement *st = statement_of(sink, LIST);
    struct bus_offset *offset;

    *list = (struct bus_offset_list){ 0 };
    bind_text(st, ":group", BUS_OFFSET_GROUP);
    while ((offset = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        offset->name = rows_text(&st->rows, arena);
        offset->newest.lane = rows_i64(&st->rows);
        offset->newest.events = rows_i64(&st->rows);
        offset->newest.event_id = rows_text(&st->rows, arena);
        offset->newest.bus_id = rows_text(&st->rows, arena);
        offset->newest.published_us = rows_i64(&st->rows);
        offset->by = rows_text(&st->rows, arena);
        offset->updated_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "list offsets");
}

static const char RECEIVED[] =
    "SELECT count(*) FROM ing_inbox WHERE consumer_group = :inbox AND received_at >= :since";

static bool bus_offset_received(struct store *sink, struct str inbox, int64_t since_us,
                                int64_t *events, struct error *err)
{
    struct statement *st = statement_of(sink, RECEIVED);

    bind_text(st, ":inbox", inbox);
    bind_instant(st, ":since", since_us);
    return rows_only_i64(&st->rows, events, err) || error_wrap(err, "count the inbox");
}

static const char HAS[] = "SELECT t.lane FROM {range ing_inbox: consumer_group = @inbox AND"
                          " event_id = @event}";

static bool bus_offset_has(struct store *sink, struct str inbox, struct str event_id, bool *has,
                           struct error *err)
{
    struct statement *st = statement_of(sink, HAS);

    *has = false;
    cell_text(st, "@inbox", inbox);
    cell_uuid(st, "@event", event_id);
    while (rows_next(&st->rows)) {
        rows_skip(&st->rows, 1);
        *has = true;
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "look into the inbox");
}

/* ---- moving ---- */

static const char NOTE[] =
    "INSERT INTO ing_offset_reset (consumer_group, subscription, lane, old_pos, old_message_id,"
    " new_pos, new_message_id, reason, reset_by, reset_at)"
    " SELECT consumer_group, subscription, lane, stream_pos, message_id, stream_pos, :to, :reason,"
    " :by, :now FROM ing_offset WHERE " OF_NAME;
/* Before anything was applied there is no lane. */
static const char NOTE_FIRST[] =
    "INSERT INTO ing_offset_reset (consumer_group, subscription, lane, new_pos, new_message_id,"
    " reason, reset_by, reset_at) VALUES (:group, :name, 0, 0, :to, :reason, :by, :now)";
static const char MOVE[] =
    "UPDATE ing_offset SET ack_id = '', message_id = '', publish_time = :at, lag_us = 0,"
    " updated_by = :by, updated_at = :now WHERE " OF_NAME;
static const char FORGET[] =
    "DELETE FROM ing_inbox WHERE consumer_group = :inbox AND received_at >= :since";

static bool note(struct store *sink, const char *text, const struct bus_offset_move *move,
                 int64_t *notes, struct error *err)
{
    struct statement *st = statement_of(sink, text);

    bind_text(st, ":to", move->to_text);
    bind_text(st, ":reason", move->reason);
    bind_text(st, ":by", move->by);
    bind_instant(st, ":now", move->now_us);
    bind_name(st, move->name);
    return statement_run(st, notes, err);
}

static bool set_place(struct store *sink, const struct bus_offset_move *move, struct error *err)
{
    struct statement *st = statement_of(sink, MOVE);

    bind_instant(st, ":at", move->to_us);
    bind_text(st, ":by", move->by);
    bind_instant(st, ":now", move->now_us);
    bind_name(st, move->name);
    return statement_run(st, NULL, err);
}

static bool forget(struct store *sink, const struct bus_offset_move *move, struct error *err)
{
    struct statement *st;

    if (move->forget_us == INT64_MAX)
        return true;
    st = statement_of(sink, FORGET);
    bind_text(st, ":inbox", move->inbox);
    bind_instant(st, ":since", move->forget_us);
    return statement_run(st, NULL, err);
}

static bool bus_offset_move(struct store *sink, const struct bus_offset_move *move,
                            struct error *err)
{
    bool owns_transaction, ok;
    int64_t notes = 0;

    if (!store_begin_if_idle(sink, &owns_transaction, err))
        return false;
    ok = note(sink, NOTE, move, &notes, err) &&
         (notes > 0 || note(sink, NOTE_FIRST, move, &notes, err)) && set_place(sink, move, err) &&
         forget(sink, move, err);
    return store_end_if_owned(sink, owns_transaction, ok, err) ||
           error_wrap(err, "move %.*s", STR_ARG(move->name));
}

const struct store_bus_offset_ops SQL_BUS_OFFSET = {
    .save = bus_offset_save,
    .list = bus_offset_list,
    .received = bus_offset_received,
    .has = bus_offset_has,
    .move = bus_offset_move,
};
