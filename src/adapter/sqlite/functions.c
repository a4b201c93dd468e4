/* Functions of SQL that other databases have, and SQLite has not. */
#include <stdlib.h>

#include "adapter/sqlite/sqlite.h"
#include "data/hash.h"

/* patra_key_hash(text): 60 bits of its SHA-256, the word {key-hash}. */
static void key_hash(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct str text = { (const char *)sqlite3_value_text(values[0]),
                              (size_t)sqlite3_value_bytes(values[0]) };
    struct hash_sum sum;
    struct error err;
    uint64_t bits = 0;

    (void)count;
    if (text.data == NULL) {
        sqlite3_result_null(context);
        return;
    }
    if (!hash_of_next(sqlite3_user_data(context), text, &sum, &err)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | sum.bytes[i];
    sqlite3_result_int64(context, (sqlite3_int64)(bits >> 4));
}

static void release_hash(void *hash)
{
    hash_release(hash);
    free(hash);
}

bool sqlite_add_functions(struct sqlite_session *session, struct error *err)
{
    struct hash *hash = calloc(1, sizeof(*hash));
    int code;

    if (hash == NULL)
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a session");
    /* It releases the hash also when it fails. */
    code = sqlite3_create_function_v2(session->db, "patra_key_hash", 1,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, hash,
                                      key_hash, NULL, NULL, release_hash);
    return code == SQLITE_OK || sqlite_error_set(session, code, err);
}
