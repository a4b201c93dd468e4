/* The dialect of SQLite. It has one writer at a time, so it needs no row locks; and no server, so a
 * statement per row costs little. */
#include "adapter/sqlite/sqlite.h"

/* A field as a value of SQL and as JSON. A CAST is the only way to give a column of a view a type
 * that other programs can ask for. Instants have six digits after the second, so that texts
 * sort like instants. */
#define FIELDS "f.fields, '$.\"{key}\"'"
#define VALUE "f.fields ->> '$.\"{key}\"'"
#define JSON "CAST(f.fields -> '$.\"{key}\"' AS TEXT)"
#define FRACTION "((r.{column} % 1000000 + 1000000) % 1000000)"

const struct dialect SQLITE_DIALECT = {
    .migrations = &SQLITE_MIGRATIONS,
    .sink_migrations = &SQLITE_SINK_MIGRATIONS,
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
        [WORD_DATABASE_PLACE] = "SELECT file FROM pragma_database_list WHERE name = 'main'",
        [WORD_DATABASE_FAULTS] = "SELECT quick_check FROM pragma_quick_check(20) WHERE quick_check <> 'ok'",
        [WORD_DATABASE_DEEP_FAULTS] = "SELECT integrity_check FROM pragma_integrity_check(20) WHERE integrity_check <> 'ok'",
        [WORD_INDEX_NAMES] = "SELECT name FROM sqlite_schema WHERE type = 'index'",
        [WORD_LONG_TRANSACTIONS] = "SELECT '' WHERE :before IS NULL", /* nobody can be asked */
        [WORD_HAS_MIGRATIONS] = "SELECT 1 FROM sqlite_schema WHERE name = 'schema_migration'",
        [WORD_VIEW_EXISTS] = "SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name = :name",
        [WORD_BYTES] = "length",
        [WORD_NEW_RECORD_ID] = ("(SELECT coalesce(max(seq), 0) FROM sqlite_sequence"
                               "  WHERE name = 'ing_record_state') + i"),
        [WORD_OUTBOX_LAST_ID] = "coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'ing_outbox'",
        [WORD_OUTBOX_WRITERS] = "'' WHERE FALSE", /* who reads this is not writing, nor is another */
        [WORD_STREAM_IDS] = "SELECT outbox_id FROM ing_stream WHERE outbox_id > :above ORDER BY 1",
        [WORD_STREAM_COLUMNS] = "lane, pos, outbox_id, sequenced_at",
        [WORD_STREAM_VALUES] = "@lane, @pos, @id, :now",
        [WORD_STREAM_GROUP] = "",
        [WORD_STREAM_TOLD] = "SELECT 1 WHERE FALSE", /* readers see the commit: wake.c */
        [WORD_STREAM_FIRST] = ("(SELECT s.pos FROM ing_stream AS s WHERE s.lane = l.lane"
                              "  ORDER BY s.pos LIMIT 1)"),
        [WORD_STREAM_SINCE] = ("(SELECT s.pos FROM ing_stream AS s WHERE s.lane = l.lane"
                              "  AND s.sequenced_at >= :at ORDER BY s.pos LIMIT 1)"),
        [WORD_STREAM_PLACE] = ("(SELECT s.pos FROM ing_stream AS s WHERE s.lane = t.lane"
                              "  AND s.outbox_id = t.id)"),
        /* From the first event of each lane to the first that is kept, some of each at a time. */
        [WORD_STREAM_DUE] = ("WITH ends AS MATERIALIZED (SELECT h.lane, min(h.pos, coalesce("
                            "  (SELECT k.pos - 1 FROM (SELECT pos, sequenced_at, outbox_id"
                            "     FROM ing_stream WHERE lane = h.lane ORDER BY pos"
                            "     LIMIT :limit) AS k"
                            "    WHERE k.sequenced_at >= :before OR k.outbox_id > h.id"
                            "    ORDER BY k.pos LIMIT 1),"
                            "  (SELECT f.pos - 1 + :limit FROM ing_stream AS f"
                            "    WHERE f.lane = h.lane ORDER BY f.pos LIMIT 1), h.pos)) AS pos"
                            "  FROM held AS h)"
                            " SELECT t.lane, t.pos, t.outbox_id FROM ends AS e CROSS JOIN"
                            " ing_stream AS t ON t.lane = e.lane AND t.pos <= e.pos"
                            " ORDER BY t.lane, t.pos LIMIT min(:limit, :parts * 64)"),
        [WORD_STREAM_POS] = "pos",
        [WORD_STREAM_OLD] = "SELECT count(*) FROM ing_stream WHERE sequenced_at < :before",
        [WORD_STREAM_AFTER] = ("(SELECT lane, pos, sequenced_at, outbox_id FROM ing_stream"
                              " WHERE lane = @lane AND pos > @pos AND pos <= @pos + :many) AS s"
                              " JOIN ing_outbox AS o ON o.id = s.outbox_id"),
        [WORD_EVENT_JOINS] = ("LEFT JOIN ing_record_state AS k ON k.id = o.record_id"
                             " LEFT JOIN ing_record_endpoint AS e ON e.id = k.endpoint_id"
                             " LEFT JOIN ing_task_run_batch AS b ON b.id = o.batch_id"
                             " LEFT JOIN ing_plan AS p ON p.id = b.plan_id"),
        [WORD_EVENT_PLACE] = "LEFT JOIN ing_stream AS s ON s.outbox_id = o.id",
        [WORD_STREAM_NEXT] = ("(SELECT s.sequenced_at FROM ing_stream AS s"
                             "  WHERE s.lane = o.lane AND s.pos = o.stream_pos + 1)"),
        [WORD_STREAM_BODY] = "CASE WHEN :bytes > 0 THEN o.body END", /* rows come one by one */
        [WORD_IN_ORDER] = "SELECT 1", /* it does so by itself */
        [WORD_ROW_BY_ROW] = "SELECT 1",
        [WORD_HOLD_BRIEFLY] = "SELECT 1", /* whoever writes has no one to wait for */
        [WORD_READ_ONCE] = "PRAGMA cache_size = -2048",
        [WORD_KEY_HASH] = "patra_key_hash(u.state)", /* functions.c */
        [WORD_ONCE] = "LIMIT -1",
        [WORD_INSERT] = "VALUES {tuples}",
        [WORD_ROWS] = "",
        [WORD_USING_ROWS] = "",
        [WORD_JOIN_ROWS] = "",
        [WORD_EACH] = "WHERE t.id = @id",
        [WORD_EACH_FREE] = "WHERE t.id = @id",
        [WORD_FIND] = "{table} AS t WHERE {body}",
        [WORD_RANGE] = "{table} AS t WHERE {body}",
        [WORD_KEYED] = "WHERE {body}",
        [WORD_RETURNED] = "", /* it does not know the alias there */
        [WORD_KEYED_USING] = "WHERE {body}",
        [WORD_KEYED_ONLY] = "WHERE {body}",
        [WORD_TABLE_COLUMNS] = ("SELECT name, type, \"notnull\" FROM pragma_table_info(:table)"
                               " WHERE :schema = '' ORDER BY cid"),
        [WORD_TABLE_INDEXES] = ("SELECT l.name, l.\"unique\", i.name FROM pragma_index_list(:table) AS l,"
                               " pragma_index_info(l.name) AS i WHERE :schema = ''"
                               " ORDER BY l.name, i.seqno"),
        [WORD_TABLE_NAMED] = "SELECT count(*) FROM sqlite_schema WHERE :schema = '' AND name = :table",
        [WORD_SCHEMA_NAMED] = "SELECT 0 WHERE :schema = ''", /* it has none */
    },
    /* Words that mean something to readers of the schema, and TEXT where values are texts: a column
     * of type JSON alone would turn 12 into a number. */
    .sink_types = {
        [FIELD_TEXT] = "TEXT",
        [FIELD_INTEGER] = "INTEGER",
        [FIELD_NUMBER] = "NUMERIC",
        [FIELD_BOOLEAN] = "BOOLEAN",
        [FIELD_INSTANT] = "TIMESTAMP TEXT",
        [FIELD_DATE] = "DATE TEXT",
        [FIELD_JSON] = "JSON TEXT",
    },
    .sink_key = "",
    .sink_options = " WITHOUT ROWID",
    .sink_swap_begin = "PRAGMA legacy_alter_table = ON; ",
    .sink_swap_lock = "",
    .sink_swap_end = "PRAGMA legacy_alter_table = OFF",
    .sink_grant = "",
    .sink_widenings = (const struct sink_widening[]){
        { FIELD_INTEGER, FIELD_NUMBER, "{column}" },
        { FIELD_INTEGER, FIELD_TEXT, "CAST({column} AS TEXT)" },
        { FIELD_NUMBER, FIELD_TEXT, "CAST({column} AS TEXT)" },
        { FIELD_BOOLEAN, FIELD_TEXT, "CASE {column} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END" },
        { FIELD_DATE, FIELD_TEXT, "{column}" },
        { FIELD_INSTANT, FIELD_TEXT, "{column}" },
        { FIELD_DATE, FIELD_INSTANT, "{column} || 'T00:00:00.000000Z'" },
        { 0 },
    },
    .view_columns = {
        [FIELD_ANY] = { "CAST(CASE json_type(" FIELDS ") WHEN 'text' THEN " VALUE " ELSE " JSON
                        " END AS TEXT)", JSON },
        [FIELD_TEXT] = { "CAST(" VALUE " AS TEXT)", JSON },
        [FIELD_INTEGER] = { "CAST(" VALUE " AS INTEGER)", JSON },
        [FIELD_NUMBER] = { "CAST(" VALUE " AS REAL)", JSON },
        [FIELD_BOOLEAN] = { "CAST(" VALUE " AS INTEGER)", JSON },
        [FIELD_INSTANT] = { "CAST(CASE length(" VALUE ") WHEN 20 THEN substr(" VALUE
                            ", 1, 19) || '.000000Z' ELSE " VALUE " END AS TEXT)", JSON },
        [FIELD_DATE] = { "CAST(" VALUE " AS TEXT)", JSON },
        [FIELD_JSON] = { JSON, JSON },
    },
    .view_instant = "CAST(strftime('%Y-%m-%dT%H:%M:%S', (r.{column} - " FRACTION ") / 1000000,"
                    " 'unixepoch') || printf('.%06dZ', " FRACTION ") AS TEXT)",
    .view_replace = "DROP VIEW IF EXISTS \"{name}\"; CREATE VIEW \"{name}\" AS {select}",
};
