/* What is the same for statements of all databases: find one by its text, hold the values of one
 * use, start it when its first row is read, and remember its first failure. */
#include "adapter/sql/statement.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/sql/expand.h"
#include "adapter/sql/session.h"
#include "data/hash.h"

static const struct rows_ops ROWS;

static struct statement **slot_of(struct sql_session *session, const char *sql)
{
    size_t i = (size_t)(((uintptr_t)sql >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 40);

    for (;; i++) {
        struct statement **slot = &session->statements[i % SQL_STATEMENTS_MAX];

        if (*slot == NULL || (*slot)->sql == sql)
            return slot;
    }
}

/* NULL: no memory. */
static struct statement *make(struct sql_session *session, const char *sql)
{
    struct statement *st = malloc(sizeof(*st));

    assert(session->statement_count < SQL_STATEMENTS_MAX / 2);
    if (st == NULL)
        return NULL;
    *st = (struct statement){ .rows = { .ops = &ROWS }, .session = session, .sql = sql };
    expand_names(session->driver->dialect, st);
    st->bound = malloc(sizeof(*st->bound) * (size_t)(st->values.count + 1));
    if (st->bound == NULL) {
        free(st);
        return NULL;
    }
    st->number = session->statement_count++;
    return st;
}

/* Takes any value, has no rows, and fails at its end, however often it is in use. */
static struct statement *without_memory(struct sql_session *session)
{
    struct statement *st = &session->without_memory;

    st->rows.ops = &ROWS;
    st->session = session;
    st->has_no_memory = true;
    return st;
}

struct statement *statement_of(struct store *store, const char *sql)
{
    struct sql_session *session = sql_session_of(store);
    struct statement **slot = slot_of(session, sql);

    if (*slot == NULL)
        *slot = make(session, sql);
    if (*slot == NULL)
        return without_memory(session);
    assert((*slot)->state == STATEMENT_IDLE && (*slot)->is_bound == 0);
    return *slot;
}

/* ---- values ---- */

static void check_text(struct statement *st, struct str name, const struct sql_value *value)
{
    const bool is_text = value->type == SQL_TEXT || value->type == SQL_JSON ||
                         value->type == SQL_UUID || value->type == SQL_DIGITS;

    if (is_text && value->is_set && st->bad_text.data == NULL && !store_text_ok(value->text))
        st->bad_text = name;
}

/* Values are mostly bound in the order of the text, so the search begins after the one bound last.
 */
static int place_of(struct statement *st, const char *name)
{
    const struct str wanted = str_of(name + 1);

    for (int i = 0; i < st->values.count; i++) {
        const int place = (st->next_value + i) % st->values.count;

        if (str_eq(st->values.items[place], wanted)) {
            st->next_value = place + 1;
            return place;
        }
    }
    assert(!"a value of the statement");
    abort();
}

void bind_value(struct statement *st, const char *name, struct sql_value value)
{
    int place;

    if (st->has_no_memory)
        return;
    place = place_of(st, name);
    assert(name[0] == ':');
    st->bound[place] = value;
    st->is_bound |= UINT64_C(1) << place;
    check_text(st, st->values.items[place], &value);
}

void bind_i64_opt(struct statement *st, const char *name, bool is_set, int64_t value)
{
    bind_value(st, name, (struct sql_value){ .type = SQL_I64, .is_set = is_set, .i64 = value });
}

void bind_i64(struct statement *st, const char *name, int64_t value)
{
    bind_i64_opt(st, name, true, value);
}

void bind_bool(struct statement *st, const char *name, bool value)
{
    bind_value(st, name, (struct sql_value){ .type = SQL_BOOL, .is_set = true, .i64 = value });
}

void bind_instant_opt(struct statement *st, const char *name, bool is_set, int64_t value_us)
{
    bind_value(st, name,
               (struct sql_value){ .type = SQL_INSTANT, .is_set = is_set, .i64 = value_us });
}

void bind_instant(struct statement *st, const char *name, int64_t value_us)
{
    bind_instant_opt(st, name, true, value_us);
}

static struct sql_value text_value(enum sql_type type, bool is_set, struct str text)
{
    return (struct sql_value){ .type = type, .is_set = is_set, .text = text };
}

void bind_text_opt(struct statement *st, const char *name, bool is_set, struct str value)
{
    bind_value(st, name, text_value(SQL_TEXT, is_set, value));
}

void bind_text(struct statement *st, const char *name, struct str value)
{
    bind_text_opt(st, name, true, value);
}

void bind_digits_opt(struct statement *st, const char *name, bool is_set, struct str value)
{
    bind_value(st, name, text_value(SQL_DIGITS, is_set, value));
}

void bind_json_opt(struct statement *st, const char *name, bool is_set, struct str value)
{
    bind_value(st, name, text_value(SQL_JSON, is_set, value));
}

void bind_json(struct statement *st, const char *name, struct str value)
{
    bind_json_opt(st, name, true, value);
}

void bind_bytes_opt(struct statement *st, const char *name, bool is_set, struct str value)
{
    bind_value(st, name, text_value(SQL_BYTES, is_set, value));
}

void bind_bytes(struct statement *st, const char *name, struct str value)
{
    bind_bytes_opt(st, name, true, value);
}

void bind_code_opt(struct statement *st, const char *name, bool is_set,
                   const struct code_table *table, int value)
{
    bind_text_opt(st, name, is_set, is_set ? code_of(table, value) : STR(""));
}

void bind_code(struct statement *st, const char *name, const struct code_table *table, int value)
{
    bind_code_opt(st, name, true, table, value);
}

static struct sql_value id_value(int64_t id)
{
    return (struct sql_value){ .type = SQL_I64, .is_set = id != 0, .i64 = id };
}

void bind_id(struct statement *st, const char *name, int64_t id)
{
    bind_value(st, name, id_value(id));
}

void bind_window(struct statement *st, const char *from, const char *to, struct window window)
{
    bind_instant_opt(st, from, window_is_valid(window), window.from_us);
    bind_instant_opt(st, to, window_is_valid(window), window.to_us);
}

void bind_lineage(struct statement *st, const struct lineage *lineage)
{
    bind_id(st, ":schedule_instance", lineage->schedule_instance_id);
    bind_id(st, ":plan", lineage->plan_id);
    bind_id(st, ":slice", lineage->slice_id);
    bind_id(st, ":task", lineage->task_id);
    bind_id(st, ":run", lineage->run_id);
    bind_id(st, ":batch", lineage->batch_id);
}

/* ---- cells ---- */

static bool has_room(struct statement *st)
{
    const size_t room = st->cell_room * 2 + 64;
    struct sql_value *cells;

    if (st->cell_count < st->cell_room)
        return true;
    cells = realloc(st->cells, room * sizeof(*cells));
    if (cells == NULL)
        return false;
    st->cells = cells;
    st->cell_room = room;
    return true;
}

void cell_value(struct statement *st, const char *name, struct sql_value value)
{
    int column;

    st->has_no_memory = st->has_no_memory || !has_room(st);
    if (st->has_no_memory)
        return;
    column = (int)(st->cell_count % (size_t)st->columns.count);
    assert(name[0] == '@' && str_eq(st->columns.items[column], str_of(name + 1)));
    check_text(st, st->columns.items[column], &value);
    st->cells[st->cell_count++] = value;
}

void cell_i64(struct statement *st, const char *name, int64_t value)
{
    cell_value(st, name, (struct sql_value){ .type = SQL_I64, .is_set = true, .i64 = value });
}

void cell_bool(struct statement *st, const char *name, bool value)
{
    cell_value(st, name, (struct sql_value){ .type = SQL_BOOL, .is_set = true, .i64 = value });
}

void cell_instant_opt(struct statement *st, const char *name, bool is_set, int64_t value_us)
{
    cell_value(st, name,
               (struct sql_value){ .type = SQL_INSTANT, .is_set = is_set, .i64 = value_us });
}

void cell_instant(struct statement *st, const char *name, int64_t value_us)
{
    cell_instant_opt(st, name, true, value_us);
}

void cell_text(struct statement *st, const char *name, struct str value)
{
    cell_value(st, name, text_value(SQL_TEXT, true, value));
}

void cell_json(struct statement *st, const char *name, struct str value)
{
    cell_value(st, name, (struct sql_value){ .type = SQL_JSON, .is_set = true, .text = value });
}

void cell_uuid(struct statement *st, const char *name, struct str value)
{
    cell_value(st, name, text_value(SQL_UUID, true, value));
}

void cell_bytes(struct statement *st, const char *name, struct str value)
{
    cell_value(st, name, text_value(SQL_BYTES, true, value));
}

void cell_hash(struct statement *st, const char *name, struct str hex)
{
    assert(hex.len == 0 || hex.len == 2 * HASH_BYTES);
    cell_value(st, name, text_value(SQL_HASH, true, hex));
}

void cell_code(struct statement *st, const char *name, const struct code_table *table, int value)
{
    cell_text(st, name, code_of(table, value));
}

void cell_id(struct statement *st, const char *name, int64_t id)
{
    cell_value(st, name, id_value(id));
}

void cell_window(struct statement *st, const char *from, const char *to, struct window window)
{
    cell_instant_opt(st, from, window_is_valid(window), window.from_us);
    cell_instant_opt(st, to, window_is_valid(window), window.to_us);
}

void cell_id_range(struct statement *st, const char *from, const char *to, struct id_range range)
{
    const bool is_set = id_range_is_valid(range);

    cell_value(st, from,
               (struct sql_value){ .type = SQL_I64, .is_set = is_set, .i64 = range.from });
    cell_value(st, to, (struct sql_value){ .type = SQL_I64, .is_set = is_set, .i64 = range.to });
}

size_t statement_row_count(const struct statement *st)
{
    return st->columns.count > 0 ? st->cell_count / (size_t)st->columns.count : 0;
}

const struct sql_value *statement_cell(const struct statement *st, size_t row, int column)
{
    return &st->cells[row * (size_t)st->columns.count + (size_t)column];
}

/* ---- one use ---- */

static bool is_complete(const struct statement *st)
{
    return st->is_bound == (UINT64_C(1) << st->values.count) - 1 &&
           (st->columns.count == 0 || st->cell_count % (size_t)st->columns.count == 0);
}

/* False when it must not be started: it lacks values, it has no rows to work on, or a value that no
 * store can keep. */
static bool is_ready(struct statement *st)
{
    if (st->has_no_memory)
        return false;
    assert(is_complete(st));
    if (st->columns.count > 0 && st->cell_count == 0)
        return false;
    if (st->bad_text.data == NULL)
        return true;
    st->failed = true;
    return error_set(&st->session->failure, ERROR_DATA, "store.text",
                     "%.*s is not text (UTF-8 without NUL)", STR_ARG(st->bad_text));
}

static bool next_row(struct rows *rows)
{
    struct statement *st = (struct statement *)rows;
    const struct sql_driver *driver = st->session->driver;
    bool has_row = false;

    if (st->state == STATEMENT_IDLE) {
        st->state = STATEMENT_OVER;
        if (!is_ready(st))
            return false;
        st->state = STATEMENT_STARTED;
        st->failed = !driver->start(st, &st->session->failure);
    }
    if (st->failed || st->state == STATEMENT_OVER)
        return false;
    if (!driver->step(st, &has_row, &st->session->failure))
        st->failed = true;
    return has_row;
}

void statement_fail(struct statement *st, const struct error *err)
{
    if (st->failed)
        return;
    st->failed = true;
    st->session->failure = *err;
}

/* Makes it ready for its next use. */
static int64_t reset(struct statement *st)
{
    const int64_t changes = st->state == STATEMENT_STARTED ? st->session->driver->end(st) : 0;

    st->rows = (struct rows){ .ops = &ROWS };
    st->is_bound = 0;
    st->next_value = 0;
    st->cell_count = 0;
    st->bad_text = (struct str){ 0 };
    st->has_no_memory = st == &st->session->without_memory;
    st->state = STATEMENT_IDLE;
    st->failed = false;
    return changes;
}

static bool finish(struct statement *st, int64_t *changes, struct error *err)
{
    const bool failed = st->failed, has_no_memory = st->has_no_memory;
    bool ok = true;

    if (!failed)
        ok = rows_ok(&st->rows, err);
    *changes = reset(st);
    if (has_no_memory)
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a statement");
    if (failed)
        *err = st->session->failure;
    return ok && !failed;
}

static bool finish_rows(struct rows *rows, struct error *err)
{
    int64_t ignored;

    return finish((struct statement *)rows, &ignored, err);
}

bool statement_is_single(const struct statement *st)
{
    return st->columns.count == 0 || st->session->driver->dialect->has_arrays;
}

static bool run(struct statement *st, int64_t *changes, struct error *err)
{
    while (next_row(&st->rows))
        ;
    return finish(st, changes, err);
}

/* Without arrays, many rows are many statements, and need a transaction. */
static bool run_rows(struct statement *st, int64_t *changes, struct error *err)
{
    struct store *store = &st->session->store;
    bool owns_transaction;

    if (!store_begin_if_idle(store, &owns_transaction, err)) {
        (void)reset(st);
        return false;
    }
    return store_end_if_owned(store, owns_transaction, run(st, changes, err), err);
}

bool statement_run(struct statement *st, int64_t *changes, struct error *err)
{
    int64_t ignored;

    if (changes == NULL)
        changes = &ignored;
    *changes = 0;
    return statement_is_single(st) ? run(st, changes, err) : run_rows(st, changes, err);
}

bool statement_changed(struct statement *st, bool *changed, struct error *err)
{
    int64_t changes;

    if (!statement_run(st, &changes, err))
        return false;
    *changed = changes == 1;
    return true;
}

bool statement_send(struct statement *st, const struct statement_send *send, struct error *err)
{
    const struct sql_driver *driver = st->session->driver;
    int64_t ignored;

    if (is_ready(st))
        st->failed = !driver->send(st, send, &st->session->failure);
    return finish(st, &ignored, err);
}

bool statements_settle(struct store *store, bool *as_expected, struct error *err)
{
    struct sql_session *session = sql_session_of(store);

    return session->driver->settle(session, as_expected, err);
}

bool statement_begin_ahead(struct statement *st, struct error *err)
{
    const struct sql_driver *driver = st->session->driver;
    int64_t ignored;

    if (driver->begin_ahead != NULL && is_ready(st))
        st->failed = !driver->begin_ahead(st, &st->session->failure);
    return finish(st, &ignored, err);
}

void statement_drop_ahead(struct statement *st)
{
    if (st->session->driver->drop_ahead != NULL)
        st->session->driver->drop_ahead(st);
}

/* ---- rows ---- */

static const struct sql_driver *driver_of(const struct rows *rows)
{
    return ((const struct statement *)rows)->session->driver;
}

static int row_width(const struct rows *rows)
{
    return driver_of(rows)->width((const struct statement *)rows);
}

static const char *row_name(const struct rows *rows, int column)
{
    return driver_of(rows)->name((const struct statement *)rows, column);
}

static bool row_is_null(const struct rows *rows, int column)
{
    return driver_of(rows)->is_null((const struct statement *)rows, column);
}

static int64_t row_i64(const struct rows *rows, int column)
{
    return driver_of(rows)->i64((const struct statement *)rows, column);
}

static double row_real(const struct rows *rows, int column)
{
    return driver_of(rows)->real((const struct statement *)rows, column);
}

static struct str row_view(struct rows *rows, int column)
{
    return driver_of(rows)->view((struct statement *)rows, column);
}

static const struct rows_ops ROWS = {
    .next = next_row,
    .finish = finish_rows,
    .width = row_width,
    .name = row_name,
    .is_null = row_is_null,
    .i64 = row_i64,
    .real = row_real,
    .view = row_view,
};
