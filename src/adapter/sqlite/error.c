/* SQLite's result codes as error values. */
#include "adapter/sqlite/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"

static const struct {
    int code; /* a primary result code */
    enum error_level level;
    const char *name;
} LEVELS[] = {
    { SQLITE_BUSY, ERROR_TRANSIENT, "store.busy" },
    { SQLITE_LOCKED, ERROR_TRANSIENT, "store.busy" },
    { SQLITE_PROTOCOL, ERROR_TRANSIENT, "store.busy" },
    { SQLITE_INTERRUPT, ERROR_TRANSIENT, "store.busy" },
    { SQLITE_SCHEMA, ERROR_TRANSIENT, "store.conflict" },
    { SQLITE_FULL, ERROR_TRANSIENT, "store.full" },
    { SQLITE_NOMEM, ERROR_TRANSIENT, "store.full" },
    { SQLITE_IOERR, ERROR_TRANSIENT, "store.lost" },
    { SQLITE_CONSTRAINT, ERROR_REQUEST, "store.constraint" },
    { SQLITE_TOOBIG, ERROR_REQUEST, "store.value" },
    { SQLITE_MISMATCH, ERROR_REQUEST, "store.value" },
    { SQLITE_RANGE, ERROR_FATAL, "store.statement" },
    { SQLITE_MISUSE, ERROR_FATAL, "store.statement" },
    { SQLITE_INTERNAL, ERROR_FATAL, "store.corrupt" },
    { SQLITE_CORRUPT, ERROR_FATAL, "store.corrupt" },
    { SQLITE_NOTADB, ERROR_FATAL, "store.corrupt" },
    { SQLITE_FORMAT, ERROR_FATAL, "store.corrupt" },
    { SQLITE_PERM, ERROR_FATAL, "store.auth" },
    { SQLITE_AUTH, ERROR_FATAL, "store.auth" },
    { SQLITE_READONLY, ERROR_FATAL, "store.auth" },
    { SQLITE_CANTOPEN, ERROR_FATAL, "store.auth" },
    { SQLITE_ERROR, ERROR_FATAL, "store.schema" }, /* no such table, no such column */
};

enum error_level sqlite_error_level(int code, const char **name)
{
    for (size_t i = 0; i < ARRAY_LEN(LEVELS); i++) {
        if (LEVELS[i].code == (code & 0xff)) {
            *name = LEVELS[i].name;
            return LEVELS[i].level;
        }
    }
    *name = "store.statement";
    return ERROR_FATAL;
}

/* SQLite names the columns of a violated unique index ("ing_task.idempotent_key"), not the index.
 */
static const char UNIQUE_NAME[] =
    "SELECT l.name"
    "  FROM sqlite_schema t, pragma_index_list(t.name) l"
    " WHERE t.type = 'table' AND l.\"unique\""
    "   AND :columns = (SELECT group_concat(t.name || '.' || i.name, ', ')"
    "                     FROM pragma_index_info(l.name) i)";

static void find_unique_name(struct sqlite_session *session, const char *columns)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(session->db, UNIQUE_NAME, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 1, columns, -1, SQLITE_TRANSIENT) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        (void)snprintf(session->broken_key, sizeof(session->broken_key), "%s",
                       (const char *)sqlite3_column_text(stmt, 0));
    (void)sqlite3_finalize(stmt);
}

/* SQLite says that it cannot open a file, whatever the reason is. */
static bool is_short_of_files(const struct sqlite_session *session, int code)
{
    const int cause = sqlite3_system_errno(session->db);

    return (code & 0xff) == SQLITE_CANTOPEN && (cause == EMFILE || cause == ENFILE);
}

bool sqlite_error_set(struct sqlite_session *session, int code, struct error *err)
{
    static const char UNIQUE[] = "UNIQUE constraint failed: ";
    char message[512];
    const char *name;
    const enum error_level level = sqlite_error_level(code, &name);

    session->broken_key[0] = '\0';
    if (is_short_of_files(session, code))
        return error_set(err, ERROR_TRANSIENT, "store.full",
                         "the process has too many open files: raise its limit (ulimit -n)");
    (void)snprintf(message, sizeof(message), "%s", sqlite3_errmsg(session->db));
    if (strncmp(message, UNIQUE, sizeof(UNIQUE) - 1) == 0)
        find_unique_name(session, message + sizeof(UNIQUE) - 1);
    if (session->broken_key[0] != '\0')
        return error_set(err, level, name, "%s (%s)", message, session->broken_key);
    return error_set(err, level, name, "%s", message);
}
