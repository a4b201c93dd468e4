/* The views of records. Names and keys are patra's own words, and names of sources, endpoints and
 * fields, which have letters, digits, - and _ only: they need no quoting beyond the quotes. */
#include <assert.h>
#include <string.h>

#include "adapter/sql/record_names.h"
#include "adapter/sql/session.h"
#include "base/buf.h"
#include "base/list.h"
#include "port/store_view.h"

enum { VIEW_TEXT_MAX = 1 << 20, NAMES_MAX = 1000 };

struct made_view {
    struct str name;
    struct str endpoint;
    struct str definition;
};

struct made_view_list {
    struct made_view *items;
    size_t count;
};

struct setting_up {
    struct store *store;
    struct arena *arena;
    const struct dialect *dialect;
    struct error *err;
};

/* ---- rows ---- */

static const char MADE[] = "SELECT view_name, endpoint_name, definition FROM ing_view"
                           " WHERE provenance_code = :source ORDER BY view_name";
static const char TAKEN[] = "SELECT count(*) FROM ing_view WHERE view_name = :name";
static const char EXISTS[] = "{view-exists}";
static const char REMEMBER[] =
    "INSERT INTO ing_view (view_name, provenance_code, endpoint_name, definition)"
    " VALUES (:name, :source, :endpoint, :definition)"
    " ON CONFLICT (view_name) DO UPDATE SET definition = excluded.definition";
static const char FORGET[] = "DELETE FROM ing_view WHERE view_name = :name";

static bool load_made(const struct setting_up *up, struct str source, struct made_view_list *list)
{
    struct statement *st = statement_of(up->store, MADE);
    struct made_view *made;

    *list = (struct made_view_list){ 0 };
    bind_text(st, ":source", source);
    while ((made = ROWS_NEXT(&st->rows, up->arena, list)) != NULL) {
        made->name = rows_text(&st->rows, up->arena);
        made->endpoint = rows_text(&st->rows, up->arena);
        made->definition = rows_text(&st->rows, up->arena);
    }
    return rows_finish(&st->rows, up->err);
}

static bool count_of(const struct setting_up *up, const char *sql, struct str name, int64_t *count)
{
    struct statement *st = statement_of(up->store, sql);

    bind_text(st, ":name", name);
    return rows_only_i64(&st->rows, count, up->err);
}

static bool remember(const struct setting_up *up, const struct record_view *view,
                     const struct made_view *made)
{
    struct statement *st = statement_of(up->store, REMEMBER);

    bind_text(st, ":name", made->name);
    bind_text(st, ":source", view->source);
    bind_text(st, ":endpoint", view->endpoint);
    bind_text(st, ":definition", made->definition);
    return statement_run(st, NULL, up->err);
}

static bool forget(const struct setting_up *up, struct str name)
{
    struct statement *st = statement_of(up->store, FORGET);

    bind_text(st, ":name", name);
    return statement_run(st, NULL, up->err);
}

/* ---- texts ---- */

/* Copies a template, with `value` for {name}. */
static void put(struct buf *out, const char *template, const char *name, struct str value)
{
    const size_t len = strlen(name);
    struct str rest = str_of(template);
    size_t at;

    while ((at = str_find(rest, str_of(name))) < rest.len) {
        buf_add(out, str_slice(rest, 0, at));
        buf_add(out, value);
        rest = str_slice(rest, at + len, rest.len);
    }
    buf_add(out, rest);
}

static void put_column(const struct setting_up *up, struct buf *out,
                       const struct view_column *column)
{
    buf_add(out, STR(", "));
    put(out, up->dialect->view_columns[column->type][column->is_list], "{key}", column->key);
    buf_printf(out, " AS \"%.*s\"", STR_ARG(column->name));
}

static void put_instant(const struct setting_up *up, struct buf *out, const char *column)
{
    buf_add(out, STR(", "));
    put(out, up->dialect->view_instant, "{column}", str_of(column));
    buf_printf(out, " AS %s", column);
}

/* The columns that every view has (core/record_view.c), then the fields. */
static bool define(const struct setting_up *up, const struct record_view *view, struct str *text)
{
    struct buf out;

    buf_init(&out, up->arena, VIEW_TEXT_MAX);
    buf_add(&out, STR("SELECT r.provider_id AS id, r.version AS version"));
    put_instant(up, &out, "updated_at");
    buf_add(&out, STR(", r.deleted AS deleted"));
    put_instant(up, &out, "created_at");
    put_instant(up, &out, "checked_at");
    for (size_t i = 0; i < view->count; i++)
        put_column(up, &out, &view->items[i]);
    buf_printf(&out,
               " FROM ing_record_state AS r LEFT JOIN ing_record_fields AS f ON f.record_id = r.id"
               " WHERE r.endpoint_id = " ENDPOINT_ID("'%.*s'", "'%.*s'"),
               STR_ARG(view->source), STR_ARG(view->endpoint));
    *text = buf_str(&out);
    return buf_ok(&out, up->err);
}

static bool run(const struct setting_up *up, const struct buf *script)
{
    struct sql_session *session = sql_session_of(up->store);

    return buf_ok(script, up->err) &&
           session->driver->run_script(session, buf_str(script).data, up->err);
}

static bool make_view(const struct setting_up *up, const struct made_view *made)
{
    struct buf named, script;

    buf_init(&named, up->arena, VIEW_TEXT_MAX);
    buf_init(&script, up->arena, 3 * VIEW_TEXT_MAX);
    put(&named, up->dialect->view_replace, "{name}", made->name);
    buf_add_char(&named, '\0');
    if (!buf_ok(&named, up->err))
        return false;
    put(&script, buf_str(&named).data, "{select}", made->definition);
    buf_add_char(&script, '\0');
    return run(up, &script) || error_wrap(up->err, "make view %.*s", STR_ARG(made->name));
}

static bool drop_view(const struct setting_up *up, struct str name)
{
    struct buf script;

    buf_init(&script, up->arena, VIEW_TEXT_MAX);
    buf_printf(&script, "DROP VIEW IF EXISTS \"%.*s\"", STR_ARG(name));
    buf_add_char(&script, '\0');
    return (run(up, &script) && forget(up, name)) ||
           error_wrap(up->err, "drop view %.*s", STR_ARG(name));
}

/* ---- the whole ---- */

static const struct made_view *made_of(const struct made_view_list *list, struct str endpoint)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_eq(list->items[i].endpoint, endpoint))
            return &list->items[i];
    }
    return NULL;
}

static bool is_wanted(const struct record_view_list *views, struct str endpoint)
{
    for (size_t i = 0; i < views->count; i++) {
        if (str_eq(views->items[i].endpoint, endpoint))
            return true;
    }
    return false;
}

/* The first name that no other endpoint has. */
static bool choose_name(const struct setting_up *up, const struct record_view *view,
                        struct str *name)
{
    int64_t taken = 1;

    for (int number = 1; taken > 0; number++) {
        if (number > NAMES_MAX)
            return error_set(up->err, ERROR_REQUEST, "view.name", "%d views have the name %.*s",
                             NAMES_MAX, STR_ARG(*name));
        *name = view_name(up->arena, view, number);
        if (name->data == NULL)
            return arena_error(up->arena, up->err);
        if (!count_of(up, TAKEN, *name, &taken))
            return false;
    }
    return true;
}

static bool set_one(const struct setting_up *up, const struct record_view *view,
                    const struct made_view *old)
{
    struct made_view made = { .endpoint = view->endpoint };
    int64_t exists = 0;

    if (!define(up, view, &made.definition))
        return false;
    if (old != NULL)
        made.name = old->name;
    else if (!choose_name(up, view, &made.name))
        return false;
    if (old != NULL && !count_of(up, EXISTS, made.name, &exists))
        return false;
    if (exists > 0 && str_eq(old->definition, made.definition))
        return true;
    return make_view(up, &made) && remember(up, view, &made);
}

static bool view_set(struct store *store, struct arena *arena, struct str source,
                     const struct record_view_list *views, struct error *err)
{
    const struct setting_up up = { store, arena, sql_session_of(store)->driver->dialect, err };
    struct made_view_list made;

    if (!load_made(&up, source, &made))
        return false;
    for (size_t i = 0; i < made.count; i++) {
        if (!is_wanted(views, made.items[i].endpoint) && !drop_view(&up, made.items[i].name))
            return false;
    }
    for (size_t i = 0; i < views->count; i++) {
        if (!set_one(&up, &views->items[i], made_of(&made, views->items[i].endpoint)))
            return error_wrap(err, "view of %.*s", STR_ARG(views->items[i].endpoint));
    }
    return true;
}

const struct store_view_ops SQL_VIEW = { .set = view_set };
