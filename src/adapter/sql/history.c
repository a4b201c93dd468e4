/* Rows of history: read as JSON, removed by id. */
#include "adapter/sql/history.h"

#include "adapter/sql/record_tally.h"
#include "adapter/sql/session.h"
#include "base/instant.h"
#include "base/list.h"
#include "data/json_write.h"

#define ROW_BYTES_MAX ((size_t)16 << 20)

/* ---- reading ---- */

/* The first of the table, which is the oldest but for transactions that ran side by side. */
static const char FIRST_EVENT[] =
    "SELECT occurred_at FROM ing_outbox WHERE batch_id IS NOT NULL ORDER BY id LIMIT 1";
#define TRANSACTION_US_MAX US_PER_HOUR

bool sql_oldest_event(struct store *store, int64_t *at_us, struct error *err)
{
    *at_us = INT64_MAX;
    if (!rows_only_i64(&statement_of(store, FIRST_EVENT)->rows, at_us, err))
        return error_wrap(err, "find the oldest event");
    if (*at_us != INT64_MAX)
        *at_us -= TRANSACTION_US_MAX;
    return true;
}

static const char BATCHES[] =
    "SELECT b.id, b.run_id, b.created_at,"
    " t.status_code IN ('SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELLED') AND EXISTS (SELECT 1"
    "  FROM ing_task_run_batch AS n WHERE n.task_id = b.task_id AND n.id > b.id)"
    "  AND NOT EXISTS (SELECT 1 FROM ing_archive_body AS a WHERE a.hash = b.body_hash),"
    " b.task_id, b.slice_id, b.plan_id, b.batch_no, b.status_code, b.expr_hash, b.body_hash,"
    " b.request_digest, b.response_digest, b.stats"
    " FROM ing_task_run_batch AS b JOIN ing_task AS t ON t.id = b.task_id"
    " WHERE b.id > :after ORDER BY b.id LIMIT :limit";

/* The last move is found once for each cursor of the page. Asked whether there is a later one for
 * each event, PostgreSQL expects to meet one soon and reads the table from its beginning. */
static const char CURSOR_EVENTS[] =
    "WITH page AS (SELECT * FROM ing_cursor_event WHERE id > :after ORDER BY id LIMIT :limit),"
    " moved AS (SELECT c.*, (SELECT max(n.id) FROM ing_cursor_event AS n"
    "   WHERE n.provenance_code = c.provenance_code AND n.operation_code = c.operation_code"
    "   AND n.cursor_key = c.cursor_key AND n.namespace_scope_code = c.namespace_scope_code"
    "   AND n.namespace_key = c.namespace_key AND n.reason_code IN ('ADVANCE', 'RESET')) AS last_id"
    "  FROM (SELECT DISTINCT provenance_code, operation_code, cursor_key, namespace_scope_code,"
    "   namespace_key FROM page) AS c {once})"
    " SELECT e.id, coalesce(e.run_id, 0), e.created_at, e.id < coalesce(m.last_id, 0),"
    " coalesce(e.task_id, 0), coalesce(e.slice_id, 0), coalesce(e.plan_id, 0),"
    " coalesce(e.batch_id, 0), e.reason_code, e.expr_hash, e.prev_value, e.new_value,"
    " e.provenance_code || ' ' || e.operation_code || ' ' || e.cursor_key || ' ' ||"
    " e.namespace_scope_code || ' ' || e.namespace_key, e.record_remarks"
    " FROM page AS e JOIN moved AS m ON m.provenance_code = e.provenance_code"
    "  AND m.operation_code = e.operation_code AND m.cursor_key = e.cursor_key"
    "  AND m.namespace_scope_code = e.namespace_scope_code AND m.namespace_key = e.namespace_key"
    " ORDER BY e.id";

/* Names of the columns after may_go, in order: four numbers, three texts, three that are JSON for
 * batches. */
struct names {
    const char *numbers[4];
    const char *texts[3];
    const char *rest[3];
    bool is_json[3];
};
static const struct names NAMES[] = {
    [RETAINED_BATCH] = { { "taskId", "sliceId", "planId", "batchNumber" },
                         { "status", "exprHash", "bodyHash" },
                         { "request", "response", "stats" },
                         { true, true, true } },
    [RETAINED_CURSOR_EVENT] = { { "taskId", "sliceId", "planId", "batchId" },
                                { "reason", "exprHash", "from" },
                                { "to", "cursor", "remarks" },
                                { false, false, true } },
};

static void read_rest(struct rows *rows, struct arena *arena, const struct names *names,
                      struct json_writer *w)
{
    for (size_t i = 0; i < ARRAY_LEN(names->numbers); i++)
        json_write_member_i64(w, str_of(names->numbers[i]), rows_i64(rows));
    for (size_t i = 0; i < ARRAY_LEN(names->texts); i++) {
        const bool is_null = rows_is_null(rows);
        const struct str text = rows_text(rows, arena);

        if (!is_null)
            json_write_member_str(w, str_of(names->texts[i]), text);
    }
    for (size_t i = 0; i < ARRAY_LEN(names->rest); i++) {
        const struct str text = rows_text(rows, arena);

        json_write_name(w, str_of(names->rest[i]));
        if (names->is_json[i])
            json_write_raw(w, text);
        else
            json_write_str(w, text);
    }
}

static bool read_row(struct rows *rows, struct arena *arena, enum retained_kind kind,
                     struct retained_row *row, int64_t *created_us, struct error *err)
{
    struct json_writer w;
    struct buf text;

    row->id = rows_i64(rows);
    row->run_id = rows_i64(rows);
    *created_us = rows_i64(rows);
    row->may_go = rows_bool(rows);
    buf_init(&text, arena, ROW_BYTES_MAX);
    json_writer_init(&w, &text);
    json_write_object(&w);
    json_write_member_str(&w, STR("kind"), retained_kind_word(kind));
    json_write_member_i64(&w, STR("id"), row->id);
    json_write_member_i64(&w, STR("runId"), row->run_id);
    json_write_member_instant(&w, STR("createdAt"), *created_us);
    read_rest(rows, arena, &NAMES[kind], &w);
    json_write_end(&w);
    row->json = buf_str(&text);
    return buf_ok(&text, err);
}

bool sql_history(struct store *store, struct arena *arena, const struct retained_query *query,
                 struct retained_page *page, struct error *err)
{
    struct statement *st =
        statement_of(store, query->kind == RETAINED_BATCH ? BATCHES : CURSOR_EVENTS);
    struct retained_row *row;
    struct error failure;
    int64_t created_us;
    bool ok = true;

    *page = (struct retained_page){ .is_last = true };
    bind_i64(st, ":after", query->after_id);
    bind_i64(st, ":limit", query->limit);
    while (ok && (row = ROWS_NEXT(&st->rows, arena, page)) != NULL) {
        ok = read_row(&st->rows, arena, query->kind, row, &created_us, &failure);
        if (ok && created_us >= query->before_us) {
            page->count--;
            break;
        }
        page->is_last = (int64_t)page->count < query->limit;
    }
    if (!rows_finish(&st->rows, err))
        return error_wrap(err, "read history");
    if (!ok)
        *err = failure;
    return ok;
}

/* ---- removing ---- */

static const char REMOVE_BATCHES[] =
    "DELETE FROM ing_task_run_batch AS t {using-rows} WHERE t.id = @id";
static const char REMOVE_EVENTS[] =
    "DELETE FROM ing_cursor_event AS t {using-rows} WHERE t.id = @id";

/* All at once: with a call to the server for each row, the transaction is mostly waiting. */
static bool remove_rows(struct store *store, const char *sql, const struct retained_row *rows,
                        size_t count, struct error *err)
{
    struct statement *st = statement_of(store, sql);

    for (size_t i = 0; i < count; i++) {
        if (rows[i].may_go)
            cell_i64(st, "@id", rows[i].id);
    }
    return statement_run(st, NULL, err);
}

bool sql_history_remove(struct store *store, enum retained_kind kind,
                        const struct retained_row *rows, size_t count, struct error *err)
{
    const char *sql = kind == RETAINED_BATCH ? REMOVE_BATCHES : REMOVE_EVENTS;

    if (!store_begin(store, err))
        return false;
    if (remove_rows(store, sql, rows, count, err) && store_commit(store, err))
        return true;
    store_rollback(store);
    return error_wrap(err, "remove history");
}

/* The tasks that have listed ids: from one to the next, because each has thousands. */
static const char LISTED[] =
    "WITH RECURSIVE listed (task_id) AS (SELECT min(task_id) FROM ing_listed_id"
    "  UNION ALL SELECT (SELECT min(l.task_id) FROM ing_listed_id AS l"
    "   WHERE l.task_id > listed.task_id) FROM listed WHERE listed.task_id IS NOT NULL)"
    " SELECT t.id FROM listed JOIN ing_task AS t ON t.id = listed.task_id"
    " WHERE t.status_code IN ('SUCCEEDED', 'CANCELLED') AND t.finished_at < :before LIMIT 1";
/* Positions have no gaps, and the first ones go first. */
static const char TIDY_IDS[] =
    "DELETE FROM ing_listed_id WHERE task_id = :task AND position <"
    " (SELECT min(position) FROM ing_listed_id WHERE task_id = :task) + :limit";
static const char TIDY_ALERTS[] = "DELETE FROM ing_alert WHERE id IN (SELECT id FROM ing_alert"
                                  " WHERE resolved_at < :before LIMIT :limit)";
static const char TIDY_SILENCES[] =
    "DELETE FROM ing_alert_silence WHERE id IN (SELECT id FROM ing_alert_silence"
    " WHERE until_at < :before LIMIT :limit)";

/* The task is found before the transaction. */
static bool tidy_ids(struct store *store, int64_t before_us, int64_t limit, int64_t *removed,
                     struct error *err)
{
    struct statement *st = statement_of(store, LISTED);
    int64_t task = 0;

    bind_instant(st, ":before", before_us);
    if (!rows_only_i64(&st->rows, &task, err))
        return false;
    if (task == 0)
        return true;
    st = statement_of(store, TIDY_IDS);
    bind_i64(st, ":task", task);
    bind_i64(st, ":limit", limit);
    return statement_run(st, removed, err);
}

bool sql_tidy(struct store *store, int64_t before_us, int64_t limit, int64_t *removed,
              struct error *err)
{
    static const char *const all[] = { TIDY_ALERTS, TIDY_SILENCES };
    int64_t folded;

    *removed = 0;
    if (!record_tally_fold(store, limit, &folded, err) ||
        !tidy_ids(store, before_us, limit, removed, err))
        return error_wrap(err, "tidy up");
    *removed += folded;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct statement *st = statement_of(store, all[i]);
        int64_t rows;

        bind_instant(st, ":before", before_us);
        bind_i64(st, ":limit", limit);
        if (!statement_run(st, &rows, err))
            return error_wrap(err, "tidy up");
        *removed += rows;
    }
    return true;
}

/* ---- files ---- */

static const char FILE_ADD[] =
    "INSERT INTO ing_retained_file (kind_code, first_id, last_id, first_run, last_run, row_count,"
    " path, sha256, made_at) VALUES (:kind, :first, :last, :first_run, :last_run, :rows, :path,"
    " :sha, :now) ON CONFLICT (kind_code, first_id) DO UPDATE SET last_id = :last,"
    " first_run = :first_run, last_run = :last_run, row_count = :rows, path = :path, sha256 = :sha,"
    " made_at = :now";

bool sql_retained_file_add(struct store *store, const struct retained_file *file, struct error *err)
{
    struct statement *st = statement_of(store, FILE_ADD);
    int64_t changes;

    bind_text(st, ":kind", retained_kind_word(file->kind));
    bind_i64(st, ":first", file->first_id);
    bind_i64(st, ":last", file->last_id);
    bind_i64(st, ":first_run", file->first_run);
    bind_i64(st, ":last_run", file->last_run);
    bind_i64(st, ":rows", file->rows);
    bind_text(st, ":path", file->path);
    bind_text(st, ":sha", file->sha256);
    bind_instant(st, ":now", file->made_us);
    return statement_run(st, &changes, err) || error_wrap(err, "note an archive");
}

static const char FILES_OF[] =
    "SELECT first_id, last_id, first_run, last_run, row_count, path, sha256, made_at"
    " FROM ing_retained_file WHERE kind_code = 'BATCH' AND last_run >= :run AND first_run <= :run"
    " ORDER BY made_at DESC, first_id DESC LIMIT :limit";

static void read_file(struct rows *rows, struct arena *arena, struct retained_file *file)
{
    file->kind = RETAINED_BATCH;
    file->first_id = rows_i64(rows);
    file->last_id = rows_i64(rows);
    file->first_run = rows_i64(rows);
    file->last_run = rows_i64(rows);
    file->rows = rows_i64(rows);
    file->path = rows_text(rows, arena);
    file->sha256 = rows_text(rows, arena);
    file->made_us = rows_i64(rows);
}

bool sql_retained_files_of(struct store *store, struct arena *arena, int64_t run_id,
                           struct retained_file_list *files, struct error *err)
{
    struct statement *st = statement_of(store, FILES_OF);
    struct retained_file *file;

    *files = (struct retained_file_list){ 0 };
    bind_i64(st, ":run", run_id);
    bind_i64(st, ":limit", RETAINED_FILES_MAX);
    while ((file = ROWS_NEXT(&st->rows, arena, files)) != NULL)
        read_file(&st->rows, arena, file);
    return rows_finish(&st->rows, err) || error_wrap(err, "find an archive");
}
