/* Result codes of SQLite become error levels and codes. */
#include "adapter/sqlite/sqlite.h"

#include "test.h"

static const struct {
    int code;
    enum error_level level;
    const char *name;
} cases[] = {
    { SQLITE_BUSY, ERROR_TRANSIENT, "store.busy" },
    { SQLITE_BUSY_SNAPSHOT, ERROR_TRANSIENT, "store.busy" },
    { SQLITE_LOCKED, ERROR_TRANSIENT, "store.busy" },
    { SQLITE_LOCKED_SHAREDCACHE, ERROR_TRANSIENT, "store.busy" },
    { SQLITE_FULL, ERROR_TRANSIENT, "store.full" },
    { SQLITE_NOMEM, ERROR_TRANSIENT, "store.full" },
    { SQLITE_IOERR_FSYNC, ERROR_TRANSIENT, "store.lost" },
    { SQLITE_CONSTRAINT_UNIQUE, ERROR_REQUEST, "store.constraint" },
    { SQLITE_CONSTRAINT_CHECK, ERROR_REQUEST, "store.constraint" },
    { SQLITE_CONSTRAINT_NOTNULL, ERROR_REQUEST, "store.constraint" },
    { SQLITE_CONSTRAINT_FOREIGNKEY, ERROR_REQUEST, "store.constraint" },
    { SQLITE_CONSTRAINT_TRIGGER, ERROR_REQUEST, "store.constraint" },
    { SQLITE_CONSTRAINT_DATATYPE, ERROR_REQUEST, "store.constraint" },
    { SQLITE_TOOBIG, ERROR_REQUEST, "store.value" },
    { SQLITE_CORRUPT, ERROR_FATAL, "store.corrupt" },
    { SQLITE_CORRUPT_INDEX, ERROR_FATAL, "store.corrupt" },
    { SQLITE_NOTADB, ERROR_FATAL, "store.corrupt" },
    { SQLITE_READONLY, ERROR_FATAL, "store.auth" },
    { SQLITE_CANTOPEN, ERROR_FATAL, "store.auth" },
    { SQLITE_PERM, ERROR_FATAL, "store.auth" },
    { SQLITE_ERROR, ERROR_FATAL, "store.schema" },
    { SQLITE_MISUSE, ERROR_FATAL, "store.statement" },
    { 250, ERROR_FATAL, "store.statement" },
};

TEST(sqlite_codes_become_levels)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *name = "";

        CHECK_EQ(sqlite_error_level(cases[i].code, &name), cases[i].level, cases[i].name);
        CHECK_STR(str_of(name), str_of(cases[i].name), cases[i].name);
    }
}
