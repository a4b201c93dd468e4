/* Records of a patra store in PostgreSQL: one snapshot, read by a cursor, hashed by the server. */
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "sim/verify/verify.h"

static const char BEGIN[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

static const char ENDPOINTS[] =
    "SELECT endpoint_name FROM ing_record_endpoint WHERE provenance_code = $1 LIMIT 2";

/* Bytewise order, and times as numbers: nothing depends on the database's locale or zone. */
static const char DECLARE[] =
    "DECLARE rows NO SCROLL CURSOR FOR SELECT provider_id,"
    " (extract(epoch FROM updated_at) * 1000000)::bigint, deleted, encode(sha256("
    "   CASE WHEN substring(payload FROM 1 FOR octet_length('" VERIFY_ELEMENT VERIFY_ADDED "'))"
    "     = convert_to('" VERIFY_ELEMENT VERIFY_ADDED "', 'UTF8')"
    "   THEN convert_to('" VERIFY_ELEMENT "', 'UTF8')"
    "     || substring(payload FROM octet_length('" VERIFY_ELEMENT VERIFY_ADDED "') + 1)"
    "   ELSE payload END), 'hex')"
    " FROM ing_record_state JOIN ing_record_content ON record_id = id"
    " WHERE endpoint_id = (SELECT e.id FROM ing_record_endpoint AS e"
    "   WHERE e.provenance_code = $1 AND e.endpoint_name = $2)"
    " ORDER BY provider_id COLLATE \"C\"";
enum { COL_ID, COL_UPDATED_US, COL_DELETED, COL_SHA256 };

static const char FETCH[] = "FETCH 1000 FROM rows";

struct postgres_reader {
    struct store_reader port;
    PGconn *db;
    PGresult *page;
    int row;
};

static struct postgres_reader *postgres_reader_of(struct store_reader *reader)
{
    return (struct postgres_reader *)(void *)reader;
}

static bool fail(PGconn *db, const char *doing, struct error *err)
{
    return error_set(err, ERROR_FATAL, "verify.postgres", "%s: %s", doing, PQerrorMessage(db));
}

static int hex_digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static bool next(struct store_reader *port, struct store_row *row, bool *end, struct error *err)
{
    struct postgres_reader *reader = postgres_reader_of(port);
    const char *hex;

    if (reader->page == NULL || reader->row == PQntuples(reader->page)) {
        PQclear(reader->page);
        reader->page = PQexec(reader->db, FETCH);
        reader->row = 0;
        if (PQresultStatus(reader->page) != PGRES_TUPLES_OK)
            return fail(reader->db, "read records", err);
    }
    *end = PQntuples(reader->page) == 0;
    if (*end)
        return true;
    row->id = str_of(PQgetvalue(reader->page, reader->row, COL_ID));
    row->has_date = PQgetisnull(reader->page, reader->row, COL_UPDATED_US) == 0;
    row->updated_us = 0;
    if (row->has_date && !str_to_i64(str_of(PQgetvalue(reader->page, reader->row, COL_UPDATED_US)),
                                     &row->updated_us))
        return error_set(err, ERROR_FATAL, "verify.postgres", "updated_at is not a number");
    row->deleted = PQgetvalue(reader->page, reader->row, COL_DELETED)[0] == 't';
    hex = PQgetvalue(reader->page, reader->row, COL_SHA256);
    if (strlen(hex) != 2 * sizeof(row->digest))
        return error_set(err, ERROR_FATAL, "verify.postgres", "sha256() returned %zu digits",
                         strlen(hex));
    for (size_t i = 0; i < sizeof(row->digest); i++)
        row->digest[i] = (uint8_t)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
    reader->row++;
    return true;
}

static void close_reader(struct store_reader *port)
{
    struct postgres_reader *reader = postgres_reader_of(port);

    PQclear(reader->page);
    PQfinish(reader->db);
    free(reader);
}

struct parameters {
    const char *const *values;
    int count;
};

static bool run(PGconn *db, const char *sql, struct parameters parameters, PGresult **result,
                struct error *err)
{
    *result = PQexecParams(db, sql, parameters.count, NULL, parameters.values, NULL, NULL, 0);
    if (PQresultStatus(*result) == PGRES_COMMAND_OK || PQresultStatus(*result) == PGRES_TUPLES_OK)
        return true;
    PQclear(*result);
    return fail(db, sql, err);
}

static bool open_rows(struct postgres_reader *reader, const char *dsn, const char *source,
                      const char *endpoint, struct error *err)
{
    const char *values[2] = { source, endpoint };
    PGresult *result, *endpoints = NULL;
    bool ok;

    reader->db = PQconnectdb(dsn);
    if (PQstatus(reader->db) != CONNECTION_OK)
        return fail(reader->db, "connect", err);
    if (!run(reader->db, BEGIN, (struct parameters){ NULL, 0 }, &result, err))
        return false;
    PQclear(result);
    if (endpoint[0] == '\0') {
        if (!run(reader->db, ENDPOINTS, (struct parameters){ values, 1 }, &endpoints, err))
            return false;
        if (PQntuples(endpoints) > 1) {
            PQclear(endpoints);
            return error_set(err, ERROR_REQUEST, "verify.endpoint",
                             "source %s has several endpoints: choose one with --endpoint", source);
        }
        if (PQntuples(endpoints) == 1)
            values[1] = PQgetvalue(endpoints, 0, 0);
    }
    ok = run(reader->db, DECLARE, (struct parameters){ values, 2 }, &result, err);
    if (ok)
        PQclear(result);
    PQclear(endpoints);
    return ok;
}

struct store_reader *store_reader_postgres(struct str dsn, struct str source, struct str endpoint,
                                           struct error *err)
{
    struct postgres_reader *reader = calloc(1, sizeof(*reader));
    struct arena arena;
    bool ok;

    if (reader == NULL) {
        (void)error_set(err, ERROR_FATAL, "memory", "no memory");
        return NULL;
    }
    reader->port = (struct store_reader){ next, close_reader };
    arena_init(&arena, 1 << 16);
    dsn = arena_copy(&arena, dsn);
    source = arena_copy(&arena, source);
    endpoint = arena_copy(&arena, endpoint);
    ok = dsn.data != NULL && source.data != NULL && endpoint.data != NULL
             ? open_rows(reader, dsn.data, source.data, endpoint.data, err)
             : arena_error(&arena, err);
    arena_release(&arena);
    if (ok)
        return &reader->port;
    close_reader(&reader->port);
    return NULL;
}
