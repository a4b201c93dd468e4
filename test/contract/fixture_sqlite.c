/* SQLite files for tests: the ready database in RAM, others in the program's folder. */
#include <sqlite3.h>
#include <stdio.h>

#include "contract.h"
#include "ram_database.h"

enum { DATABASES_MAX = 1000, PATH_MAX_BYTES = 128 };

const char *contract_new_database(void)
{
    static char paths[DATABASES_MAX][PATH_MAX_BYTES];
    static int count;
    char *path = paths[count];

    REQUIRE(count < DATABASES_MAX, "databases of one program");
    (void)snprintf(path, PATH_MAX_BYTES, "%s/%d.db", test_folder(), count++);
    return path;
}

static bool run_sql(const char *dsn, const char *sql, char message[256])
{
    sqlite3 *db = NULL;
    const bool ok =
        sqlite3_open(dsn, &db) == SQLITE_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;

    (void)snprintf(message, 256, "%s", sqlite3_errmsg(db));
    (void)sqlite3_close(db);
    return ok;
}

bool contract_try_sql(const char *dsn, const char *sql)
{
    char message[256];

    return run_sql(dsn, sql, message);
}

void contract_sql(const char *dsn, const char *sql)
{
    char message[256];

    if (!run_sql(dsn, sql, message))
        test_fail(__FILE__, __LINE__, "%s: %s", sql, message);
}

/* ---- the ready database ---- */

enum { TABLES_MAX = 64 };

static struct {
    const char *path;
    sqlite3 *db; /* the look from outside; opened by the first digest */
    sqlite3_stmt *tables[TABLES_MAX];
    size_t table_count;
    int64_t version;
    uint64_t digest; /* at this version */
} ready;

static void close_look(void)
{
    for (size_t i = 0; i < ready.table_count; i++)
        (void)sqlite3_finalize(ready.tables[i]);
    ready.table_count = 0;
    (void)sqlite3_close(ready.db);
    ready.db = NULL;
}

const char *contract_ready_database(void)
{
    close_look();
    ready.path = ram_database();
    return ready.path;
}

int contract_rounds(int count)
{
    return test_rounds(count);
}

static sqlite3_stmt *prepared(const char *sql)
{
    sqlite3_stmt *st = NULL;

    REQUIRE(sqlite3_prepare_v2(ready.db, sql, -1, &st, NULL) == SQLITE_OK, sql);
    return st;
}

static void open_look(void)
{
    sqlite3_stmt *names;

    REQUIRE(sqlite3_open_v2(ready.path, &ready.db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK,
            "the ready database");
    names = prepared("SELECT 'SELECT * FROM ' || name FROM sqlite_schema WHERE type = 'table'"
                     " AND (name GLOB 'ing_*' OR name GLOB 'reg_*') ORDER BY name");
    while (sqlite3_step(names) == SQLITE_ROW) {
        REQUIRE(ready.table_count < TABLES_MAX, "room for all tables");
        ready.tables[ready.table_count++] = prepared((const char *)sqlite3_column_text(names, 0));
    }
    (void)sqlite3_finalize(names);
    ready.version = -1;
}

static uint64_t add_bytes(uint64_t digest, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        digest = (digest ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static uint64_t add_rows(uint64_t digest, sqlite3_stmt *st)
{
    int code;

    while ((code = sqlite3_step(st)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(st); i++) {
            const int type = sqlite3_column_type(st, i);
            const void *bytes = sqlite3_column_blob(st, i);
            const int size = sqlite3_column_bytes(st, i);

            digest = add_bytes(digest, &type, sizeof(type));
            digest = add_bytes(digest, &size, sizeof(size));
            digest = add_bytes(digest, bytes, (size_t)size);
        }
    }
    REQUIRE(code == SQLITE_DONE, sqlite3_sql(st));
    (void)sqlite3_reset(st);
    return digest;
}

static uint64_t digest_of_all(void)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < ready.table_count; i++) {
        digest = add_bytes(digest, &i, sizeof(i));
        digest = add_rows(digest, ready.tables[i]);
    }
    return digest;
}

/* Changes with every commit of another connection. */
static int64_t version_now(void)
{
    sqlite3_stmt *st = prepared("PRAGMA data_version");
    int64_t version;

    REQUIRE(sqlite3_step(st) == SQLITE_ROW, "the version of the data");
    version = sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    return version;
}

uint64_t contract_digest(void)
{
    int64_t version;

    if (ready.db == NULL)
        open_look();
    version = version_now();
    if (version != ready.version)
        ready.digest = digest_of_all();
    ready.version = version;
    return ready.digest;
}

void contract_grant(const char *dsn)
{
    (void)dsn; /* it has no roles */
}

const char *contract_as_roles(const char *dsn)
{
    return dsn;
}
