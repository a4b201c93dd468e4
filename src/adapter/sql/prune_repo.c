/* Removing events that everybody has read. */
#include "adapter/sql/history.h"
#include "adapter/sql/session.h"
#include "port/store_prune.h"

/* ---- what may go ---- */

/* For each lane the last position that all subscriptions have passed, and the last id that may go:
 * that of the horizon, or the one before the first event of a parked key. */
#define HELD                                                                         \
    "WITH waiting AS (SELECT k.lane, o.id FROM ing_parked AS k JOIN ing_outbox AS o" \
    "   ON o.record_id = k.record_id AND o.version = k.head_version"                 \
    "  UNION ALL SELECT k.lane, o.id FROM ing_parked AS k JOIN ing_outbox AS o"      \
    "   ON o.record_id IS NULL AND o.aggregate_id = k.aggregate_id"                  \
    "   AND o.aggregate_type = k.aggregate_type AND o.version = k.head_version"      \
    "   WHERE k.record_id IS NULL),"                                                 \
    " held AS (SELECT l.lane,"                                                       \
    "   coalesce((SELECT min(coalesce(o.stream_pos, 0)) FROM ing_subscription AS s"  \
    "     LEFT JOIN ing_offset AS o ON o.subscription = s.name AND o.lane = l.lane"  \
    "     WHERE s.kind_code <> 'IMPORT'), l.last_pos) AS pos,"                       \
    "   coalesce((SELECT min(w.id) - 1 FROM waiting AS w"                            \
    "     WHERE w.lane = l.lane AND w.id <= n.horizon_id), n.horizon_id) AS id"      \
    "   FROM ing_stream_lane AS l JOIN ing_stream_head AS n ON n.one = 1)"

static const char DUE[] = HELD " SELECT * FROM ({stream-due}) AS due";
static const char COUNT[] = HELD " SELECT count(*) FROM ({stream-due}) AS due";

enum {
    PARTS_MAX = PRUNE_EVENTS_MAX / OUTBOX_LANES + 1, /* of a lane, even if each has one event */
};
#define ALL (INT64_C(1) << 40)

struct due {
    int64_t lane, pos, id;
};

struct due_list {
    struct due *items;
    size_t count;
};

static bool list_due(struct store *store, struct arena *arena, int64_t before_us,
                     struct due_list *list, struct error *err)
{
    struct statement *st = statement_of(store, DUE);
    struct due *due;

    *list = (struct due_list){ 0 };
    bind_instant(st, ":before", before_us);
    bind_i64(st, ":parts", PARTS_MAX);
    bind_i64(st, ":limit", PRUNE_EVENTS_MAX);
    while ((due = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        due->lane = rows_i64(&st->rows);
        due->pos = rows_i64(&st->rows);
        due->id = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

static bool prune_count(struct store *store, int64_t before_us, int64_t *events, struct error *err)
{
    struct statement *st = statement_of(store, COUNT);

    bind_instant(st, ":before", before_us);
    bind_i64(st, ":parts", ALL);
    bind_i64(st, ":limit", ALL);
    return rows_only_i64(&st->rows, events, err) ||
           error_wrap(err, "count events that may be removed");
}

/* ---- removing ---- */

/* First: the sequencer begins with the head's row, too. */
static const char MARK[] =
    "UPDATE ing_stream_head SET pruned_id = {greatest}(pruned_id, :id) WHERE one = 1";
static const char DROP_EVENTS[] = "DELETE FROM ing_outbox AS t {using-rows} WHERE t.id = @id";
static const char DROP_PARTS[] = "DELETE FROM ing_stream AS t {using-rows}"
                                 " WHERE t.lane = @lane AND t.{stream-pos} = @pos";

static bool mark(struct store *store, const struct due_list *list, struct error *err)
{
    struct statement *st = statement_of(store, MARK);
    int64_t last = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].id > last)
            last = list->items[i].id;
    }
    bind_i64(st, ":id", last);
    return statement_run(st, NULL, err);
}

static bool drop_events(struct store *store, const struct due_list *list, int64_t *events,
                        struct error *err)
{
    struct statement *st = statement_of(store, DROP_EVENTS);

    for (size_t i = 0; i < list->count; i++)
        cell_i64(st, "@id", list->items[i].id);
    return statement_run(st, events, err);
}

static bool drop_parts(struct store *store, const struct due_list *list, struct error *err)
{
    struct statement *st = statement_of(store, DROP_PARTS);

    for (size_t i = 0; i < list->count; i++) {
        const struct due *due = &list->items[i];

        /* The events of a part follow on each other. */
        if (i > 0 && due[-1].lane == due->lane && due[-1].pos == due->pos)
            continue;
        cell_i64(st, "@lane", due->lane);
        cell_i64(st, "@pos", due->pos);
    }
    return statement_run(st, NULL, err);
}

static bool prune_run(struct store *store, struct arena *arena, int64_t before_us, int64_t *events,
                      struct error *err)
{
    struct due_list list;

    *events = 0;
    if (!store_begin(store, err))
        return error_wrap(err, "remove events");
    if (store_lock(store, STORE_PRUNE_LOCK, err) && list_due(store, arena, before_us, &list, err) &&
        (list.count == 0 || (mark(store, &list, err) && drop_events(store, &list, events, err) &&
                             drop_parts(store, &list, err))) &&
        store_commit(store, err))
        return true;
    store_rollback(store);
    return error_wrap(err, "remove events");
}

/* ---- what is left, and why ---- */

static const char OLD[] = "{stream-old}";
static const char SLOWEST[] =
    "SELECT o.subscription, CAST(sum(l.last_pos - o.stream_pos) AS bigint) AS behind"
    " FROM ing_offset AS o"
    " JOIN ing_subscription AS s ON s.name = o.subscription AND s.kind_code <> 'IMPORT'"
    " JOIN ing_stream_lane AS l ON l.lane = o.lane GROUP BY o.consumer_group, o.subscription"
    " ORDER BY behind DESC, o.subscription LIMIT 1";
static const char PARKED[] = "SELECT count(*) FROM ing_parked";

static bool prune_held(struct store *store, struct arena *arena, int64_t before_us,
                       struct prune_held *held, struct error *err)
{
    struct statement *st = statement_of(store, OLD);

    *held = (struct prune_held){ 0 };
    bind_instant(st, ":before", before_us);
    if (!rows_only_i64(&st->rows, &held->events, err))
        return error_wrap(err, "count old events");
    st = statement_of(store, SLOWEST);
    while (rows_next(&st->rows)) {
        held->subscription = rows_text(&st->rows, arena);
        held->behind = rows_i64(&st->rows);
    }
    return (rows_finish(&st->rows, err) &&
            rows_only_i64(&statement_of(store, PARKED)->rows, &held->parked, err)) ||
           error_wrap(err, "find the slowest subscription");
}

static const char LAST[] = "SELECT pruned_id FROM ing_stream_head WHERE one = 1";

static bool prune_last(struct store *store, int64_t *id, struct error *err)
{
    return rows_only_i64(&statement_of(store, LAST)->rows, id, err) ||
           error_wrap(err, "read which events were removed");
}

const struct store_prune_ops SQL_PRUNE = {
    .oldest_event = sql_oldest_event,
    .history = sql_history,
    .history_remove = sql_history_remove,
    .file_add = sql_retained_file_add,
    .files_of = sql_retained_files_of,
    .tidy = sql_tidy,
    .run = prune_run,
    .count = prune_count,
    .held = prune_held,
    .last = prune_last,
};
