#include "adapter/sqlite/statement.h"

#include <assert.h>

#include "adapter/sqlite/sqlite.h"

static const struct rows_ops ROWS;

static struct statement *slot_of(struct sqlite_store *owner, const char *sql)
{
    size_t i = (size_t)(((uintptr_t)sql >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 40);

    for (;; i++) {
        struct statement *st = &owner->statements[i % SQLITE_STATEMENTS_MAX];

        if (st->sql == NULL || st->sql == sql)
            return st;
    }
}

struct statement *statement_of(struct sqlite_store *owner, const char *sql)
{
    struct statement *st = slot_of(owner, sql);

    if (st->sql == NULL) {
        assert(owner->statement_count < SQLITE_STATEMENTS_MAX / 2);
        owner->statement_count++;
        *st = (struct statement){ .rows = { .ops = &ROWS }, .owner = owner, .sql = sql };
    }
    if (st->stmt == NULL)
        st->code =
            sqlite3_prepare_v3(owner->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st->stmt, NULL);
    return st;
}

static void remember(struct statement *st, int code)
{
    if (st->code == SQLITE_OK)
        st->code = code;
}

static int place_of(const struct statement *st, const char *name)
{
    const int place = sqlite3_bind_parameter_index(st->stmt, name);

    assert(st->stmt == NULL || place > 0);
    return place;
}

static void put_text(struct statement *st, int place, struct str value)
{
    if (!store_text_ok(value) && st->bad_text == NULL && st->stmt != NULL) {
        st->bad_text = sqlite3_bind_parameter_name(st->stmt, place);
        if (st->bad_text == NULL)
            st->bad_text = ":a value";
    }
    remember(st, sqlite3_bind_text64(st->stmt, place, value.data != NULL ? value.data : "",
                                     value.len, SQLITE_STATIC, SQLITE_UTF8));
}

void bind_i64(struct statement *st, const char *name, int64_t value)
{
    remember(st, sqlite3_bind_int64(st->stmt, place_of(st, name), value));
}

void bind_bool(struct statement *st, const char *name, bool value)
{
    bind_i64(st, name, value);
}

void bind_real(struct statement *st, const char *name, double value)
{
    remember(st, sqlite3_bind_double(st->stmt, place_of(st, name), value));
}

void bind_text(struct statement *st, const char *name, struct str value)
{
    put_text(st, place_of(st, name), value);
}

void bind_bytes(struct statement *st, const char *name, struct str value)
{
    remember(st,
             sqlite3_bind_blob64(st->stmt, place_of(st, name), value.data != NULL ? value.data : "",
                                 value.len, SQLITE_STATIC));
}

void bind_code(struct statement *st, const char *name, const struct code_table *table, int value)
{
    bind_text(st, name, code_of(table, value));
}

void bind_id(struct statement *st, const char *name, int64_t id)
{
    if (id != 0)
        bind_i64(st, name, id);
}

void bind_window(struct statement *st, const char *from, const char *to, struct window window)
{
    if (!window_is_valid(window))
        return;
    bind_i64(st, from, window.from_us);
    bind_i64(st, to, window.to_us);
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

void many_i64(struct many *many, int64_t value)
{
    remember(many->st, sqlite3_bind_int64(many->st->stmt, ++many->place, value));
}

void many_text(struct many *many, struct str value)
{
    put_text(many->st, ++many->place, value);
}

void many_code(struct many *many, const struct code_table *table, int value)
{
    many_text(many, code_of(table, value));
}

void many_id(struct many *many, int64_t id)
{
    if (id != 0)
        many_i64(many, id);
    else
        many->place++; /* what is not bound is NULL */
}

void many_window(struct many *many, struct window window)
{
    if (!window_is_valid(window)) {
        many->place += 2;
        return;
    }
    many_i64(many, window.from_us);
    many_i64(many, window.to_us);
}

void many_id_range(struct many *many, struct id_range range)
{
    if (!id_range_is_valid(range)) {
        many->place += 2;
        return;
    }
    many_i64(many, range.from);
    many_i64(many, range.to);
}

static bool next_row(struct rows *rows)
{
    struct statement *st = (struct statement *)rows;
    int code;

    if (st->code != SQLITE_OK || st->bad_text != NULL)
        return false;
    code = sqlite3_step(st->stmt);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        remember(st, code);
    return code == SQLITE_ROW;
}

static bool finish_rows(struct rows *rows, struct error *err)
{
    struct statement *st = (struct statement *)rows;
    const struct statement end = *st;
    bool ok;

    if (end.bad_text != NULL)
        ok = error_set(err, ERROR_DATA, "store.text", "%s is not text (UTF-8 without NUL)",
                       end.bad_text + 1);
    else if (end.code != SQLITE_OK)
        ok = sqlite_error_set(end.owner, end.code, err);
    else
        ok = rows_ok(&end.rows, err);
    if (st->stmt != NULL) {
        (void)sqlite3_reset(st->stmt); /* tells the failure of the last step once more */
        (void)sqlite3_clear_bindings(st->stmt);
    }
    st->rows = (struct rows){ .ops = &ROWS };
    st->code = SQLITE_OK;
    st->bad_text = NULL;
    return ok;
}

bool statement_run(struct statement *st, struct error *err)
{
    while (next_row(&st->rows))
        ;
    return finish_rows(&st->rows, err);
}

int64_t statement_changes(const struct statement *st)
{
    return sqlite3_changes64(st->owner->db);
}

int64_t statement_last_id(const struct statement *st)
{
    return sqlite3_last_insert_rowid(st->owner->db);
}

static sqlite3_stmt *stmt_of(const struct rows *rows)
{
    return ((const struct statement *)rows)->stmt;
}

static int row_width(const struct rows *rows)
{
    return sqlite3_column_count(stmt_of(rows));
}

static const char *row_name(const struct rows *rows, int column)
{
    return sqlite3_column_name(stmt_of(rows), column);
}

static bool row_is_null(const struct rows *rows, int column)
{
    return sqlite3_column_type(stmt_of(rows), column) == SQLITE_NULL;
}

static int64_t row_i64(const struct rows *rows, int column)
{
    return sqlite3_column_int64(stmt_of(rows), column);
}

static double row_real(const struct rows *rows, int column)
{
    return sqlite3_column_double(stmt_of(rows), column);
}

static struct str row_view(struct rows *rows, int column)
{
    const char *data = sqlite3_column_blob(stmt_of(rows), column); /* before its length is asked */

    return (struct str){ data, (size_t)sqlite3_column_bytes(stmt_of(rows), column) };
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
