/* Statements of SQLite. A statement over many rows is prepared once and runs for each row; an
 * INSERT also runs for INSERT_ROWS rows at a time. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/sql/expand.h"
#include "adapter/sqlite/sqlite.h"
#include "core/cursor.h"
#include "data/hash.h"

struct use {
    sqlite3_stmt *one;     /* for one row, or for none */
    sqlite3_stmt *many;    /* for INSERT_ROWS rows */
    sqlite3_stmt *current; /* one of these two */
    size_t row;            /* the first row of the current run */
    int64_t changes;       /* made by the runs before it */
};

static struct sqlite_session *session_of(const struct statement *st)
{
    return sqlite_session_of(st->session);
}

static sqlite3_stmt *stmt_of(const struct statement *st)
{
    return ((const struct use *)st->own)->current;
}

static bool failed(const struct statement *st, int code, struct error *err)
{
    return sqlite_error_set(session_of(st), code, err);
}

static bool prepare(struct statement *st, int rows, sqlite3_stmt **stmt, struct error *err)
{
    struct arena arena;
    const char *text;
    int code = SQLITE_OK;

    if (*stmt != NULL)
        return true;
    arena_init(&arena, 1 << 20);
    text = expand_text(&arena, st->session->driver->dialect, st, rows, err);
    if (text != NULL)
        code =
            sqlite3_prepare_v3(session_of(st)->db, text, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    arena_release(&arena);
    if (text == NULL)
        return false;
    return code == SQLITE_OK || failed(st, code, err);
}

/* With leading zeros, texts sort like numbers. */
static int bind_digits(sqlite3_stmt *stmt, int place, struct str digits)
{
    char text[CURSOR_ID_DIGITS_MAX];

    assert(digits.len <= sizeof(text));
    memset(text, '0', sizeof(text));
    memcpy(text + sizeof(text) - digits.len, digits.data, digits.len);
    return sqlite3_bind_text(stmt, place, text, sizeof(text), SQLITE_TRANSIENT);
}

static int bind_hash(sqlite3_stmt *stmt, int place, struct str hex)
{
    struct hash_sum sum;

    if (hex.len == 0)
        return sqlite3_bind_zeroblob(stmt, place, 0);
    hash_of_hex(hex, &sum);
    return sqlite3_bind_blob(stmt, place, sum.bytes, sizeof(sum.bytes), SQLITE_TRANSIENT);
}

static int bind_one(sqlite3_stmt *stmt, int place, const struct sql_value *value)
{
    const char *data = value->text.data != NULL ? value->text.data : "";

    if (!value->is_set)
        return sqlite3_bind_null(stmt, place);
    switch (value->type) {
    case SQL_I64:
    case SQL_BOOL:
    case SQL_INSTANT:
        return sqlite3_bind_int64(stmt, place, value->i64);
    case SQL_REAL:
        return sqlite3_bind_double(stmt, place, value->real);
    case SQL_TEXT:
    case SQL_JSON:
    case SQL_UUID:
        return sqlite3_bind_text64(stmt, place, data, value->text.len, SQLITE_STATIC, SQLITE_UTF8);
    case SQL_BYTES:
        return sqlite3_bind_blob64(stmt, place, data, value->text.len, SQLITE_STATIC);
    case SQL_HASH:
        return bind_hash(stmt, place, value->text);
    case SQL_DIGITS:
        return bind_digits(stmt, place, value->text);
    }
    return SQLITE_MISUSE;
}

static int bind_values(const struct statement *st)
{
    int code = SQLITE_OK;

    for (int i = 0; i < st->values.count && code == SQLITE_OK; i++)
        code = bind_one(stmt_of(st), i + 1, &st->bound[i]);
    return code;
}

static int bind_cells(const struct statement *st, size_t from, size_t rows)
{
    int place = st->values.count;
    int code = SQLITE_OK;

    for (size_t row = from; row < from + rows; row++) {
        for (int i = 0; i < st->columns.count && code == SQLITE_OK; i++)
            code = bind_one(stmt_of(st), ++place, statement_cell(st, row, i));
        if (st->has_place && code == SQLITE_OK)
            code = sqlite3_bind_int64(stmt_of(st), ++place, (int64_t)row + 1);
    }
    return code;
}

static size_t run_rows(const struct statement *st)
{
    const struct use *use = st->own;

    return use->current == use->many ? INSERT_ROWS : 1;
}

/* Chooses the statement for the rows from use->row on, and binds them. Values stay bound between
 * runs of the same statement. */
static bool begin_run(struct statement *st, struct error *err)
{
    struct use *use = st->own;
    sqlite3_stmt *const before = use->current;
    const size_t left = statement_row_count(st) - use->row;
    const bool is_many = left >= INSERT_ROWS && expand_is_insert(st);
    sqlite3_stmt **stmt = is_many ? &use->many : &use->one;
    int code = SQLITE_OK;

    if (!prepare(st, is_many ? INSERT_ROWS : 1, stmt, err))
        return false;
    use->current = *stmt;
    if (use->current != before)
        code = bind_values(st);
    if (code == SQLITE_OK && st->columns.count > 0)
        code = bind_cells(st, use->row, run_rows(st));
    return code == SQLITE_OK || failed(st, code, err);
}

bool sqlite_start(struct statement *st, struct error *err)
{
    struct use *use = st->own;

    if (use == NULL && (st->own = use = calloc(1, sizeof(*use))) == NULL)
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a statement");
    use->row = 0;
    use->changes = 0;
    use->current = NULL;
    /* Within a transaction its begin and commit look. */
    if (sqlite3_get_autocommit(session_of(st)->db) != 0 && !sqlite_is_the_file(session_of(st), err))
        return false;
    return begin_run(st, err);
}

bool sqlite_step(struct statement *st, bool *has_row, struct error *err)
{
    struct use *use = st->own;

    for (;;) {
        const int code = sqlite3_step(use->current);

        *has_row = code == SQLITE_ROW;
        if (*has_row)
            return true;
        if (code != SQLITE_DONE)
            return failed(st, code, err);
        if (sqlite3_stmt_readonly(use->current) == 0)
            use->changes += sqlite3_changes64(session_of(st)->db);
        if (st->columns.count == 0)
            return true;
        use->row += run_rows(st);
        if (use->row >= statement_row_count(st))
            return true;
        (void)sqlite3_reset(use->current);
        if (!begin_run(st, err))
            return false;
    }
}

static void clear(sqlite3_stmt *stmt)
{
    if (stmt == NULL)
        return;
    (void)sqlite3_reset(stmt); /* returns the failure of the last step again */
    (void)sqlite3_clear_bindings(stmt);
}

int64_t sqlite_end(struct statement *st)
{
    struct use *use = st->own;

    if (use == NULL)
        return 0;
    clear(use->one);
    clear(use->many);
    use->current = NULL;
    return use->changes;
}

/* There is no server to wait for: it runs at once, unless the result of one before it was not as
 * expected. */
bool sqlite_send(struct statement *st, const struct statement_send *send, struct error *err)
{
    struct sqlite_session *session = session_of(st);
    bool has_row = false;
    bool ok;

    if (session->is_unexpected)
        return true;
    ok = sqlite_start(st, err) && sqlite_step(st, &has_row, err);
    assert(!has_row);
    if (!ok && send->unique_key != NULL && strcmp(session->broken_key, send->unique_key) == 0)
        ok = session->is_unexpected = true;
    if (sqlite_end(st) != send->expected)
        session->is_unexpected = true;
    return ok;
}

bool sqlite_settle(struct sql_session *session, bool *as_expected, struct error *err)
{
    struct sqlite_session *sqlite = sqlite_session_of(session);

    (void)err;
    *as_expected = !sqlite->is_unexpected;
    sqlite->is_unexpected = false;
    return true;
}

void sqlite_forget(struct statement *st)
{
    struct use *use = st->own;

    if (use == NULL)
        return;
    (void)sqlite3_finalize(use->one);
    (void)sqlite3_finalize(use->many);
    free(use);
}

int sqlite_width(const struct statement *st)
{
    return sqlite3_column_count(stmt_of(st));
}

const char *sqlite_name(const struct statement *st, int column)
{
    return sqlite3_column_name(stmt_of(st), column);
}

bool sqlite_is_null(const struct statement *st, int column)
{
    return sqlite3_column_type(stmt_of(st), column) == SQLITE_NULL;
}

int64_t sqlite_i64(const struct statement *st, int column)
{
    return sqlite3_column_int64(stmt_of(st), column);
}

double sqlite_real(const struct statement *st, int column)
{
    return sqlite3_column_double(stmt_of(st), column);
}

struct str sqlite_view(struct statement *st, int column)
{
    const char *data = sqlite3_column_blob(stmt_of(st), column); /* must precede the length */

    return (struct str){ data, (size_t)sqlite3_column_bytes(stmt_of(st), column) };
}
