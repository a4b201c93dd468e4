/* Views of records: what they show, and when they are made, replaced and dropped. What they must
 * show is written here, as texts of both databases. */
#include "port/store_view.h"

#include <string.h>

#include "contract.h"
#include "port/store_expr.h"
#include "rows.h"

static const char *dsn;

static struct store *begin(void)
{
    dsn = contract_migrated(contract_new_database());
    contract_sql(dsn, "CREATE TABLE one (n INTEGER CHECK (n = 1))");
    return contract_open(dsn);
}

/* Whether the database finds that this number is one. */
static void check_one(const char *query, const char *label)
{
    char sql[1200];

    (void)snprintf(sql, sizeof(sql), "INSERT INTO one %s", query);
    CHECK(contract_try_sql(dsn, sql), label);
}

static bool is_postgres(void)
{
    return strncmp(dsn, "postgres", 8) == 0;
}

/* ---- views ---- */

static struct record_view_list one_view(const char *source, const char *endpoint,
                                        struct view_column *columns, size_t count)
{
    struct record_view *view = ARENA_NEW(contract_arena(), struct record_view);

    for (size_t i = 0; i < count; i++)
        columns[i].key =
            view_key(contract_arena(), columns[i].name, columns[i].type, columns[i].is_list);
    *view = (struct record_view){
        .source = str_of(source), .endpoint = str_of(endpoint), .items = columns, .count = count
    };
    return (struct record_view_list){ view, 1 };
}

static void set_views(struct store *store, const char *source, const struct record_view_list *views)
{
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_view_set(store, contract_arena(), str_of(source), views, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

#define SET(store, source, endpoint, ...)                              \
    do {                                                               \
        struct view_column columns_[] = { __VA_ARGS__ };               \
        const struct record_view_list views_ =                         \
            one_view(source, endpoint, columns_, ARRAY_LEN(columns_)); \
        set_views(store, source, &views_);                             \
    } while (0)

#define COLUMN(column, kind)                     \
    {                                            \
        .name = STR_INIT(column), .type = (kind) \
    }
#define LIST_COLUMN(column, kind)                                 \
    {                                                             \
        .name = STR_INIT(column), .type = (kind), .is_list = true \
    }

/* ---- records ---- */

static struct record_context context_of(const char *source, const char *endpoint)
{
    return (struct record_context){ .source = str_of(source),
                                    .endpoint = str_of(endpoint),
                                    .expr_hash = STR(HASH_A),
                                    .lineage = { 1, 2, 3, 4, 5, 6 },
                                    .observed_us = NOW_US,
                                    .now_us = NOW_US };
}

static void put(struct store *store, struct record_write record)
{
    const struct record_context context = context_of("crossref", "works");
    struct error err = { 0 };
    bool written;

    record.observed_us = NOW_US;
    record.content_hash = STR(HASH_B);
    record.payload = STR("a payload");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(rows_write(store, &context, &record, 1, &written, &err), err);
    CHECK(written, "written");
    REQUIRE_OK(store_commit(store, &err), err);
}

static int64_t id_of(struct store *store, const char *provider_id)
{
    const struct record_key key = { STR("crossref"), STR("works"), str_of(provider_id) };
    struct stored_record record;
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_record_get(store, contract_arena(), &key, &record, &found, &err), err);
    REQUIRE(found, provider_id);
    return record.id;
}

/* Whether there is exactly one such row of the view. */
static void check_row(const char *condition)
{
    char sql[1024];

    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM patra_crossref_works WHERE %s",
                   condition);
    check_one(sql, condition);
}

#define ALL_TYPES                                                                          \
    COLUMN("a", FIELD_ANY), COLUMN("t", FIELD_TEXT), COLUMN("i", FIELD_INTEGER),           \
        COLUMN("n", FIELD_NUMBER), COLUMN("b", FIELD_BOOLEAN), COLUMN("s", FIELD_INSTANT), \
        COLUMN("d", FIELD_DATE), COLUMN("j", FIELD_JSON), LIST_COLUMN("tl", FIELD_TEXT),   \
        LIST_COLUMN("il", FIELD_INTEGER), LIST_COLUMN("nl", FIELD_NUMBER),                 \
        LIST_COLUMN("bl", FIELD_BOOLEAN), LIST_COLUMN("sl", FIELD_INSTANT),                \
        LIST_COLUMN("dl", FIELD_DATE), LIST_COLUMN("jl", FIELD_JSON)

TEST(a_view_shows_values_of_their_types)
{
    static const char *const sqlite[] = {
        "id = 'all' AND version = 1 AND NOT deleted",
        ("updated_at = '2026-01-01T00:00:00.000001Z' AND created_at = '2026-01-01T00:00:00.000000Z'"
         " AND checked_at = created_at"),
        "a = '[1,\"x\"]' AND typeof(a) = 'text'",
        "t = 'It''s \"é\"' AND typeof(t) = 'text'",
        "i = 9007199254740993 AND typeof(i) = 'integer'",
        "n = 12.0 AND typeof(n) = 'real'",
        "b = 1 AND typeof(b) = 'integer'",
        "s = '2026-01-02T03:04:05.000000Z'",
        "d = '2026-01-02'",
        "j ->> '$.k' = 1",
        "tl ->> '$[1]' = 'y'",
        "il ->> '$[1]' = 2",
        "nl ->> '$[0]' = 0.5",
        "bl ->> '$[1]' = 0",
        "sl ->> '$[0]' = '2026-01-02T03:04:05.5Z'",
        "dl ->> '$[0]' = '2026-01-02'",
        "json_array_length(jl) = 2",
        "il IS NOT NULL",
    };
    static const char *const postgres[] = {
        "id = 'all' AND version = 1 AND NOT deleted",
        ("updated_at = '2026-01-01T00:00:00.000001Z' AND created_at = '2026-01-01T00:00:00Z'"
         " AND checked_at = created_at"),
        "a = '[1, \"x\"]'",
        "t = 'It''s \"é\"'",
        "i = 9007199254740993 AND pg_typeof(i) = 'bigint'::regtype",
        "n = 12 AND pg_typeof(n) = 'numeric'::regtype",
        "b AND pg_typeof(b) = 'boolean'::regtype",
        "s = '2026-01-02T03:04:05Z' AND pg_typeof(s) = 'timestamptz'::regtype",
        "d = '2026-01-02' AND pg_typeof(d) = 'date'::regtype",
        "j = '{\"k\":1}' AND pg_typeof(j) = 'jsonb'::regtype",
        "tl = ARRAY['x', 'y']",
        "il = ARRAY[1, 2]::bigint[]",
        "nl = ARRAY[0.5]",
        "bl = ARRAY[true, false]",
        "sl = ARRAY['2026-01-02T03:04:05.5Z'::timestamptz]",
        "dl = ARRAY['2026-01-02'::date]",
        "jl = '[1, {}]'",
        "il IS NOT NULL",
    };
    struct store *store = begin();

    static_assert(ARRAY_LEN(sqlite) == ARRAY_LEN(postgres), "the same of both");
    SET(store, "crossref", "works", ALL_TYPES);
    put(store, (struct record_write){
                   .version = 1,
                   .provider_id = STR("all"),
                   .has_updated = true,
                   .updated_us = NOW_US + 1,
                   .fields = STR("{\"ANY:a\":[1, \"x\"],\"TEXT:t\":\"It's \\\"é\\\"\","
                                 "\"INTEGER:i\":9007199254740993,\"NUMBER:n\":12,"
                                 "\"BOOLEAN:b\":true,\"INSTANT:s\":\"2026-01-02T03:04:05Z\","
                                 "\"DATE:d\":\"2026-01-02\",\"JSON:j\":{\"k\":1},"
                                 "\"TEXT[]:tl\":[\"x\",\"y\"],\"INTEGER[]:il\":[1,2],"
                                 "\"NUMBER[]:nl\":[0.5],\"BOOLEAN[]:bl\":[true,false],"
                                 "\"INSTANT[]:sl\":[\"2026-01-02T03:04:05.5Z\"],"
                                 "\"DATE[]:dl\":[\"2026-01-02\"],\"JSON[]:jl\":[1,{}]}") });
    put(store,
        (struct record_write){ .version = 1, .provider_id = STR("none"), .fields = STR("{}") });
    put(store, (struct record_write){ .version = 1, .provider_id = STR("bare") });
    for (size_t i = 0; i < ARRAY_LEN(sqlite); i++)
        check_row(is_postgres() ? postgres[i] : sqlite[i]);
    check_row("id = 'none' AND updated_at IS NULL AND a IS NULL AND t IS NULL AND i IS NULL"
              " AND n IS NULL AND b IS NULL AND s IS NULL AND d IS NULL AND j IS NULL"
              " AND tl IS NULL AND il IS NULL AND nl IS NULL AND bl IS NULL AND sl IS NULL"
              " AND dl IS NULL AND jl IS NULL");
    check_row("id = 'bare' AND t IS NULL");
    store_close(store);
    contract_end();
}

TEST(a_view_follows_its_records)
{
    struct store *store = begin();

    SET(store, "crossref", "works", COLUMN("n", FIELD_INTEGER));
    put(store, (struct record_write){
                   .version = 1, .provider_id = STR("x"), .fields = STR("{\"INTEGER:n\":1}") });
    check_row("id = 'x' AND n = 1 AND version = 1");
    put(store, (struct record_write){ .id = id_of(store, "x"),
                                      .version = 2,
                                      .provider_id = STR("x"),
                                      .fields = STR("{\"INTEGER:n\":2}") });
    check_row("id = 'x' AND n = 2 AND version = 2");
    put(store, (struct record_write){ .id = id_of(store, "x"),
                                      .version = 3,
                                      .provider_id = STR("x"),
                                      .is_deleted = true,
                                      .fields = STR("{}") });
    check_row("id = 'x' AND n IS NULL AND version = 3 AND deleted");
    store_close(store);
    contract_end();
}

/* What no fields were given for keeps those that it has. */
TEST(records_read_again_change_their_fields)
{
    struct store *store = begin();
    struct record_reading readings[2] = { 0 };
    const struct expr_write write = {
        .old_hash = STR(HASH_A), .new_hash = STR(HASH_B), .readings = readings, .count = 2
    };
    struct error err = { 0 };
    bool written;

    SET(store, "crossref", "works", COLUMN("n", FIELD_INTEGER));
    put(store, (struct record_write){
                   .version = 1, .provider_id = STR("x"), .fields = STR("{\"TEXT:n\":\"7\"}") });
    put(store, (struct record_write){
                   .version = 1, .provider_id = STR("y"), .fields = STR("{\"INTEGER:n\":8}") });
    check_row("id = 'x' AND n IS NULL");
    for (int i = 0; i < 2; i++) {
        readings[i].was = 1;
        readings[i].change.record = (struct record_write){ .id = id_of(store, i == 0 ? "x" : "y"),
                                                           .version = 1,
                                                           .content_hash = STR(HASH_B) };
    }
    readings[0].change.record.fields = STR("{\"INTEGER:n\":7}");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_expr_write(store, &write, &written, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK(written, "both");
    check_row("id = 'x' AND n = 7");
    check_row("id = 'y' AND n = 8");
    store_close(store);
    contract_end();
}

TEST(views_are_replaced_and_dropped_with_their_source)
{
    struct store *store = begin();
    const struct record_view_list none = { 0 };

    SET(store, "crossref", "works", COLUMN("n", FIELD_INTEGER));
    put(store, (struct record_write){ .version = 1,
                                      .provider_id = STR("x"),
                                      .fields = STR("{\"TEXT:n\":\"7\",\"TEXT:m\":\"8\"}") });
    SET(store, "crossref", "works", COLUMN("m", FIELD_TEXT), COLUMN("n", FIELD_TEXT));
    check_row("m = '8' AND n = '7'");
    set_views(store, "crossref", &none);
    CHECK(!contract_try_sql(dsn, "SELECT * FROM patra_crossref_works"), "gone");
    check_one("SELECT 1 + count(*) FROM ing_view", "forgotten");
    store_close(store);
    contract_end();
}

TEST(names_that_look_alike_stay_apart)
{
    struct store *store = begin();

    SET(store, "a", "b_c", COLUMN("n", FIELD_INTEGER));
    SET(store, "a_b", "c", COLUMN("m", FIELD_INTEGER));
    check_one("SELECT 1 + count(n) FROM patra_a_b_c", "the first");
    check_one("SELECT 1 + count(m) FROM patra_a_b_c_2", "the second");
    SET(store, "a_b", "c", COLUMN("o", FIELD_INTEGER));
    check_one("SELECT 1 + count(o) FROM patra_a_b_c_2", "it keeps its name");
    store_close(store);
    contract_end();
}

TEST(a_view_that_somebody_dropped_is_made_again)
{
    struct store *store = begin();

    SET(store, "crossref", "works", COLUMN("n", FIELD_INTEGER));
    contract_sql(dsn, "DROP VIEW patra_crossref_works");
    SET(store, "crossref", "works", COLUMN("n", FIELD_INTEGER));
    check_one("SELECT 1 + count(n) FROM patra_crossref_works", "here again");
    store_close(store);
    contract_end();
}

TEST(a_transaction_that_is_rolled_back_leaves_the_old_view)
{
    struct store *store = begin();
    struct view_column columns[] = { COLUMN("m", FIELD_TEXT) };
    const struct record_view_list views = one_view("crossref", "works", columns, 1);
    struct error err = { 0 };

    SET(store, "crossref", "works", COLUMN("n", FIELD_INTEGER));
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_view_set(store, contract_arena(), STR("crossref"), &views, &err), err);
    store_rollback(store);
    check_one("SELECT 1 + count(n) FROM patra_crossref_works", "as before");
    store_close(store);
    contract_end();
}

/* What JSON allows and jsonb does not is replaced before (data/json_storable.h); this is its edge.
 */
TEST(the_largest_storable_number_is_stored)
{
    struct store *store = begin();

    SET(store, "crossref", "works", COLUMN("n", FIELD_NUMBER), COLUMN("j", FIELD_JSON));
    put(store, (struct record_write){ .version = 1,
                                      .provider_id = STR("x"),
                                      .fields = STR("{\"NUMBER:n\":1e308,\"JSON:j\":"
                                                    "[1e999,1e-999,\"\\ufffd\"]}") });
    check_row("n > 1e307");
    check_row("j IS NOT NULL");
    store_close(store);
    contract_end();
}

/* ---- privileges, which SQLite does not have ---- */

TEST(a_reader_needs_no_more_than_the_view_and_keeps_it)
{
    struct store *store = begin();

    if (!is_postgres()) {
        store_close(store);
        contract_end();
        test_skip("SQLite has no privileges");
    }
    contract_sql(dsn, "DROP ROLE IF EXISTS view_reader");
    contract_sql(dsn, "CREATE ROLE view_reader");
    SET(store, "crossref", "works", COLUMN("n", FIELD_INTEGER));
    contract_sql(dsn, "GRANT SELECT ON patra_crossref_works TO view_reader");
    contract_sql(dsn, "SET ROLE view_reader; SELECT * FROM patra_crossref_works");
    CHECK(!contract_try_sql(dsn, "SET ROLE view_reader; SELECT * FROM ing_record"), "nothing else");
    SET(store, "crossref", "works", COLUMN("n", FIELD_INTEGER), COLUMN("o", FIELD_DATE));
    contract_sql(dsn, "SET ROLE view_reader; SELECT o FROM patra_crossref_works");
    SET(store, "crossref", "works", COLUMN("n", FIELD_TEXT));
    contract_sql(dsn, "SET ROLE view_reader; SELECT n FROM patra_crossref_works");
    contract_sql(dsn, "DROP OWNED BY view_reader; DROP ROLE view_reader");
    store_close(store);
    contract_end();
}
