/* The dialect of SQLite. It has one writer at a time, so it needs no row locks; and no server, so a
 * statement per row costs little. */
#include "adapter/sqlite/sqlite.h"

const struct dialect SQLITE_DIALECT = {
    .migrations = &SQLITE_MIGRATIONS,
    .has_arrays = false,
    .words = {
        [WORD_GREATEST] = "max",
        [WORD_BYTE_ORDER] = "", /* the default */
        [WORD_LOCK] = "",
        [WORD_LOCK_FREE] = "",
        [WORD_INSTANT] = "INTEGER",
        [WORD_TOKEN] = "",
        [WORD_CLOCK] = "NULL",
        [WORD_MIGRATION_TABLE] = ("CREATE TABLE IF NOT EXISTS schema_migration ("
                                 "    number     INTEGER NOT NULL PRIMARY KEY,"
                                 "    name       TEXT    NOT NULL,"
                                 "    sha256     TEXT    NOT NULL,"
                                 "    applied_at INTEGER NOT NULL"
                                 ") STRICT"),
        [WORD_HAS_MIGRATIONS] = "SELECT 1 FROM sqlite_schema WHERE name = 'schema_migration'",
        [WORD_STALE] = ("checked_at < :before AND (checked_at, id) > (:after_checked, :after_id)"
                       " AND NOT deleted ORDER BY checked_at, id"),
        [WORD_INSERT] = "VALUES {tuples}",
        [WORD_ROWS] = "",
        [WORD_JOIN_ROWS] = "",
        [WORD_EACH] = "WHERE t.id = @id",
        [WORD_EACH_FREE] = "WHERE t.id = @id",
        [WORD_FIND] = "{table} AS t WHERE {body}",
    },
};
