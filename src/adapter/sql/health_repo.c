/* What of the database is broken or missing. */
#include "adapter/sql/payload.h"
#include "core/migration.h"
#include "port/store_health.h"

static bool read_texts(struct rows *rows, struct arena *arena, struct health_text_list *list,
                       struct error *err)
{
    struct str *text;

    *list = (struct health_text_list){ 0 };
    while ((text = ROWS_NEXT(rows, arena, list)) != NULL)
        *text = rows_text(rows, arena);
    return rows_finish(rows, err);
}

static const char FAULTS[] = "{database-faults}";
static const char DEEP_FAULTS[] = "{database-deep-faults}";

static bool health_faults(struct store *store, struct arena *arena, bool is_deep,
                          struct health_text_list *list, struct error *err)
{
    return read_texts(&statement_of(store, is_deep ? DEEP_FAULTS : FAULTS)->rows, arena, list,
                      err) ||
           error_wrap(err, "check the database");
}

static const char PAYLOADS[] =
    "SELECT r.id, e.provenance_code, e.endpoint_name, r.provider_id, r.content_hash,"
    " " PAYLOAD_COLUMNS
    " FROM ing_record_state AS r JOIN ing_record_endpoint AS e ON e.id = r.endpoint_id"
    " JOIN ing_record_content AS c ON c.record_id = r.id"
    " WHERE r.id > :after AND {bytes}(r.content_hash) > 0 ORDER BY r.id LIMIT :limit";

static bool health_payloads(struct store *store, struct arena *arena, int64_t after_id,
                            int64_t limit, struct health_payload_list *list, struct error *err)
{
    struct statement *st = statement_of(store, PAYLOADS);
    struct health_payload *item;

    *list = (struct health_payload_list){ 0 };
    bind_i64(st, ":after", after_id);
    bind_i64(st, ":limit", limit);
    while ((item = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        item->id = rows_i64(&st->rows);
        item->source = rows_text(&st->rows, arena);
        item->endpoint = rows_text(&st->rows, arena);
        item->provider_id = rows_text(&st->rows, arena);
        item->content_hash = rows_hash(&st->rows, arena);
        item->payload = payload_try(st, arena, item->provider_id, &item->is_broken);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "read payloads");
}

/* Each number by its own index. */
static const char MISCOUNTS[] =
    "SELECT id, provenance_code, endpoint_name, live, deleted, kept_live, kept_deleted FROM"
    " (SELECT e.id, e.provenance_code, e.endpoint_name,"
    "   (SELECT count(*) FROM ing_record_state AS r"
    "     WHERE r.endpoint_id = e.id AND NOT r.deleted) AS live,"
    "   (SELECT count(*) FROM ing_record_state AS r"
    "     WHERE r.endpoint_id = e.id AND r.deleted) AS deleted,"
    "   (SELECT CAST(coalesce(sum(t.live), 0) AS bigint) FROM ing_record_tally AS t"
    "     WHERE t.endpoint_id = e.id) AS kept_live,"
    "   (SELECT CAST(coalesce(sum(t.deleted), 0) AS bigint) FROM ing_record_tally AS t"
    "     WHERE t.endpoint_id = e.id) AS kept_deleted"
    "  FROM ing_record_endpoint AS e) AS counted"
    " WHERE live <> kept_live OR deleted <> kept_deleted ORDER BY id";

static bool health_miscounts(struct store *store, struct arena *arena,
                             struct health_count_list *list, struct error *err)
{
    struct statement *st = statement_of(store, MISCOUNTS);
    struct health_count *item;

    *list = (struct health_count_list){ 0 };
    while ((item = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        item->endpoint_id = rows_i64(&st->rows);
        item->source = rows_text(&st->rows, arena);
        item->endpoint = rows_text(&st->rows, arena);
        item->live = rows_i64(&st->rows);
        item->deleted = rows_i64(&st->rows);
        item->kept_live = rows_i64(&st->rows);
        item->kept_deleted = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "count records");
}

/* ---- indexes ---- */

/* The name after the next "CREATE [UNIQUE] INDEX"; false: there is none. */
static bool next_index(struct str *rest, struct str *name)
{
    static const struct str words[] = { STR_INIT("\nCREATE INDEX "),
                                        STR_INIT("\nCREATE UNIQUE INDEX ") };
    size_t first = rest->len, end = 0;

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const size_t at = str_find(*rest, words[i]);

        if (at >= first)
            continue;
        first = at;
        end = at + words[i].len;
    }
    if (first == rest->len)
        return false;
    *rest = str_slice(*rest, end, rest->len);
    *name = str_trim(str_slice(*rest, 0, str_find_char(*rest, ' ')));
    *name = str_slice(*name, 0, str_find_char(*name, '\n'));
    return true;
}

static bool has(const struct health_text_list *list, struct str name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_eq(list->items[i], name))
            return true;
    }
    return false;
}

static const char INDEXES[] = "{index-names}";

static bool health_missing(struct store *store, struct arena *arena, struct health_text_list *list,
                           struct error *err)
{
    const struct migration_set *known = sql_session_of(store)->driver->dialect->migrations;
    struct health_text_list there;

    *list = (struct health_text_list){ 0 };
    if (!read_texts(&statement_of(store, INDEXES)->rows, arena, &there, err))
        return error_wrap(err, "list indexes");
    for (size_t i = 0; i < known->count; i++) {
        struct str rest = known->items[i].sql, name;

        while (next_index(&rest, &name)) {
            struct str *missing = has(&there, name) ? NULL : LIST_ADD(arena, list);

            if (arena->failed)
                return arena_error(arena, err);
            if (missing != NULL)
                *missing = name;
        }
    }
    return true;
}

/* ---- transactions and ages ---- */

static const char LONG_ONES[] = "{long-transactions}";

static bool health_long(struct store *store, struct arena *arena, int64_t before_us,
                        struct health_text_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LONG_ONES);

    bind_instant(st, ":before", before_us);
    return read_texts(&st->rows, arena, list, err) || error_wrap(err, "list transactions");
}

static const char OLDEST_BATCH[] = "SELECT created_at FROM ing_task_run_batch ORDER BY id LIMIT 1";
static const char OLDEST_EVENT[] = "SELECT created_at FROM ing_cursor_event ORDER BY id LIMIT 1";
static const char NEWEST_PLAN[] = "SELECT created_at FROM ing_plan ORDER BY id DESC LIMIT 1";

static bool health_ages(struct store *store, struct health_ages *ages, struct error *err)
{
    *ages = (struct health_ages){ 0 };
    return (rows_only_i64(&statement_of(store, OLDEST_BATCH)->rows, &ages->batch_us, err) &&
            rows_only_i64(&statement_of(store, OLDEST_EVENT)->rows, &ages->cursor_event_us, err) &&
            rows_only_i64(&statement_of(store, NEWEST_PLAN)->rows, &ages->newest_plan_us, err)) ||
           error_wrap(err, "find the oldest rows");
}

const struct store_health_ops SQL_HEALTH = {
    .faults = health_faults,
    .payloads = health_payloads,
    .miscounts = health_miscounts,
    .missing_indexes = health_missing,
    .long_transactions = health_long,
    .ages = health_ages,
};
