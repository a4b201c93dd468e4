#include <inttypes.h>
#include <string.h>

#include "adapter/sql/read.h"
#include "adapter/sqlite/sqlite.h"
#include "port/store_cursor.h"

static void bind_name(struct statement *st, const struct cursor_name *name)
{
    bind_text(st, ":source", name->source);
    bind_code(st, ":operation", &OPERATION_CODES, (int)name->operation);
    bind_text(st, ":cursor_key", name->cursor_key);
    bind_code(st, ":scope", &NAMESPACE_SCOPE_CODES, (int)name->scope);
    bind_text(st, ":namespace_key", name->namespace_key);
}

/* A value's three columns, and the memory that bound texts need until the statement has run. */
struct value_texts {
    char instant[INSTANT_TEXT_MAX];
    char numeric[CURSOR_ID_DIGITS_MAX];
};

struct value_places {
    const char *value;
    const char *instant;
    const char *numeric;
};

static void bind_value(struct statement *st, struct value_places at,
                       const struct cursor_value *value, struct value_texts *texts)
{
    const struct str text = cursor_value_text(value, texts->instant);

    bind_text(st, at.value, text);
    if (value->type == CURSOR_TIME)
        bind_i64(st, at.instant, value->instant_us);
    if (value->type == CURSOR_ID) { /* with leading zeros text compares like numbers */
        memset(texts->numeric, '0', sizeof(texts->numeric));
        memcpy(texts->numeric + sizeof(texts->numeric) - text.len, text.data, text.len);
        bind_text(st, at.numeric, (struct str){ texts->numeric, sizeof(texts->numeric) });
    }
}

static const char LOAD[] = "SELECT " CURSOR_COLUMNS " FROM ing_cursor"
                           " WHERE provenance_code = :source AND operation_code = :operation"
                           "   AND cursor_key = :cursor_key AND namespace_scope_code = :scope"
                           "   AND namespace_key = :namespace_key";

static bool cursor_load(struct store *store, struct arena *arena, const struct cursor_name *name,
                        struct cursor *cursor, bool *found, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LOAD);

    *cursor = (struct cursor){ .name = *name };
    bind_name(st, name);
    *found = rows_next(&st->rows);
    if (*found)
        read_cursor(&st->rows, arena, cursor);
    return rows_finish(&st->rows, err) || error_wrap(err, "load a cursor");
}

static const char LIST[] =
    "SELECT " CURSOR_COLUMNS " FROM ing_cursor WHERE :source IN ('', provenance_code)"
    " ORDER BY provenance_code, operation_code, cursor_key, namespace_scope_code, namespace_key";

static bool cursor_list(struct store *store, struct arena *arena, struct str source,
                        struct cursor_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    bind_text(st, ":source", source);
    return read_cursors(&st->rows, arena, list, err) || error_wrap(err, "list cursors");
}

#define NAME_COLUMNS \
    "provenance_code, operation_code, cursor_key, namespace_scope_code, namespace_key"
static const char NAMES[] =
    "SELECT " NAME_COLUMNS " FROM ing_cursor WHERE :source IN ('', provenance_code)"
    " UNION SELECT " NAME_COLUMNS " FROM ing_cursor_event WHERE :source IN ('', provenance_code)"
    " ORDER BY " NAME_COLUMNS;

static bool cursor_names(struct store *store, struct arena *arena, struct str source,
                         struct cursor_name_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), NAMES);

    bind_text(st, ":source", source);
    return read_cursor_names(&st->rows, arena, list, err) || error_wrap(err, "list namespaces");
}

static const char MAKE[] =
    "INSERT INTO ing_cursor (provenance_code, operation_code, cursor_key, namespace_scope_code,"
    " namespace_key, cursor_type_code, cursor_value, normalized_instant, normalized_numeric,"
    " observed_max_value, schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id,"
    " expr_hash, version, created_at, updated_at)"
    " VALUES (:source, :operation, :cursor_key, :scope, :namespace_key, :type, :value, :instant,"
    " :numeric, nullif(:observed_max, ''), :schedule_instance, :plan, :slice, :task, :run, :batch,"
    " :expr_hash, :version + 1, :now, :now) ON CONFLICT DO NOTHING";

#define SET_VALUE                                                                     \
    "UPDATE ing_cursor SET cursor_value = :value, normalized_instant = :instant,"     \
    " normalized_numeric = :numeric,"                                                 \
    " observed_max_value = coalesce(nullif(:observed_max, ''), observed_max_value),"  \
    " schedule_instance_id = :schedule_instance, plan_id = :plan, slice_id = :slice," \
    " task_id = :task, run_id = :run, batch_id = :batch, expr_hash = :expr_hash,"     \
    " version = version + 1, updated_at = :now"                                       \
    " WHERE id = :id AND version = :version AND cursor_type_code = :type"

static const char SET[] = SET_VALUE;
static const char MOVE[] = SET_VALUE "   AND CASE cursor_type_code" /* never back, whoever asks */
                                     "       WHEN 'TIME' THEN normalized_instant < :instant"
                                     "       WHEN 'ID' THEN normalized_numeric < :numeric"
                                     "       ELSE cursor_value <> :value END";

static bool write_value(struct store *store, const char *sql, const struct cursor *cursor,
                        const struct cursor_move *move, bool *moved, struct error *err)
{
    const bool is_new = cursor->id == 0;
    struct statement *st = statement_of(sqlite_store_of(store), is_new ? MAKE : sql);
    struct value_texts texts;

    if (is_new)
        bind_name(st, &cursor->name);
    else
        bind_i64(st, ":id", cursor->id);
    bind_i64(st, ":version", cursor->version);
    bind_code(st, ":type", &CURSOR_TYPE_CODES, (int)move->to.type);
    bind_value(st, (struct value_places){ ":value", ":instant", ":numeric" }, &move->to, &texts);
    bind_text(st, ":observed_max", move->observed_max);
    bind_lineage(st, &move->lineage);
    bind_text(st, ":expr_hash", move->expr_hash);
    bind_i64(st, ":now", move->now_us);
    if (!statement_run(st, err))
        return error_wrap(err, "move a cursor of %.*s", STR_ARG(cursor->name.source));
    *moved = statement_changes(st) == 1;
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

static const char OBSERVE[] =
    "UPDATE ing_cursor SET observed_max_value = nullif(:observed_max, '') WHERE id = :id";

static bool cursor_observe(struct store *store, const struct cursor *cursor,
                           struct str observed_max, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), OBSERVE);

    bind_i64(st, ":id", cursor->id);
    bind_text(st, ":observed_max", observed_max);
    return statement_run(st, err) ||
           error_wrap(err, "note what was seen of %.*s", STR_ARG(cursor->name.source));
}

static const char EVENT_ADD[] =
    "INSERT INTO ing_cursor_event (provenance_code, operation_code, cursor_key,"
    " namespace_scope_code, namespace_key, cursor_type_code, direction_code, reason_code,"
    " prev_value, new_value, prev_instant, new_instant, prev_numeric, new_numeric, window_from,"
    " window_to, observed_max_value, idempotent_key, schedule_instance_id, plan_id, slice_id,"
    " task_id, run_id, batch_id, expr_hash, record_remarks, created_at)"
    " VALUES (:source, :operation, :cursor_key, :scope, :namespace_key, :type, :direction,"
    " :reason, :prev_value, :new_value, :prev_instant, :new_instant, :prev_numeric, :new_numeric,"
    " :window_from, :window_to, nullif(:observed_max, ''), :idempotent_key, :schedule_instance,"
    " :plan, :slice, :task, :run, :batch, :expr_hash, :remarks, :created)"
    " ON CONFLICT (idempotent_key) DO NOTHING";

static bool event_add(struct store *store, const struct cursor_event *event, bool *added,
                      struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), EVENT_ADD);
    struct value_texts prev, next;

    bind_name(st, &event->name);
    bind_code(st, ":type", &CURSOR_TYPE_CODES, (int)event->next.type);
    bind_code(st, ":direction", &DIRECTION_CODES, (int)event->direction);
    bind_code(st, ":reason", &CURSOR_EVENT_REASON_CODES, (int)event->reason);
    if (event->has_prev)
        bind_value(st, (struct value_places){ ":prev_value", ":prev_instant", ":prev_numeric" },
                   &event->prev, &prev);
    bind_value(st, (struct value_places){ ":new_value", ":new_instant", ":new_numeric" },
               &event->next, &next);
    bind_window(st, ":window_from", ":window_to", event->window);
    bind_text(st, ":observed_max", event->observed_max);
    bind_text(st, ":idempotent_key", event->idempotent_key);
    bind_lineage(st, &event->lineage);
    bind_text(st, ":expr_hash", event->expr_hash);
    bind_text(st, ":remarks", event->remarks);
    bind_i64(st, ":created", event->created_us);
    if (!statement_run(st, err))
        return error_wrap(err, "add an event of %.*s", STR_ARG(event->name.source));
    *added = statement_changes(st) == 1;
    return true;
}

#define EVENTS_OF_NAME                                                  \
    "SELECT " CURSOR_EVENT_COLUMNS " FROM ing_cursor_event"             \
    " WHERE provenance_code = :source AND operation_code = :operation"  \
    "   AND cursor_key = :cursor_key AND namespace_scope_code = :scope" \
    "   AND namespace_key = :namespace_key"
static const char EVENT_LIST[] = EVENTS_OF_NAME " AND id > :after ORDER BY id LIMIT :limit";
static const char EVENT_LAST[] = EVENTS_OF_NAME " ORDER BY id DESC LIMIT :limit";

static bool event_list(struct store *store, struct arena *arena, const struct cursor_name *name,
                       int64_t after_id, int64_t limit, struct cursor_event_list *list,
                       struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), EVENT_LIST);

    bind_name(st, name);
    bind_i64(st, ":after", after_id);
    bind_i64(st, ":limit", limit);
    return read_cursor_events(&st->rows, arena, list, err) || error_wrap(err, "list cursor events");
}

static bool event_last(struct store *store, struct arena *arena, const struct cursor_name *name,
                       int64_t limit, struct cursor_event_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), EVENT_LAST);

    bind_name(st, name);
    bind_i64(st, ":limit", limit);
    return read_cursor_events(&st->rows, arena, list, err) || error_wrap(err, "list cursor events");
}

const struct store_cursor_ops SQLITE_CURSOR = {
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
