/* Records of a patra store in SQLite. */
#include <openssl/evp.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "sim/verify/verify.h"

static const char ENDPOINTS[] =
    "SELECT endpoint_name FROM ing_record_endpoint WHERE provenance_code = :source LIMIT 2";

static const char ROWS[] = "SELECT provider_id, updated_at, deleted, payload"
                           " FROM ing_record_state JOIN ing_record_content ON record_id = id"
                           " WHERE endpoint_id = (SELECT e.id FROM ing_record_endpoint AS e"
                           "   WHERE e.provenance_code = :source AND e.endpoint_name = :endpoint)"
                           " ORDER BY provider_id";
enum { COL_ID, COL_UPDATED_AT, COL_DELETED, COL_PAYLOAD };

struct sqlite_reader {
    struct store_reader port;
    sqlite3 *db;
    sqlite3_stmt *rows;
};

static struct sqlite_reader *sqlite_reader_of(struct store_reader *reader)
{
    return (struct sqlite_reader *)(void *)reader;
}

static bool fail(sqlite3 *db, const char *doing, struct error *err)
{
    return error_set(err, ERROR_FATAL, "verify.sqlite", "%s: %s", doing, sqlite3_errmsg(db));
}

static bool digest_of(struct str payload, uint8_t digest[TRUTH_DIGEST_BYTES], struct error *err)
{
    const struct str added = STR(VERIFY_ELEMENT VERIFY_ADDED);
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool ok = hash != NULL && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1;

    if (str_starts(payload, added)) {
        ok = ok && EVP_DigestUpdate(hash, VERIFY_ELEMENT, sizeof(VERIFY_ELEMENT) - 1) == 1;
        payload = str_slice(payload, added.len, payload.len);
    }
    ok = ok && EVP_DigestUpdate(hash, payload.data, payload.len) == 1 &&
         EVP_DigestFinal_ex(hash, digest, NULL) == 1;
    EVP_MD_CTX_free(hash);
    return ok || error_set(err, ERROR_FATAL, "crypto", "SHA-256 failed");
}

static bool next(struct store_reader *reader, struct store_row *row, bool *end, struct error *err)
{
    sqlite3_stmt *rows = sqlite_reader_of(reader)->rows;
    const int result = sqlite3_step(rows);

    *end = result == SQLITE_DONE;
    if (*end)
        return true;
    if (result != SQLITE_ROW)
        return fail(sqlite_reader_of(reader)->db, "read a record", err);
    row->id = (struct str){ (const char *)sqlite3_column_text(rows, COL_ID),
                            (size_t)sqlite3_column_bytes(rows, COL_ID) };
    row->has_date = sqlite3_column_type(rows, COL_UPDATED_AT) != SQLITE_NULL;
    row->updated_us = sqlite3_column_int64(rows, COL_UPDATED_AT);
    row->deleted = sqlite3_column_int(rows, COL_DELETED) != 0;
    return digest_of((struct str){ sqlite3_column_blob(rows, COL_PAYLOAD),
                                   (size_t)sqlite3_column_bytes(rows, COL_PAYLOAD) },
                     row->digest, err);
}

static void close_reader(struct store_reader *reader)
{
    (void)sqlite3_finalize(sqlite_reader_of(reader)->rows);
    (void)sqlite3_close(sqlite_reader_of(reader)->db);
    free(reader);
}

static bool bind(sqlite3_stmt *statement, const char *name, struct str text)
{
    const int index = sqlite3_bind_parameter_index(statement, name);

    return sqlite3_bind_text(statement, index, text.data, (int)text.len, SQLITE_TRANSIENT) ==
           SQLITE_OK;
}

/* The source's only endpoint. With several, the ids would not be in order. */
static bool only_endpoint(sqlite3 *db, struct str source, char *name, size_t size,
                          struct error *err)
{
    sqlite3_stmt *statement = NULL;
    int count = 0;

    if (sqlite3_prepare_v2(db, ENDPOINTS, -1, &statement, NULL) != SQLITE_OK ||
        !bind(statement, ":source", source)) {
        (void)sqlite3_finalize(statement);
        return fail(db, "look for endpoints", err);
    }
    name[0] = '\0';
    while (sqlite3_step(statement) == SQLITE_ROW) {
        (void)sqlite3_snprintf((int)size, name, "%s", sqlite3_column_text(statement, 0));
        count++;
    }
    (void)sqlite3_finalize(statement);
    return count < 2 || error_set(err, ERROR_REQUEST, "verify.endpoint",
                                  "source %.*s has several endpoints: choose one with --endpoint",
                                  STR_ARG(source));
}

static bool open_rows(struct sqlite_reader *reader, struct str path, struct str source,
                      struct str endpoint, struct error *err)
{
    char name[512], file[4096];

    (void)sqlite3_snprintf((int)sizeof(file), file, "%.*s", (int)path.len, path.data);
    if (sqlite3_open_v2(file, &reader->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return fail(reader->db, file, err);
    (void)sqlite3_busy_timeout(reader->db, 10000);
    if (endpoint.len == 0) {
        if (!only_endpoint(reader->db, source, name, sizeof(name), err))
            return false;
        endpoint = str_of(name);
    }
    if (sqlite3_prepare_v2(reader->db, ROWS, -1, &reader->rows, NULL) != SQLITE_OK ||
        !bind(reader->rows, ":source", source) || !bind(reader->rows, ":endpoint", endpoint))
        return fail(reader->db, "select the records", err);
    return true;
}

struct store_reader *store_reader_sqlite(struct str path, struct str source, struct str endpoint,
                                         struct error *err)
{
    struct sqlite_reader *reader = calloc(1, sizeof(*reader));

    if (reader == NULL) {
        (void)error_set(err, ERROR_FATAL, "memory", "no memory");
        return NULL;
    }
    reader->port = (struct store_reader){ next, close_reader };
    if (open_rows(reader, path, source, endpoint, err))
        return &reader->port;
    close_reader(&reader->port);
    return NULL;
}
