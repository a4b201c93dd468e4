/* The dialect of PostgreSQL. Many sessions write at once, so rows are locked, and always in one
 * order; a round trip costs more than a row, so all rows are sent in one statement.
 *
 * {each} and {find} find rows by LATERAL and LIMIT, which makes the server use the index, one row
 * after the other. Without them it would choose to read the whole table while that is small, and
 * keep that query plan as the table grows. The row is then updated by its ctid, so rows are locked
 * in the order of the arrays. If another transaction updates a row while this one waits for its
 * lock, the server checks the conditions after {each} again. */
#include "adapter/postgres/postgres.h"

/* A field as a value of SQL and as JSON. */
#define VALUE "f.fields ->> '{key}'"
#define JSON "f.fields -> '{key}'"
#define ONE(type) "CAST(" VALUE " AS " type ")"
#define LIST(type)                                                                             \
    "CASE WHEN f.fields ? '{key}' THEN ARRAY(SELECT CAST(e.value AS " type ")"                 \
    " FROM jsonb_array_elements_text(" JSON ") WITH ORDINALITY AS e (value, n) ORDER BY e.n) " \
    "END"

#define SINK_GRANT                                                                   \
    "DO $grant$\n"                                                                   \
    "DECLARE\n"                                                                      \
    "    grants text;\n"                                                             \
    "BEGIN\n"                                                                        \
    "    SELECT string_agg(format('GRANT %s ON {to} TO %s%s', a.privilege_type,"     \
    "        CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END," \
    "        CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END), ';')"  \
    "      INTO grants FROM pg_class AS c, aclexplode(c.relacl) AS a"                \
    "     WHERE c.oid = to_regclass('{from}') AND a.grantee <> c.relowner;\n"        \
    "    EXECUTE coalesce(grants, 'SELECT 1');\n"                                    \
    "END\n"                                                                          \
    "$grant$; "

/* NULL where there is none. */
#define TABLE_OID                                                                   \
    "to_regclass(CASE :schema WHEN '' THEN '' ELSE quote_ident(:schema) || '.' END" \
    " || quote_ident(:table))"

/* A view is replaced in place where it only gets further columns; views of other people that use it
 * stay as they are. Otherwise it is made again, with the privileges that were granted on it. Who
 * may read the list of views (core/grants.h: readers) may read each of them. */
#define VIEW_REPLACE                                                                   \
    "DO $view$\n"                                                                      \
    "DECLARE\n"                                                                        \
    "    grants text;\n"                                                               \
    "BEGIN\n"                                                                          \
    "    CREATE OR REPLACE VIEW \"{name}\" AS {select};\n"                             \
    "EXCEPTION WHEN invalid_table_definition THEN\n"                                   \
    "    SELECT string_agg(format('GRANT %s ON \"{name}\" TO %s%s', a.privilege_type," \
    "        CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,"   \
    "        CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END), ';')"    \
    "      INTO grants FROM pg_class AS c, aclexplode(c.relacl) AS a"                  \
    "     WHERE c.oid = to_regclass('\"{name}\"') AND a.grantee <> c.relowner;\n"      \
    "    DROP VIEW \"{name}\";\n"                                                      \
    "    CREATE VIEW \"{name}\" AS {select};\n"                                        \
    "    EXECUTE coalesce(grants, 'SELECT 1');\n"                                      \
    "END\n"                                                                            \
    "$view$;\n"                                                                        \
    "DO $view$\n"                                                                      \
    "DECLARE\n"                                                                        \
    "    grantee text;\n"                                                              \
    "BEGIN\n"                                                                          \
    "    FOR grantee IN SELECT a.grantee::regrole::text"                               \
    "      FROM pg_class AS c, aclexplode(c.relacl) AS a"                              \
    "     WHERE c.oid = to_regclass('ing_view') AND a.privilege_type = 'SELECT'"       \
    "       AND a.grantee NOT IN (0, c.relowner) LOOP\n"                               \
    "        EXECUTE format('GRANT SELECT ON \"{name}\" TO %s', grantee);\n"           \
    "    END LOOP;\n"                                                                  \
    "END\n"                                                                            \
    "$view$"

/* Checksums, where the cluster has them, are made and compared by the server itself. */
#define DATABASE_FAULTS                                                        \
    "SELECT 'the index ' || c.relname || ' is not valid' FROM pg_index AS i"   \
    " JOIN pg_class AS c ON c.oid = i.indexrelid WHERE NOT i.indisvalid"       \
    " UNION ALL SELECT 'the server has read ' || checksum_failures ||"         \
    " ' pages whose checksum is wrong, the last at ' || checksum_last_failure" \
    "  FROM pg_stat_database WHERE datname = current_database() AND checksum_failures > 0"

const struct dialect POSTGRES_DIALECT = {
    .migrations = &POSTGRES_MIGRATIONS,
    .sink_migrations = &POSTGRES_SINK_MIGRATIONS,
    .has_arrays = true,
    .words = {
        [WORD_GREATEST] = "greatest",
        [WORD_BYTE_ORDER] = " COLLATE \"C\"",
        [WORD_LOCK] = " FOR UPDATE{of}",
        [WORD_LOCK_FREE] = " FOR UPDATE{of} SKIP LOCKED",
        [WORD_INSTANT] = "timestamptz",
        [WORD_TOKEN] = "sha256", /* a token may be too long for an index */
        [WORD_CLOCK] = "clock_timestamp()",
        [WORD_MIGRATION_TABLE] = ("CREATE TABLE IF NOT EXISTS schema_migration ("
                                 "    number     bigint      NOT NULL PRIMARY KEY,"
                                 "    name       text        NOT NULL,"
                                 "    sha256     text        NOT NULL,"
                                 "    applied_at timestamptz NOT NULL)"),
        [WORD_DATABASE_PLACE] = ("SELECT concat_ws(' ', s.system_identifier, d.oid,"
                                "  to_regclass('ing_offset')::oid)"
                                " FROM pg_control_system() AS s, pg_database AS d"
                                " WHERE d.datname = current_database()"),
        [WORD_DATABASE_FAULTS] = DATABASE_FAULTS,
        [WORD_DATABASE_DEEP_FAULTS] = DATABASE_FAULTS,
        [WORD_INDEX_NAMES] = "SELECT indexname::text FROM pg_indexes WHERE schemaname = ANY (current_schemas(false))",
        [WORD_LONG_TRANSACTIONS] = ("SELECT 'process ' || pid || ' of ' || coalesce(usename, '?') || ' (' || state ||"
                                   " ') since ' || to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')"
                                   " FROM pg_stat_activity WHERE datname = current_database()"
                                   " AND pid <> pg_backend_pid() AND xact_start < :before"
                                   " ORDER BY xact_start LIMIT 20"),
        [WORD_HAS_MIGRATIONS] = "SELECT to_regclass('schema_migration') IS NOT NULL",
        [WORD_VIEW_EXISTS] = ("SELECT count(*) FROM pg_class WHERE relkind = 'v'"
                             " AND oid = to_regclass(quote_ident(:name))"),
        [WORD_BYTES] = "octet_length",
        [WORD_NEW_RECORD_ID] = "nextval('ing_record_state_id_seq')",
        [WORD_OUTBOX_LAST_ID] = ("CASE WHEN is_called THEN last_value ELSE 0 END"
                                " FROM ing_outbox_id_seq"),
        /* Who inserts has this lock from before its first id is drawn until its transaction ends. A
         * standby does not know who writes on its primary: there, somebody always may. */
        [WORD_OUTBOX_WRITERS] = ("virtualtransaction FROM pg_locks WHERE locktype = 'relation'"
                                " AND database = (SELECT oid FROM pg_database"
                                "                  WHERE datname = current_database())"
                                " AND relation = 'ing_outbox'::regclass"
                                " AND mode = 'RowExclusiveLock'"
                                " UNION SELECT 'standby' WHERE pg_is_in_recovery()"),
        [WORD_STREAM_IDS] = ("SELECT unnest(outbox_ids) FROM ing_stream WHERE last_id > :above"
                            " ORDER BY 1"),
        [WORD_STREAM_COLUMNS] = "lane, first_pos, last_pos, last_id, sequenced_at, outbox_ids",
        [WORD_STREAM_VALUES] = ("@lane, min(@pos), max(@pos), max(@id), :now,"
                               " array_agg(@id ORDER BY @pos)"),
        [WORD_STREAM_GROUP] = " GROUP BY @lane",
        [WORD_STREAM_TOLD] = "NOTIFY patra_stream",
        [WORD_STREAM_FIRST] = ("(SELECT s.first_pos FROM ing_stream AS s WHERE s.lane = l.lane"
                              "  ORDER BY s.last_pos LIMIT 1)"),
        [WORD_STREAM_SINCE] = ("(SELECT s.first_pos FROM ing_stream AS s WHERE s.lane = l.lane"
                              "  AND s.sequenced_at >= :at ORDER BY s.last_pos LIMIT 1)"),
        [WORD_STREAM_PLACE] =
            ("(SELECT p.first_pos + e.n - 1 FROM ing_stream AS p CROSS JOIN LATERAL"
             "  unnest(p.outbox_ids) WITH ORDINALITY AS e (id, n)"
             "  WHERE p.lane = t.lane AND p.last_id >= t.id AND e.id = t.id LIMIT 1)"),
        /* The first parts of each lane up to one that is kept, the oldest up to the limit of
         * events: of each lane a whole beginning, because positions have no gaps. */
        [WORD_STREAM_DUE] = ("SELECT d.lane, d.last_pos, unnest(d.outbox_ids) FROM"
                            " (SELECT t.*, sum(cardinality(t.outbox_ids)) OVER"
                            "   (ORDER BY t.sequenced_at, t.lane, t.last_pos)"
                            "   - cardinality(t.outbox_ids) AS earlier"
                            "   FROM held AS h CROSS JOIN LATERAL"
                            "   (SELECT p.*, bool_and(p.sequenced_at < :before"
                            "      AND p.last_id <= h.id) OVER (ORDER BY p.last_pos) AS may_go FROM"
                            "     (SELECT * FROM ing_stream WHERE lane = h.lane"
                            "       AND last_pos <= h.pos ORDER BY last_pos LIMIT :parts) AS p)"
                            "   AS t WHERE t.may_go) AS d"
                            " WHERE d.earlier < :limit"),
        [WORD_STREAM_POS] = "last_pos",
        [WORD_STREAM_OLD] = ("SELECT coalesce(sum(cardinality(outbox_ids)), 0)::bigint FROM ing_stream"
                            " WHERE sequenced_at < :before"),
        /* Up to the part with the last position that is wanted: a part has many. */
        [WORD_STREAM_AFTER] =
            ("{unnest} CROSS JOIN LATERAL"
             " (SELECT p.lane, p.first_pos + e.n - 1 AS pos, p.sequenced_at, e.id AS outbox_id"
             "    FROM (SELECT * FROM ing_stream WHERE lane = @lane AND last_pos > @pos"
             "             AND last_pos <= coalesce((SELECT n.last_pos FROM ing_stream AS n"
             "                   WHERE n.lane = @lane AND n.last_pos >= @pos + :many"
             "                   ORDER BY n.last_pos LIMIT 1), 9223372036854775807)"
             "           ORDER BY last_pos) AS p"
             "   CROSS JOIN LATERAL unnest(p.outbox_ids) WITH ORDINALITY AS e (id, n)"
             "   WHERE p.first_pos + e.n - 1 > @pos AND p.first_pos + e.n - 1 <= @pos + :many"
             "  OFFSET 0) AS s"
             " CROSS JOIN LATERAL (SELECT * FROM ing_outbox WHERE id = s.outbox_id LIMIT 1) AS o"),
        /* The first part that reaches to the id has it, or, if it was late, one soon after. The
         * limit keeps the server from reading all parts of the lane before it sorts them. */
        [WORD_EVENT_PLACE] =
            ("LEFT JOIN LATERAL"
             " (SELECT t.first_pos + array_position(t.outbox_ids, o.id) - 1 AS pos, t.sequenced_at"
             "    FROM (SELECT * FROM ing_stream AS p WHERE p.lane = o.lane AND p.last_id >= o.id"
             "           ORDER BY p.last_id LIMIT 200) AS t"
             "   WHERE o.id = ANY (t.outbox_ids) ORDER BY t.last_id LIMIT 1) AS s ON TRUE"),
        /* One by one, by their keys: or the server would read whole tables for some hundred rows. */
        [WORD_EVENT_JOINS] =
            ("LEFT JOIN LATERAL (SELECT endpoint_id, provider_id FROM ing_record_state"
             "  WHERE id = o.record_id LIMIT 1) AS k ON TRUE"
             " LEFT JOIN LATERAL (SELECT provenance_code, endpoint_name FROM ing_record_endpoint"
             "  WHERE id = k.endpoint_id LIMIT 1) AS e ON TRUE"
             " LEFT JOIN LATERAL (SELECT * FROM ing_task_run_batch WHERE id = o.batch_id LIMIT 1)"
             "  AS b ON TRUE"
             " LEFT JOIN LATERAL (SELECT expr_proto_hash, schedule_instance_id FROM ing_plan"
             "  WHERE id = b.plan_id LIMIT 1) AS p ON TRUE"),
        [WORD_STREAM_NEXT] = ("(SELECT s.sequenced_at FROM ing_stream AS s"
                             "  WHERE s.lane = o.lane AND s.last_pos > o.stream_pos"
                             "  ORDER BY s.last_pos LIMIT 1)"),
        /* A body is fetched only where it is sent. */
        [WORD_STREAM_BODY] = ("CASE WHEN sum(octet_length(o.body)) OVER (ORDER BY @place, s.pos)"
                             " - octet_length(o.body) < :bytes THEN o.body END"),
        [WORD_IN_ORDER] = ("SELECT set_config('enable_sort', 'off', true),"
                          " set_config('enable_bitmapscan', 'off', true),"
                          " set_config('enable_seqscan', 'off', true)"),
        [WORD_ROW_BY_ROW] = ("SELECT set_config('enable_sort', 'off', true),"
                            " set_config('enable_bitmapscan', 'off', true),"
                            " set_config('enable_seqscan', 'off', true),"
                            " set_config('enable_mergejoin', 'off', true),"
                            " set_config('enable_hashjoin', 'off', true)"),
        [WORD_READ_ONCE] = "SELECT 1", /* the server's cache is everybody's */
        [WORD_HOLD_BRIEFLY] = "SELECT set_config('lock_timeout', '500', true)", /* ms */
        [WORD_KEY_HASH] = ("CAST(CAST('x' || substr(encode(sha256(convert_to(u.state, 'UTF8')), 'hex'),"
                          " 1, 15) AS bit(60)) AS bigint)"),
        [WORD_ONCE] = "OFFSET 0",
        [WORD_INSERT] = "SELECT {body} FROM {unnest}{order}",
        [WORD_ROWS] = "FROM {unnest}",
        [WORD_USING_ROWS] = "USING {unnest}",
        [WORD_JOIN_ROWS] = "CROSS JOIN {unnest}",
        [WORD_EACH] = ("FROM {unnest} CROSS JOIN LATERAL"
                      " (SELECT ctid FROM {table} WHERE id = @id LIMIT 1) AS found"
                      " WHERE t.ctid = found.ctid"),
        [WORD_EACH_FREE] = ("FROM {unnest} CROSS JOIN LATERAL"
                           " (SELECT ctid FROM {table} WHERE id = @id LIMIT 1"
                           "  FOR NO KEY UPDATE SKIP LOCKED) AS found"
                           " WHERE t.ctid = found.ctid"),
        [WORD_FIND] = ("{unnest} CROSS JOIN LATERAL"
                      " (SELECT * FROM {table} WHERE {body} LIMIT 1) AS t"),
        /* OFFSET 0: or the server would join the whole table with the rows. */
        [WORD_RANGE] = ("{unnest} CROSS JOIN LATERAL"
                       " (SELECT * FROM {table} WHERE {body} OFFSET 0) AS t"),
        [WORD_KEYED] = ("FROM {unnest} CROSS JOIN LATERAL"
                       " (SELECT ctid FROM {table} WHERE {body} OFFSET 0) AS found"
                       " WHERE t.ctid = found.ctid"),
        [WORD_RETURNED] = "t.",
        [WORD_KEYED_USING] = ("USING {unnest} CROSS JOIN LATERAL"
                             " (SELECT ctid FROM {table} WHERE {body} OFFSET 0) AS found"
                             " WHERE t.ctid = found.ctid"),
        /* As an array, the rows are fetched one by one: for a join, a table without statistics would be
         * read to its end. */
        [WORD_KEYED_ONLY] = ("WHERE t.ctid = ANY (ARRAY(SELECT found.ctid FROM {unnest}"
                            " CROSS JOIN LATERAL (SELECT ctid FROM {table} WHERE {body} OFFSET 0)"
                            " AS found))"),
        [WORD_TABLE_COLUMNS] = ("SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull"
                               " FROM pg_attribute AS a WHERE a.attrelid = " TABLE_OID
                               " AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"),
        [WORD_TABLE_INDEXES] = ("SELECT c.relname::text, i.indisunique, a.attname::text"
                               " FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid"
                               " CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, n)"
                               " JOIN pg_attribute AS a"
                               "   ON a.attrelid = i.indrelid AND a.attnum = k.attnum"
                               " WHERE i.indrelid = " TABLE_OID " AND i.indpred IS NULL"
                               " ORDER BY c.relname, k.n"),
        [WORD_TABLE_NAMED] = "SELECT count(*) FROM (SELECT " TABLE_OID " AS oid) AS t WHERE oid IS NOT NULL",
        [WORD_SCHEMA_NAMED] = "SELECT count(*) FROM pg_namespace WHERE nspname = :schema",
    },
    .sink_types = {
        [FIELD_TEXT] = "text",
        [FIELD_INTEGER] = "bigint",
        [FIELD_NUMBER] = "numeric",
        [FIELD_BOOLEAN] = "boolean",
        [FIELD_INSTANT] = "timestamp with time zone",
        [FIELD_DATE] = "date",
        [FIELD_JSON] = "jsonb",
    },
    .sink_casts = {
        [FIELD_NUMBER] = "numeric",
        [FIELD_INSTANT] = "timestamptz",
        [FIELD_DATE] = "date",
    },
    .sink_accepts = {
        [FIELD_TEXT] = "text, character varying, character",
        [FIELD_INTEGER] = "bigint, integer, smallint, numeric",
        [FIELD_NUMBER] = "numeric, double precision, real",
        [FIELD_BOOLEAN] = "boolean",
        [FIELD_INSTANT] = "timestamp with time zone",
        [FIELD_DATE] = "date",
        [FIELD_JSON] = "jsonb, json",
    },
    .sink_key = " COLLATE \"C\"",
    .sink_options = " WITH (fillfactor = 60)", /* an update stays within its page */
    .sink_can_alter = true,
    .sink_swap_begin = "SET LOCAL lock_timeout = '500ms'; ", /* deadlock_timeout is a second */
    /* In either order: statements that name the tables in another order, one after the other, would
     * always hold what the swap still needs, and wait for what it has. It gives up soon then. */
    .sink_swap_lock = "DO $lock$ BEGIN IF random() < 0.5 THEN"
                      " LOCK TABLE {first} IN ACCESS EXCLUSIVE MODE;"
                      " SET LOCAL lock_timeout = '100ms';"
                      " LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE; ELSE"
                      " LOCK TABLE {last} IN ACCESS EXCLUSIVE MODE;"
                      " SET LOCAL lock_timeout = '100ms';"
                      " LOCK TABLE {reversed} IN ACCESS EXCLUSIVE MODE; END IF; END $lock$;"
                      " SET LOCAL lock_timeout = '500ms'; ",
    .sink_swap_end = "",
    .sink_grant = SINK_GRANT,
    .sink_widenings = (const struct sink_widening[]){
        { FIELD_INTEGER, FIELD_NUMBER, "{column}::numeric" },
        { FIELD_INTEGER, FIELD_TEXT, "{column}::text" },
        { FIELD_NUMBER, FIELD_TEXT, "{column}::text" },
        { FIELD_BOOLEAN, FIELD_TEXT, "{column}::text" },
        { FIELD_DATE, FIELD_TEXT, "to_char({column}, 'YYYY-MM-DD')" },
        { FIELD_INSTANT, FIELD_TEXT,
          "to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')" },
        { FIELD_DATE, FIELD_INSTANT, "{column}::timestamp AT TIME ZONE 'UTC'" },
        { 0 },
    },
    .view_columns = {
        [FIELD_ANY] = { VALUE, JSON },
        [FIELD_TEXT] = { VALUE, LIST("text") },
        [FIELD_INTEGER] = { ONE("bigint"), LIST("bigint") },
        [FIELD_NUMBER] = { ONE("numeric"), LIST("numeric") },
        [FIELD_BOOLEAN] = { ONE("boolean"), LIST("boolean") },
        [FIELD_INSTANT] = { ONE("timestamptz"), LIST("timestamptz") },
        [FIELD_DATE] = { ONE("date"), LIST("date") },
        [FIELD_JSON] = { JSON, JSON },
    },
    .view_instant = "r.{column}",
    .view_replace = VIEW_REPLACE,
};
