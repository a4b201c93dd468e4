/* Cursors and their events. */
#include <inttypes.h>
#include <string.h>

#include "adapter/sql/session.h"
#include "port/store_cursor.h"

#define CURSOR_COLUMNS                                                                         \
    "id, provenance_code, operation_code, cursor_key, namespace_scope_code, namespace_key,"    \
    " cursor_type_code, cursor_value, normalized_instant, observed_max_value,"                 \
    " schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id, expr_hash, version," \
    " updated_at"

#define CURSOR_EVENT_COLUMNS                                                                \
    "id, provenance_code, operation_code, cursor_key, namespace_scope_code, namespace_key," \
    " cursor_type_code, direction_code, reason_code, prev_value, prev_instant, new_value,"  \
    " new_instant, window_from, window_to, observed_max_value, idempotent_key,"             \
    " schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id, expr_hash,"       \
    " record_remarks, created_at"

static struct cursor_name read_name(struct rows *rows, struct arena *arena)
{
    struct cursor_name name;

    name.source = rows_text(rows, arena);
    name.operation = (enum operation)rows_code(rows, &OPERATION_CODES);
    name.cursor_key = rows_text(rows, arena);
    name.scope = (enum namespace_scope)rows_code(rows, &NAMESPACE_SCOPE_CODES);
    name.namespace_key = rows_text(rows, arena);
    return name;
}

/* Two columns: the text, and the instant of a cursor of type TIME. */
static struct cursor_value read_value(struct rows *rows, struct arena *arena, enum cursor_type type)
{
    struct cursor_value value = { .type = type };

    if (type == CURSOR_TIME) {
        rows_skip(rows, 1);
        value.instant_us = rows_i64(rows);
    } else {
        value.text = rows_text(rows, arena);
        rows_skip(rows, 1);
    }
    return value;
}

static void read_cursor(struct rows *rows, struct arena *arena, struct cursor *cursor)
{
    enum cursor_type type;

    cursor->id = rows_i64(rows);
    cursor->name = read_name(rows, arena);
    type = (enum cursor_type)rows_code(rows, &CURSOR_TYPE_CODES);
    cursor->value = read_value(rows, arena, type);
    cursor->observed_max = rows_text(rows, arena);
    cursor->lineage = rows_lineage(rows);
    cursor->expr_hash = rows_text(rows, arena);
    cursor->version = rows_i64(rows);
    cursor->updated_us = rows_i64(rows);
}

static bool read_cursors(struct rows *rows, struct arena *arena, struct cursor_list *list,
                         struct error *err)
{
    struct cursor *cursor;

    *list = (struct cursor_list){ 0 };
    while ((cursor = ROWS_NEXT(rows, arena, list)) != NULL)
        read_cursor(rows, arena, cursor);
    return rows_finish(rows, err);
}

static bool read_cursor_names(struct rows *rows, struct arena *arena, struct cursor_name_list *list,
                              struct error *err)
{
    struct cursor_name *name;

    *list = (struct cursor_name_list){ 0 };
    while ((name = ROWS_NEXT(rows, arena, list)) != NULL)
        *name = read_name(rows, arena);
    return rows_finish(rows, err);
}

static void read_event(struct rows *rows, struct arena *arena, struct cursor_event *event)
{
    enum cursor_type type;

    event->id = rows_i64(rows);
    event->name = read_name(rows, arena);
    type = (enum cursor_type)rows_code(rows, &CURSOR_TYPE_CODES);
    event->direction = (enum direction)rows_code(rows, &DIRECTION_CODES);
    event->reason = (enum cursor_event_reason)rows_code(rows, &CURSOR_EVENT_REASON_CODES);
    event->has_prev = !rows_is_null(rows);
    event->prev = read_value(rows, arena, type);
    event->next = read_value(rows, arena, type);
    event->window = rows_window(rows);
    event->observed_max = rows_text(rows, arena);
    event->idempotent_key = rows_text(rows, arena);
    event->lineage = rows_lineage(rows);
    event->expr_hash = rows_text(rows, arena);
    event->remarks = rows_text(rows, arena);
    event->created_us = rows_i64(rows);
}

static bool read_cursor_events(struct rows *rows, struct arena *arena,
                               struct cursor_event_list *list, struct error *err)
{
    struct cursor_event *event;

    *list = (struct cursor_event_list){ 0 };
    while ((event = ROWS_NEXT(rows, arena, list)) != NULL)
        read_event(rows, arena, event);
    return rows_finish(rows, err);
}

static void bind_name(struct statement *st, const struct cursor_name *name)
{
    bind_text(st, ":source", name->source);
    bind_code(st, ":operation", &OPERATION_CODES, (int)name->operation);
    bind_text(st, ":cursor_key", name->cursor_key);
    bind_code(st, ":scope", &NAMESPACE_SCOPE_CODES, (int)name->scope);
    bind_text(st, ":namespace_key", name->namespace_key);
}

/* A value has three columns: its text, its instant, its number. */
struct value_places {
    const char *value;
    const char *instant;
    const char *numeric;
};

/* `value` may be NULL: then all three are NULL. `text` holds the text of an instant until the
 * statement has run. */
static void bind_cursor_value(struct statement *st, struct value_places at,
                              const struct cursor_value *value, char text[INSTANT_TEXT_MAX])
{
    const bool is_time = value != NULL && value->type == CURSOR_TIME;
    const bool is_id = value != NULL && value->type == CURSOR_ID;
    const struct str written = value != NULL ? cursor_value_text(value, text) : STR("");

    bind_text_opt(st, at.value, value != NULL, written);
    bind_instant_opt(st, at.instant, is_time, is_time ? value->instant_us : 0);
    bind_digits_opt(st, at.numeric, is_id, written);
}

static const char LOAD[] = "SELECT " CURSOR_COLUMNS " FROM ing_cursor"
                           " WHERE provenance_code = :source AND operation_code = :operation"
                           "   AND cursor_key = :cursor_key AND namespace_scope_code = :scope"
                           "   AND namespace_key = :namespace_key";

static bool cursor_load(struct store *store, struct arena *arena, const struct cursor_name *name,
                        struct cursor *cursor, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, LOAD);

    *cursor = (struct cursor){ .name = *name };
    bind_name(st, name);
    *found = rows_next(&st->rows);
    if (*found)
        read_cursor(&st->rows, arena, cursor);
    return rows_finish(&st->rows, err) || error_wrap(err, "load a cursor");
}

#define NAME_COLUMNS                                                                   \
    "provenance_code{byte-order}, operation_code{byte-order}, cursor_key{byte-order}," \
    " namespace_scope_code{byte-order}, namespace_key{byte-order}"

static const char LIST[] =
    "SELECT " CURSOR_COLUMNS " FROM ing_cursor WHERE :source IN ('', provenance_code)"
    " ORDER BY " NAME_COLUMNS;

static bool cursor_list(struct store *store, struct arena *arena, struct str source,
                        struct cursor_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    bind_text(st, ":source", source);
    return read_cursors(&st->rows, arena, list, err) || error_wrap(err, "list cursors");
}

static const char NAMES[] =
    "SELECT " NAME_COLUMNS " FROM ing_cursor WHERE :source IN ('', provenance_code)"
    " UNION SELECT " NAME_COLUMNS " FROM ing_cursor_event WHERE :source IN ('', provenance_code)"
    " ORDER BY 1, 2, 3, 4, 5";

static bool cursor_names(struct store *store, struct arena *arena, struct str source,
                         struct cursor_name_list *list, struct error *err)
{
    struct statement *st = statement_of(store, NAMES);

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
static const char MOVE[] = SET_VALUE "   AND CASE cursor_type_code" /* never backward */
                                     "       WHEN 'TIME' THEN normalized_instant < :instant"
                                     "       WHEN 'ID' THEN normalized_numeric < :numeric"
                                     "       ELSE cursor_value <> :value END";

/* `st` is MAKE for a cursor with id 0, otherwise MOVE or SET. */
static bool write_value(struct statement *st, const struct cursor *cursor,
                        const struct cursor_move *move, bool *moved, struct error *err)
{
    char text[INSTANT_TEXT_MAX];

    if (cursor->id == 0)
        bind_name(st, &cursor->name);
    else
        bind_i64(st, ":id", cursor->id);
    bind_i64(st, ":version", cursor->version);
    bind_code(st, ":type", &CURSOR_TYPE_CODES, (int)move->to.type);
    bind_cursor_value(st, (struct value_places){ ":value", ":instant", ":numeric" }, &move->to,
                      text);
    bind_text(st, ":observed_max", move->observed_max);
    bind_lineage(st, &move->lineage);
    bind_text(st, ":expr_hash", move->expr_hash);
    bind_instant(st, ":now", move->now_us);
    return statement_changed(st, moved, err) ||
           error_wrap(err, "move a cursor of %.*s", STR_ARG(cursor->name.source));
}

static bool cursor_move(struct store *store, const struct cursor *cursor,
                        const struct cursor_move *move, bool *moved, struct error *err)
{
    return write_value(statement_of(store, cursor->id == 0 ? MAKE : MOVE), cursor, move, moved,
                       err);
}

static bool cursor_set(struct store *store, const struct cursor *cursor,
                       const struct cursor_move *move, bool *moved, struct error *err)
{
    return write_value(statement_of(store, cursor->id == 0 ? MAKE : SET), cursor, move, moved, err);
}

static const char OBSERVE[] =
    "UPDATE ing_cursor SET observed_max_value = nullif(:observed_max, '') WHERE id = :id";

static bool cursor_observe(struct store *store, const struct cursor *cursor,
                           struct str observed_max, struct error *err)
{
    struct statement *st = statement_of(store, OBSERVE);

    bind_i64(st, ":id", cursor->id);
    bind_text(st, ":observed_max", observed_max);
    return statement_run(st, NULL, err) ||
           error_wrap(err, "write the observed maximum of a cursor of %.*s",
                      STR_ARG(cursor->name.source));
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
    struct statement *st = statement_of(store, EVENT_ADD);
    char prev[INSTANT_TEXT_MAX], next[INSTANT_TEXT_MAX];

    bind_name(st, &event->name);
    bind_code(st, ":type", &CURSOR_TYPE_CODES, (int)event->next.type);
    bind_code(st, ":direction", &DIRECTION_CODES, (int)event->direction);
    bind_code(st, ":reason", &CURSOR_EVENT_REASON_CODES, (int)event->reason);
    bind_cursor_value(st, (struct value_places){ ":prev_value", ":prev_instant", ":prev_numeric" },
                      event->has_prev ? &event->prev : NULL, prev);
    bind_cursor_value(st, (struct value_places){ ":new_value", ":new_instant", ":new_numeric" },
                      &event->next, next);
    bind_window(st, ":window_from", ":window_to", event->window);
    bind_text(st, ":observed_max", event->observed_max);
    bind_text(st, ":idempotent_key", event->idempotent_key);
    bind_lineage(st, &event->lineage);
    bind_text(st, ":expr_hash", event->expr_hash);
    bind_json(st, ":remarks", event->remarks);
    bind_instant(st, ":created", event->created_us);
    return statement_changed(st, added, err) ||
           error_wrap(err, "add a cursor event of %.*s", STR_ARG(event->name.source));
}

#define EVENTS_OF_NAME                                                  \
    "SELECT " CURSOR_EVENT_COLUMNS " FROM ing_cursor_event"             \
    " WHERE provenance_code = :source AND operation_code = :operation"  \
    "   AND cursor_key = :cursor_key AND namespace_scope_code = :scope" \
    "   AND namespace_key = :namespace_key"
static const char EVENT_LIST[] = EVENTS_OF_NAME " AND id > :after ORDER BY id LIMIT :limit";
static const char EVENT_LAST[] = EVENTS_OF_NAME " ORDER BY id DESC LIMIT :limit";

static bool event_list(struct store *store, struct arena *arena, const struct cursor_name *name,
                       struct store_page page, struct cursor_event_list *list, struct error *err)
{
    struct statement *st = statement_of(store, EVENT_LIST);

    bind_name(st, name);
    bind_i64(st, ":after", page.after);
    bind_i64(st, ":limit", page.limit);
    return read_cursor_events(&st->rows, arena, list, err) || error_wrap(err, "list cursor events");
}

static bool event_last(struct store *store, struct arena *arena, const struct cursor_name *name,
                       int64_t limit, struct cursor_event_list *list, struct error *err)
{
    struct statement *st = statement_of(store, EVENT_LAST);

    bind_name(st, name);
    bind_i64(st, ":limit", limit);
    return read_cursor_events(&st->rows, arena, list, err) || error_wrap(err, "list cursor events");
}

const struct store_cursor_ops SQL_CURSOR = {
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
