#include <inttypes.h>

#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"
#include "port/store_cursor.h"

/* In every statement here a name has the first five places. */
enum { NAME_SOURCE = 1, NAME_OPERATION, NAME_CURSOR_KEY, NAME_SCOPE, NAME_NAMESPACE_KEY, NAME_END };

static void set_name(struct query *q, const struct cursor_name *name)
{
    set_text(q, NAME_SOURCE, name->source);
    set_code(q, NAME_OPERATION, &OPERATION_CODES, (int)name->operation);
    set_text(q, NAME_CURSOR_KEY, name->cursor_key);
    set_code(q, NAME_SCOPE, &NAMESPACE_SCOPE_CODES, (int)name->scope);
    set_text(q, NAME_NAMESPACE_KEY, name->namespace_key);
}

/* A value has three places: as written, as an instant, as a number. `text` holds what an instant
 * is written in until the query has run. NULL: no value. */
static void set_value(struct query *q, int place, const struct cursor_value *value,
                      char text[INSTANT_TEXT_MAX])
{
    const struct str written = value != NULL ? cursor_value_text(value, text) : STR("");
    const bool is_time = value != NULL && value->type == CURSOR_TIME;
    const bool is_id = value != NULL && value->type == CURSOR_ID;

    set_text_opt(q, place, value != NULL, written);
    set_time_opt(q, place + 1, is_time, is_time ? value->instant_us : 0);
    set_text_opt(q, place + 2, is_id, written);
}

static const char LOAD[] = "SELECT " CURSOR_COLUMNS " FROM ing_cursor"
                           " WHERE provenance_code = $1 AND operation_code = $2"
                           "   AND cursor_key = $3 AND namespace_scope_code = $4"
                           "   AND namespace_key = $5";

static bool cursor_load(struct store *store, struct arena *arena, const struct cursor_name *name,
                        struct cursor *cursor, bool *found, struct error *err)
{
    struct query q;

    *cursor = (struct cursor){ .name = *name };
    query_init(&q, postgres_store_of(store), LOAD);
    set_name(&q, name);
    *found = rows_next(&q.rows);
    if (*found)
        read_cursor(&q.rows, arena, cursor);
    return rows_finish(&q.rows, err) || error_wrap(err, "load a cursor");
}

enum { LIST_SOURCE = 1 };
static const char LIST[] =
    "SELECT " CURSOR_COLUMNS " FROM ing_cursor WHERE $1 IN ('', provenance_code)"
    " ORDER BY provenance_code COLLATE \"C\", operation_code COLLATE \"C\","
    " cursor_key COLLATE \"C\", namespace_scope_code COLLATE \"C\","
    " namespace_key COLLATE \"C\"";

static bool cursor_list(struct store *store, struct arena *arena, struct str source,
                        struct cursor_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_text(&q, LIST_SOURCE, source);
    return read_cursors(&q.rows, arena, list, err) || error_wrap(err, "list cursors");
}

#define NAME_COLUMNS                                                                         \
    "provenance_code COLLATE \"C\", operation_code COLLATE \"C\", cursor_key COLLATE \"C\"," \
    " namespace_scope_code COLLATE \"C\", namespace_key COLLATE \"C\""
static const char NAMES[] =
    "SELECT " NAME_COLUMNS " FROM ing_cursor WHERE $1 IN ('', provenance_code)"
    " UNION SELECT " NAME_COLUMNS " FROM ing_cursor_event WHERE $1 IN ('', provenance_code)"
    " ORDER BY 1, 2, 3, 4, 5";

static bool cursor_names(struct store *store, struct arena *arena, struct str source,
                         struct cursor_name_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), NAMES);
    set_text(&q, LIST_SOURCE, source);
    return read_cursor_names(&q.rows, arena, list, err) || error_wrap(err, "list namespaces");
}

enum {
    MAKE_TYPE = NAME_END,
    MAKE_VALUE, /* three places */
    MAKE_OBSERVED_MAX = MAKE_VALUE + 3,
    MAKE_LINEAGE, /* six places */
    MAKE_EXPR_HASH = MAKE_LINEAGE + 6,
    MAKE_NOW,
    MAKE_VERSION,
};
static const char MAKE[] =
    "INSERT INTO ing_cursor (provenance_code, operation_code, cursor_key, namespace_scope_code,"
    " namespace_key, cursor_type_code, cursor_value, normalized_instant, normalized_numeric,"
    " observed_max_value, schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id,"
    " expr_hash, version, created_at, updated_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::numeric, nullif($10, ''), $11, $12, $13, $14,"
    " $15, $16, $17, $19 + 1, $18, $18) ON CONFLICT DO NOTHING";

enum {
    MOVE_ID = 1,
    MOVE_VERSION,
    MOVE_TYPE,
    MOVE_VALUE, /* three places */
    MOVE_OBSERVED_MAX = MOVE_VALUE + 3,
    MOVE_LINEAGE, /* six places */
    MOVE_EXPR_HASH = MOVE_LINEAGE + 6,
    MOVE_NOW,
};
#define SET_VALUE                                                                            \
    "UPDATE ing_cursor SET cursor_value = $4, normalized_instant = $5,"                      \
    " normalized_numeric = $6::numeric,"                                                     \
    " observed_max_value = coalesce(nullif($7, ''), observed_max_value),"                    \
    " schedule_instance_id = $8, plan_id = $9, slice_id = $10, task_id = $11, run_id = $12," \
    " batch_id = $13, expr_hash = $14, version = version + 1, updated_at = $15"              \
    " WHERE id = $1 AND version = $2 AND cursor_type_code = $3"

static const char SET[] = SET_VALUE;
static const char MOVE[] = SET_VALUE "   AND CASE cursor_type_code" /* never back, whoever asks */
                                     "       WHEN 'TIME' THEN normalized_instant < $5"
                                     "       WHEN 'ID' THEN normalized_numeric < $6::numeric"
                                     "       ELSE cursor_value <> $4 END";

static bool write_value(struct store *store, const char *sql, const struct cursor *cursor,
                        const struct cursor_move *move, bool *moved, struct error *err)
{
    const bool is_new = cursor->id == 0;
    char text[INSTANT_TEXT_MAX];
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), is_new ? MAKE : sql);
    if (is_new)
        set_name(&q, &cursor->name);
    else
        set_i64(&q, MOVE_ID, cursor->id);
    set_i64(&q, is_new ? MAKE_VERSION : MOVE_VERSION, cursor->version);
    set_code(&q, is_new ? MAKE_TYPE : MOVE_TYPE, &CURSOR_TYPE_CODES, (int)move->to.type);
    set_value(&q, is_new ? MAKE_VALUE : MOVE_VALUE, &move->to, text);
    set_text(&q, is_new ? MAKE_OBSERVED_MAX : MOVE_OBSERVED_MAX, move->observed_max);
    set_lineage(&q, is_new ? MAKE_LINEAGE : MOVE_LINEAGE, &move->lineage);
    set_text(&q, is_new ? MAKE_EXPR_HASH : MOVE_EXPR_HASH, move->expr_hash);
    set_time(&q, is_new ? MAKE_NOW : MOVE_NOW, move->now_us);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "move a cursor of %.*s", STR_ARG(cursor->name.source));
    *moved = changes == 1;
    return true;
}

static bool cursor_move(struct store *store, const struct cursor *cursor,
                        const struct cursor_move *move, bool *moved, struct error *err)
{
    return write_value(store, MOVE, cursor, move, moved, err);
}

static bool cursor_set(struct store *store, const struct cursor *cursor,
                       const struct cursor_move *move, bool *moved, struct error *err)
{
    return write_value(store, SET, cursor, move, moved, err);
}

enum { OBSERVE_ID = 1, OBSERVE_MAX };
static const char OBSERVE[] =
    "UPDATE ing_cursor SET observed_max_value = nullif($2, '') WHERE id = $1";

static bool cursor_observe(struct store *store, const struct cursor *cursor,
                           struct str observed_max, struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), OBSERVE);
    set_i64(&q, OBSERVE_ID, cursor->id);
    set_text(&q, OBSERVE_MAX, observed_max);
    return query_run(&q, &changes, err) ||
           error_wrap(err, "note what was seen of %.*s", STR_ARG(cursor->name.source));
}

enum {
    EVENT_ADD_TYPE = NAME_END,
    EVENT_ADD_DIRECTION,
    EVENT_ADD_REASON,
    EVENT_ADD_PREV,                       /* three places */
    EVENT_ADD_NEW = EVENT_ADD_PREV + 3,   /* three places */
    EVENT_ADD_WINDOW = EVENT_ADD_NEW + 3, /* two places */
    EVENT_ADD_OBSERVED_MAX = EVENT_ADD_WINDOW + 2,
    EVENT_ADD_IDEMPOTENT_KEY,
    EVENT_ADD_LINEAGE, /* six places */
    EVENT_ADD_EXPR_HASH = EVENT_ADD_LINEAGE + 6,
    EVENT_ADD_REMARKS,
    EVENT_ADD_CREATED,
};
static const char EVENT_ADD[] =
    "INSERT INTO ing_cursor_event (provenance_code, operation_code, cursor_key,"
    " namespace_scope_code, namespace_key, cursor_type_code, direction_code, reason_code,"
    " prev_value, prev_instant, prev_numeric, new_value, new_instant, new_numeric, window_from,"
    " window_to, observed_max_value, idempotent_key, schedule_instance_id, plan_id, slice_id,"
    " task_id, run_id, batch_id, expr_hash, record_remarks, created_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::numeric, $12, $13, $14::numeric, $15,"
    " $16, nullif($17, ''), $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)"
    " ON CONFLICT (idempotent_key) DO NOTHING";

static bool event_add(struct store *store, const struct cursor_event *event, bool *added,
                      struct error *err)
{
    char prev[INSTANT_TEXT_MAX], next[INSTANT_TEXT_MAX];
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), EVENT_ADD);
    set_name(&q, &event->name);
    set_code(&q, EVENT_ADD_TYPE, &CURSOR_TYPE_CODES, (int)event->next.type);
    set_code(&q, EVENT_ADD_DIRECTION, &DIRECTION_CODES, (int)event->direction);
    set_code(&q, EVENT_ADD_REASON, &CURSOR_EVENT_REASON_CODES, (int)event->reason);
    set_value(&q, EVENT_ADD_PREV, event->has_prev ? &event->prev : NULL, prev);
    set_value(&q, EVENT_ADD_NEW, &event->next, next);
    set_window(&q, EVENT_ADD_WINDOW, event->window);
    set_text(&q, EVENT_ADD_OBSERVED_MAX, event->observed_max);
    set_text(&q, EVENT_ADD_IDEMPOTENT_KEY, event->idempotent_key);
    set_lineage(&q, EVENT_ADD_LINEAGE, &event->lineage);
    set_text(&q, EVENT_ADD_EXPR_HASH, event->expr_hash);
    set_json(&q, EVENT_ADD_REMARKS, event->remarks);
    set_time(&q, EVENT_ADD_CREATED, event->created_us);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "add an event of %.*s", STR_ARG(event->name.source));
    *added = changes == 1;
    return true;
}

#define EVENTS_OF_NAME                                                        \
    "SELECT " CURSOR_EVENT_COLUMNS " FROM ing_cursor_event"                   \
    " WHERE provenance_code = $1 AND operation_code = $2 AND cursor_key = $3" \
    "   AND namespace_scope_code = $4 AND namespace_key = $5"
enum { EVENT_LIST_AFTER = NAME_END, EVENT_LIST_LIMIT };
static const char EVENT_LIST[] = EVENTS_OF_NAME " AND id > $6 ORDER BY id LIMIT $7";
enum { EVENT_LAST_LIMIT = NAME_END };
static const char EVENT_LAST[] = EVENTS_OF_NAME " ORDER BY id DESC LIMIT $6";

static bool event_list(struct store *store, struct arena *arena, const struct cursor_name *name,
                       int64_t after_id, int64_t limit, struct cursor_event_list *list,
                       struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), EVENT_LIST);
    set_name(&q, name);
    set_i64(&q, EVENT_LIST_AFTER, after_id);
    set_i64(&q, EVENT_LIST_LIMIT, limit);
    return read_cursor_events(&q.rows, arena, list, err) || error_wrap(err, "list cursor events");
}

static bool event_last(struct store *store, struct arena *arena, const struct cursor_name *name,
                       int64_t limit, struct cursor_event_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), EVENT_LAST);
    set_name(&q, name);
    set_i64(&q, EVENT_LAST_LIMIT, limit);
    return read_cursor_events(&q.rows, arena, list, err) || error_wrap(err, "list cursor events");
}

const struct store_cursor_ops POSTGRES_CURSOR = {
    .load = cursor_load,
    .list = cursor_list,
    .names = cursor_names,
    .move = cursor_move,
    .set = cursor_set,
    .observe = cursor_observe,
    .event_add = event_add,
    .event_list = event_list,
    .event_last = event_last,
};
