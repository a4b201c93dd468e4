/* A foreign outbox in PostgreSQL: statements that are put together once, of the names that its
 * columns have. */
#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/postgres/postgres.h"
#include "adapter/postgres/values.h"
#include "base/buf.h"
#include "core/limits.h"

enum { TEXTS_MAX = 64 << 10, NAME_QUOTED_MAX = 2 * 63 + 3, EXTRA_ROWS = 16, WAIT_MINUTES_MAX = 60 };

enum column {
    COLUMN_ID,
    COLUMN_TYPE,
    COLUMN_KEY,
    COLUMN_EVENT,
    COLUMN_VERSION,
    COLUMN_SCHEMA,
    COLUMN_PAYLOAD,
    COLUMN_OCCURRED,
    COLUMN_PUBLISHED,
    COLUMN_ATTEMPTS,
    COLUMN_RETRY,
    COLUMN_ERROR,
    COLUMN_COUNT
};

/* The word of each in the statements below. */
static const char *const WORDS[COLUMN_COUNT] = { "id",        "type",     "key",     "event",
                                                 "version",   "schema",   "payload", "occurred",
                                                 "published", "attempts", "retry",   "error" };

struct postgres_foreign {
    struct foreign_outbox port; /* first */
    struct postgres_session *session;
    int64_t checked; /* the number of the connection that the table was looked at by */
    struct arena texts;
    struct arena made;              /* texts of the table as it was found last */
    struct str table;               /* quoted */
    struct str raw[COLUMN_COUNT];   /* as in the catalog; empty: none */
    struct str names[COLUMN_COUNT]; /* quoted */
    bool has[COLUMN_COUNT];
    struct str id_type;
    struct str payload; /* as bytes or text */
    struct str schema;
    struct str set_error;
    const char *page_sql;
    const char *mark_sql;
    const char *refuse_sql;
    const char *hold_sql;
    const char *retry_sql;
};

static struct postgres_foreign *foreign_of(struct foreign_outbox *foreign)
{
    return (struct postgres_foreign *)foreign;
}

/* ---- failures ---- */

static bool foreign_failed(struct error *err)
{
    static const struct {
        const char *store, *foreign;
    } codes[] = {
        { "store.lost", "foreign.lost" },      { "store.busy", "foreign.busy" },
        { "store.conflict", "foreign.busy" },  { "store.full", "foreign.full" },
        { "store.auth", "foreign.auth" },      { "store.commit_unknown", "foreign.lost" },
        { "store.missing", "foreign.schema" }, { "store.schema", "foreign.schema" },
    };

    if (!store_error_is_own(err))
        return false;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (strcmp(err->code, codes[i].store) == 0) {
            err->code = codes[i].foreign;
            return false;
        }
    }
    err->code = "foreign.statement";
    return false;
}

/* A session that is the store's keeps the store's codes: the store's owner reconnects it. */
static bool failed(struct postgres_foreign *f, const PGresult *result, struct error *err)
{
    (void)postgres_error_set(f->session, result, err);
    if (!f->port.shares_session || strcmp(err->code, "store.lost") != 0)
        (void)foreign_failed(err);
    return false;
}

/* ---- statements ---- */

/* The column's name, or one of the other words. */
static struct str meaning(const struct postgres_foreign *f, struct str word)
{
    const struct {
        struct str word, text;
    } others[] = { { STR_INIT("table"), f->table },
                   { STR_INIT("id-type"), f->id_type },
                   { STR_INIT("payload-value"), f->payload },
                   { STR_INIT("schema-value"), f->schema },
                   { STR_INIT("set-error"), f->set_error } };

    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (str_eq(word, str_of(WORDS[i])))
            return f->names[i];
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (str_eq(word, others[i].word))
            return others[i].text;
    }
    assert(false);
    return (struct str){ 0 };
}

/* Each {word} is replaced. */
static const char *expand(struct postgres_foreign *f, const char *template)
{
    struct buf out;

    buf_init(&out, &f->made, TEXTS_MAX);
    while (*template != '\0') {
        const char *open = strchr(template, '{');
        const char *close = open != NULL ? strchr(open, '}') : NULL;
        struct str word;

        if (close == NULL)
            break;
        buf_add(&out, (struct str){ template, (size_t)(open - template) });
        word = (struct str){ open + 1, (size_t)(close - open) - 1 };
        buf_add(&out, meaning(f, word));
        template = close + 1;
    }
    buf_add(&out, str_of(template));
    buf_add_char(&out, '\0');
    return out.failed ? NULL : buf_str(&out).data;
}

/* The names of columns are quoted, so that any name is only a name. */
static struct str quoted(struct arena *arena, struct str name)
{
    struct buf out;

    buf_init(&out, arena, NAME_QUOTED_MAX);
    buf_add_char(&out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == '"')
            buf_add_char(&out, '"');
        buf_add_char(&out, name.data[i]);
    }
    buf_add_char(&out, '"');
    return buf_str(&out);
}

/* The oldest rows that are due decide which aggregates are looked at. Of each the lowest versions
 * follow, because an aggregate's order is that of its versions, whatever occurred_at says: that is
 * when a transaction began. One statement is one moment. */
static const char PAGE[] =
    "WITH page AS MATERIALIZED (SELECT {id} AS id, {type} AS type, {key} AS key, {version} AS v"
    "  FROM {table} WHERE {published} IS NULL AND ({retry} IS NULL OR {retry} <= "
    "clock_timestamp())"
    "  ORDER BY {occurred} LIMIT $1),"
    " keys AS MATERIALIZED (SELECT type, key, max(v) AS top, count(*) AS many FROM page"
    "  GROUP BY type, key),"
    " lowest AS (SELECT r.{id} AS id, k.many, row_number() OVER"
    "  (PARTITION BY r.{type}, r.{key} ORDER BY r.{version}) AS n FROM keys AS k"
    "  JOIN {table} AS r ON r.{type} = k.type AND r.{key} = k.key AND r.{version} <= k.top"
    "  WHERE r.{published} IS NULL),"
    " wanted AS (SELECT id FROM lowest WHERE n <= many + $2"
    "  UNION SELECT id FROM page WHERE type IS NULL OR key IS NULL OR v IS NULL)"
    " SELECT r.{id}::text, coalesce(r.{type}::text, ''), coalesce(r.{key}::text, ''),"
    "  coalesce(r.{event}::text, ''), r.{version}::bigint, {schema-value}, CASE WHEN "
    "isfinite(r.{occurred})"
    "  THEN (extract(epoch FROM r.{occurred}) * 1000000)::bigint END, "
    "octet_length({payload-value})::bigint,"
    "  CASE WHEN octet_length({payload-value}) <= $3 THEN {payload-value} END, "
    "r.{attempts}::bigint,"
    "  (r.{retry} IS NULL OR r.{retry} <= clock_timestamp())"
    " FROM wanted AS w JOIN {table} AS r ON r.{id} = w.id";

static const char MARK[] = "UPDATE {table} SET {published} = clock_timestamp()"
                           " WHERE {id} = ANY ($1::text[]::{id-type}[]) AND {published} IS NULL";
static const char REFUSE[] =
    "UPDATE {table} SET {attempts} = coalesce({attempts}, 0) + 1, {retry} = clock_timestamp() +"
    " least(coalesce({attempts}, 0) + 1, $2::bigint) * interval '1 minute'{set-error}"
    " WHERE {id} = $1::text::{id-type} AND {published} IS NULL AND $3::text IS NOT NULL"
    " RETURNING {attempts}::bigint";
static const char HOLD[] = "UPDATE {table} SET {retry} = clock_timestamp() + $2::bigint *"
                           " interval '1 microsecond'"
                           " WHERE {id} = ANY ($1::text[]::{id-type}[]) AND {published} IS NULL";

static const char RETRY[] = "UPDATE {table} SET {retry} = NULL WHERE {published} IS NULL"
                            " AND ({type}::text = $1::text OR ($1::text = '' AND {type} IS NULL))"
                            " AND ({key}::text = $2::text OR ($2::text = '' AND {key} IS NULL))";

/* ---- what the table is ---- */

static const char COLUMNS_SQL[] =
    "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod),"
    " has_column_privilege(c.oid, a.attnum, 'SELECT'),"
    " has_column_privilege(c.oid, a.attnum, 'UPDATE')"
    " FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid"
    " WHERE c.oid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped";

struct seen_column {
    const char *type; /* NULL: it is not there */
    bool may_select, may_update;
};

static const struct str *column_name(const struct import_columns *columns, int i)
{
    return &(&columns->id)[i];
}

static_assert(sizeof(struct import_columns) == COLUMN_COUNT * sizeof(struct str),
              "a name for each column, in their order");

static bool is_needed(int column)
{
    return column != COLUMN_SCHEMA && column != COLUMN_ERROR;
}

static bool judge_column(struct postgres_foreign *f, int i, struct str name,
                         const struct seen_column *seen, struct error *err)
{
    f->has[i] = seen->type != NULL;
    if (!f->has[i])
        return i == COLUMN_SCHEMA ||
               error_set(err, ERROR_FATAL, "foreign.schema", "the table %.*s has no column %.*s",
                         STR_ARG(f->table), STR_ARG(name));
    if (!seen->may_select)
        return error_set(err, ERROR_FATAL, "foreign.schema",
                         "the user may not SELECT %.*s of the table %.*s", STR_ARG(name),
                         STR_ARG(f->table));
    if (i >= COLUMN_PUBLISHED && !seen->may_update)
        return error_set(err, ERROR_FATAL, "foreign.schema",
                         "the user may not UPDATE %.*s of the table %.*s", STR_ARG(name),
                         STR_ARG(f->table));
    return true;
}

static void find_column(const PGresult *result, struct str name, struct seen_column *seen)
{
    *seen = (struct seen_column){ 0 };
    for (int row = 0; row < PQntuples(result); row++) {
        if (!str_eq(str_of(PQgetvalue(result, row, 0)), name))
            continue;
        seen->type = PQgetvalue(result, row, 1);
        seen->may_select = PQgetvalue(result, row, 2)[0] == 't';
        seen->may_update = PQgetvalue(result, row, 3)[0] == 't';
    }
}

static bool make_statements(struct postgres_foreign *f, const char *id_type,
                            const char *payload_type, struct error *err)
{
    const struct str payload = f->names[COLUMN_PAYLOAD];
    const struct str schema = f->names[COLUMN_SCHEMA];
    const struct str error = f->names[COLUMN_ERROR];

    arena_reset(&f->made);
    f->id_type = arena_copy(&f->made, str_of(id_type));
    f->payload = strcmp(payload_type, "bytea") == 0
                     ? arena_printf(&f->made, "r.%.*s", STR_ARG(payload))
                     : arena_printf(&f->made, "r.%.*s::text", STR_ARG(payload));
    f->schema = f->has[COLUMN_SCHEMA] ? arena_printf(&f->made, "r.%.*s::bigint", STR_ARG(schema))
                                      : STR("1::bigint");
    f->set_error = f->has[COLUMN_ERROR]
                       ? arena_printf(&f->made, ", %.*s = $3::text", STR_ARG(error))
                       : STR("");
    f->page_sql = expand(f, PAGE);
    f->mark_sql = expand(f, MARK);
    f->hold_sql = expand(f, HOLD);
    f->refuse_sql = expand(f, REFUSE);
    f->retry_sql = expand(f, RETRY);
    return (f->page_sql != NULL && f->mark_sql != NULL && f->hold_sql != NULL &&
            f->retry_sql != NULL && f->refuse_sql != NULL) ||
           arena_error(&f->made, err);
}

static bool judge_table(struct postgres_foreign *f, const PGresult *result, struct error *err)
{
    struct seen_column seen[COLUMN_COUNT];

    if (PQntuples(result) == 0)
        return error_set(err, ERROR_FATAL, "foreign.schema", "there is no table %.*s",
                         STR_ARG(f->table));
    for (int i = 0; i < COLUMN_COUNT; i++) {
        f->has[i] = false;
        if (f->raw[i].len == 0)
            continue;
        find_column(result, f->raw[i], &seen[i]);
        if (!judge_column(f, i, f->raw[i], &seen[i], err))
            return false;
    }
    return make_statements(f, seen[COLUMN_ID].type, seen[COLUMN_PAYLOAD].type, err);
}

/* Connects again where that is this handle's part, and looks at the table once per connection. */
static bool ready(struct postgres_foreign *f, struct error *err)
{
    const char *const values[] = { f->table.data };
    PGresult *result;
    bool ok;

    if (!f->port.shares_session && PQstatus(f->session->connection) != CONNECTION_OK &&
        !postgres_connect(f->session, err))
        return foreign_failed(err);
    if (f->checked == f->session->connection_number)
        return true;
    result = postgres_collect(f->session, PQsendQueryParams(f->session->connection, COLUMNS_SQL, 1,
                                                            NULL, values, NULL, NULL, 0));
    ok = PQresultStatus(result) == PGRES_TUPLES_OK ? judge_table(f, result, err)
                                                   : failed(f, result, err);
    PQclear(result);
    if (ok)
        f->checked = f->session->connection_number;
    return ok;
}

static bool foreign_check_table(struct foreign_outbox *foreign, struct error *err)
{
    struct postgres_foreign *f = foreign_of(foreign);

    f->checked = 0;
    return ready(f, err);
}

/* ---- rows ---- */

static int64_t number_of(const PGresult *result, int row, int column)
{
    uint64_t bits;

    assert(PQgetlength(result, row, column) == (int)sizeof(bits));
    memcpy(&bits, PQgetvalue(result, row, column), sizeof(bits));
    return (int64_t)be64toh(bits);
}

static struct str text_of(struct arena *arena, const PGresult *result, int row, int column)
{
    return arena_copy(arena, (struct str){ PQgetvalue(result, row, column),
                                           (size_t)PQgetlength(result, row, column) });
}

enum {
    GOT_ID,
    GOT_TYPE,
    GOT_KEY,
    GOT_EVENT,
    GOT_VERSION,
    GOT_SCHEMA,
    GOT_OCCURRED,
    GOT_BYTES,
    GOT_PAYLOAD,
    GOT_ATTEMPTS,
    GOT_DUE
};

static void read_row(struct foreign_row *row, struct arena *arena, const PGresult *result, int i)
{
    *row = (struct foreign_row){ .id = text_of(arena, result, i, GOT_ID),
                                 .aggregate_type = text_of(arena, result, i, GOT_TYPE),
                                 .aggregate_id = text_of(arena, result, i, GOT_KEY),
                                 .event_type = text_of(arena, result, i, GOT_EVENT),
                                 .has_version = PQgetisnull(result, i, GOT_VERSION) == 0,
                                 .has_occurred = PQgetisnull(result, i, GOT_OCCURRED) == 0,
                                 .has_payload = PQgetisnull(result, i, GOT_BYTES) == 0,
                                 .is_due = PQgetvalue(result, i, GOT_DUE)[0] != 0 };
    if (row->has_version)
        row->version = number_of(result, i, GOT_VERSION);
    if (PQgetisnull(result, i, GOT_SCHEMA) == 0)
        row->schema_version = number_of(result, i, GOT_SCHEMA);
    if (row->has_occurred)
        row->occurred_us = number_of(result, i, GOT_OCCURRED);
    if (row->has_payload)
        row->payload_bytes = number_of(result, i, GOT_BYTES);
    if (PQgetisnull(result, i, GOT_PAYLOAD) == 0)
        row->payload = text_of(arena, result, i, GOT_PAYLOAD);
    if (PQgetisnull(result, i, GOT_ATTEMPTS) == 0)
        row->attempts = number_of(result, i, GOT_ATTEMPTS);
}

static bool read_rows(struct arena *arena, const PGresult *result, struct foreign_row_list *list,
                      struct error *err)
{
    const int count = PQntuples(result);

    list->items = ARENA_ARRAY(arena, struct foreign_row, count > 0 ? (size_t)count : 1);
    if (list->items == NULL)
        return arena_error(arena, err);
    for (int i = 0; i < count; i++)
        read_row(&list->items[list->count++], arena, result, i);
    return !arena->failed || arena_error(arena, err);
}

static bool foreign_page_read(struct foreign_outbox *foreign, struct arena *arena, int64_t limit,
                              struct foreign_row_list *list, struct error *err)
{
    struct postgres_foreign *f = foreign_of(foreign);
    static const Oid types[] = { OID_INT8, OID_INT8, OID_INT8 };
    const uint64_t numbers[] = { htobe64((uint64_t)limit), htobe64(EXTRA_ROWS),
                                 htobe64((uint64_t)EVENT_BYTES_MAX) };
    const char *const values[] = { (const char *)&numbers[0], (const char *)&numbers[1],
                                   (const char *)&numbers[2] };
    static const int lengths[] = { 8, 8, 8 };
    static const int formats[] = { 1, 1, 1 };
    PGresult *result;
    bool ok;

    *list = (struct foreign_row_list){ 0 };
    if (!ready(f, err))
        return false;
    result = postgres_collect(f->session, PQsendQueryParams(f->session->connection, f->page_sql, 3,
                                                            types, values, lengths, formats, 1));
    ok = PQresultStatus(result) == PGRES_TUPLES_OK ? read_rows(arena, result, list, err)
                                                   : failed(f, result, err);
    PQclear(result);
    return ok || error_wrap(err, "read %.*s", STR_ARG(f->table));
}

static const char WRITERS[] =
    "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation'"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND relation = to_regclass($1) AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid()"
    " UNION SELECT 'standby' WHERE pg_is_in_recovery()";

static bool foreign_writers_list(struct foreign_outbox *foreign, struct arena *arena,
                                 struct stream_writers *writers, struct error *err)
{
    struct postgres_foreign *f = foreign_of(foreign);
    const char *const values[] = { f->table.data };
    PGresult *result;
    bool ok;

    *writers = (struct stream_writers){ 0 };
    if (!ready(f, err))
        return false;
    result = postgres_collect(f->session, PQsendQueryParams(f->session->connection, WRITERS, 1,
                                                            NULL, values, NULL, NULL, 0));
    ok = PQresultStatus(result) == PGRES_TUPLES_OK || failed(f, result, err);
    for (int i = 0; ok && i < PQntuples(result); i++) {
        struct str *writer = LIST_ADD(arena, writers);

        ok = writer != NULL || arena_error(arena, err);
        if (ok)
            *writer = text_of(arena, result, i, 0);
    }
    PQclear(result);
    return ok || error_wrap(err, "list the writers of %.*s", STR_ARG(f->table));
}

/* ---- writing ---- */

/* {"a","b"}: an array of texts as the server reads it. */
static bool array_of(struct arena *arena, struct foreign_ids ids, const char **text,
                     struct error *err)
{
    struct buf out;

    buf_init(&out, arena, (size_t)64 << 20);
    buf_add_char(&out, '{');
    for (size_t i = 0; i < ids.count; i++) {
        buf_add(&out, i > 0 ? STR(",\"") : STR("\""));
        for (size_t k = 0; k < ids.items[i].len; k++) {
            if (ids.items[i].data[k] == '"' || ids.items[i].data[k] == '\\')
                buf_add_char(&out, '\\');
            buf_add_char(&out, ids.items[i].data[k]);
        }
        buf_add_char(&out, '"');
    }
    buf_add(&out, (struct str){ "}\0", 2 });
    *text = buf_str(&out).data;
    return buf_ok(&out, err);
}

static bool run(struct postgres_foreign *f, const char *sql, int count, const char *const *values,
                PGresult **result, struct error *err)
{
    ExecStatusType status;

    *result = postgres_collect(f->session, PQsendQueryParams(f->session->connection, sql, count,
                                                             NULL, values, NULL, NULL, 0));
    status = PQresultStatus(*result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || failed(f, *result, err);
}

static bool update_many(struct postgres_foreign *f, const char *sql, struct foreign_ids ids,
                        const char *second, struct error *err)
{
    PGresult *result = NULL;
    const char *values[2] = { NULL, second };
    bool ok;

    ok = array_of(&f->session->scratch, ids, &values[0], err) &&
         run(f, sql, second != NULL ? 2 : 1, values, &result, err);
    PQclear(result);
    arena_reset(&f->session->scratch);
    return ok || error_wrap(err, "update %zu rows of %.*s", ids.count, STR_ARG(f->table));
}

static bool foreign_mark_rows(struct foreign_outbox *foreign, struct foreign_ids ids,
                              struct error *err)
{
    struct postgres_foreign *f = foreign_of(foreign);

    return ready(f, err) && update_many(f, f->mark_sql, ids, NULL, err);
}

static bool foreign_hold_rows(struct foreign_outbox *foreign, struct foreign_ids ids,
                              int64_t for_us, struct error *err)
{
    struct postgres_foreign *f = foreign_of(foreign);
    char number[24];

    (void)snprintf(number, sizeof(number), "%" PRId64, for_us);
    return ready(f, err) && update_many(f, f->hold_sql, ids, number, err);
}

static bool foreign_refuse_row(struct foreign_outbox *foreign, struct str id, struct str reason,
                               int64_t *retry_in_us, struct error *err)
{
    struct postgres_foreign *f = foreign_of(foreign);
    struct arena *scratch = &f->session->scratch;
    char minutes[8];
    const char *values[3] = { arena_copy(scratch, id).data, minutes,
                              arena_copy(scratch, reason).data };
    PGresult *result = NULL;
    int64_t attempts = 1;
    bool ok;

    (void)snprintf(minutes, sizeof(minutes), "%d", WAIT_MINUTES_MAX);
    ok = ready(f, err) && run(f, f->refuse_sql, 3, values, &result, err);
    if (ok && PQntuples(result) > 0)
        (void)str_to_i64(str_of(PQgetvalue(result, 0, 0)), &attempts);
    PQclear(result);
    arena_reset(scratch);
    *retry_in_us = (attempts < WAIT_MINUTES_MAX ? attempts : WAIT_MINUTES_MAX) * US_PER_MINUTE;
    return ok || error_wrap(err, "refuse a row of %.*s", STR_ARG(f->table));
}

static bool foreign_retry_rows(struct foreign_outbox *foreign, struct str aggregate_type,
                               struct str aggregate_id, int64_t *rows, struct error *err)
{
    struct postgres_foreign *f = foreign_of(foreign);
    struct arena *scratch = &f->session->scratch;
    const char *const values[2] = { arena_copy(scratch, aggregate_type).data,
                                    arena_copy(scratch, aggregate_id).data };
    PGresult *result = NULL;
    bool ok;

    *rows = 0;
    ok = (!scratch->failed || arena_error(scratch, err)) && ready(f, err) &&
         run(f, f->retry_sql, 2, values, &result, err);
    if (ok)
        (void)str_to_i64(str_of(PQcmdTuples(result)), rows);
    PQclear(result);
    arena_reset(scratch);
    return ok || error_wrap(err, "let rows of %.*s be tried again", STR_ARG(f->table));
}

/* ---- opening and closing ---- */

static void foreign_close_all(struct foreign_outbox *foreign)
{
    struct postgres_foreign *f = foreign_of(foreign);

    if (!f->port.shares_session && f->session != NULL)
        store_close(&f->session->sql.store);
    arena_release(&f->texts);
    arena_release(&f->made);
    free(f);
}

static const struct foreign_ops FOREIGN = {
    .close = foreign_close_all,
    .check = foreign_check_table,
    .page = foreign_page_read,
    .writers = foreign_writers_list,
    .mark = foreign_mark_rows,
    .refuse = foreign_refuse_row,
    .hold = foreign_hold_rows,
    .retry = foreign_retry_rows,
};

static bool name_all(struct postgres_foreign *f, const struct import_spec *spec, struct error *err)
{
    const size_t dot = str_find_char(spec->table, '.');
    struct str table = spec->table;

    if (dot < table.len) {
        const struct str schema = quoted(&f->texts, str_slice(table, 0, dot));

        table = quoted(&f->texts, str_slice(table, dot + 1, table.len));
        f->table = arena_printf(&f->texts, "%.*s.%.*s", STR_ARG(schema), STR_ARG(table));
    } else {
        table = quoted(&f->texts, table);
        f->table = arena_printf(&f->texts, "%.*s", STR_ARG(table));
    }
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct str name = *column_name(&spec->columns, i);

        assert(name.len > 0 || !is_needed(i));
        f->raw[i] = arena_copy(&f->texts, name);
        if (name.len > 0)
            f->names[i] = quoted(&f->texts, name);
    }
    return !f->texts.failed || arena_error(&f->texts, err);
}

bool postgres_foreign_open(const struct postgres_foreign_options *options,
                           struct foreign_outbox **foreign, struct error *err)
{
    struct postgres_foreign *f = calloc(1, sizeof(*f));
    struct store *store;

    *foreign = NULL;
    if (f == NULL)
        return error_set(err, ERROR_TRANSIENT, "foreign.full", "no memory for a foreign outbox");
    f->port.ops = &FOREIGN;
    f->port.shares_session = options->store != NULL;
    arena_init(&f->texts, TEXTS_MAX);
    arena_init(&f->made, (size_t)16 * TEXTS_MAX);
    if (options->store != NULL) {
        f->session = postgres_session_of(sql_session_of(options->store));
    } else {
        if (!postgres_store_open(&options->database, &store, err)) {
            foreign_close_all(&f->port);
            return foreign_failed(err);
        }
        f->session = postgres_session_of(sql_session_of(store));
    }
    if (name_all(f, options->spec, err)) {
        *foreign = &f->port;
        return true;
    }
    foreign_close_all(&f->port);
    return false;
}
