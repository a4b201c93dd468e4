/* verify against stores whose every fault is known, in SQLite and PostgreSQL. The tables are made
 * by patra's own migrations; the rows are written here. */
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "postgres.h"
#include "sim/verify/verify.h"
#include "test.h"

enum { RECORDS = 1200, ROWS_MAX = RECORDS + 10, BODY_MAX = 1 << 20 };

struct row {
    struct id id;
    struct str body;
    int64_t updated_us;
    bool undated;
    bool deleted;
};

static struct fixture {
    struct arena arena;
    struct world_options options;
    struct sim_world *world;
    struct truth_query query;
    struct row rows[ROWS_MAX];
    size_t count;
} fixture;

static struct str body_of(uint32_t version)
{
    struct buf body;

    buf_init(&body, &fixture.arena, BODY_MAX);
    body_write(fixture.query.form, fixture.world, &body, version, FLAW_NONE);
    return buf_str(&body);
}

static void add_row(uint32_t record, uint32_t version, bool deleted)
{
    const struct corpus *corpus = world_corpus(fixture.world);

    fixture.rows[fixture.count++] =
        (struct row){ .id = id_make(fixture.query.form->ids, record, corpus->count),
                      .body = body_of(version),
                      .updated_us = corpus->at_us[version],
                      .deleted = deleted };
}

/* All that must be held, in no particular order. */
static void make_rows(const char *form, int64_t at_us)
{
    struct error err = { 0 };

    arena_release(&fixture.arena);
    world_close(fixture.world);
    memset(&fixture, 0, sizeof(fixture));
    arena_init(&fixture.arena, 1 << 28);
    world_options_init(&fixture.options);
    fixture.options.records = RECORDS;
    fixture.options.deleted_ppm = 60000;
    fixture.options.merged_ppm = 30000;
    fixture.world = body_world_open(&fixture.options, &err);
    REQUIRE(fixture.world != NULL, err.text);
    fixture.query = (struct truth_query){ .form = body_form_find(str_of(form)),
                                          .from_us = fixture.options.from_us,
                                          .to_us = fixture.options.from_us + 50 * US_PER_DAY,
                                          .at_us = at_us };
    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint32_t record = i * 7 % RECORDS;
        const struct truth truth = truth_of(fixture.world, &fixture.query, record);

        if (truth_must_hold(truth.state))
            add_row(record, truth.version, truth.state != TRUTH_LIVE);
    }
}

/* The n-th row whose record is in that state. */
static struct row *find(enum truth_state state, size_t n)
{
    for (size_t i = 0; i < fixture.count; i++) {
        uint32_t record;

        REQUIRE(id_parse(fixture.query.form->ids, id_str(&fixture.rows[i].id), RECORDS, &record),
                "an id");
        if (truth_of(fixture.world, &fixture.query, record).state == state && n-- == 0)
            return &fixture.rows[i];
    }
    REQUIRE(false, "a row in that state");
    return NULL;
}

static void drop(struct row *row)
{
    *row = fixture.rows[--fixture.count];
}

/* ---- stores ---- */

#define INSERT_ENDPOINT                                                \
    "INSERT INTO ing_record_endpoint (provenance_code, endpoint_name)" \
    " VALUES ('sim', 'works')"
#define INSERT                                                                               \
    "INSERT INTO ing_record_state (endpoint_id, expr_id, provider_id, updated_at, version, " \
    "deleted, content_hash, checked_week, observed_at, checked_at, created_at) "             \
    "VALUES (1, 1, "
#define INSERT_CONTENT "INSERT INTO ing_record_content (record_id, payload) "

/* The tables of records, and those that they name. */
static struct str migration(const char *store)
{
    const struct str first =
        test_read(arena_printf(&fixture.arena, "sql/%s/0001_init.sql", store).data);
    const struct str records =
        test_read(arena_printf(&fixture.arena, "sql/%s/0003_records.sql", store).data);

    REQUIRE(first.data != NULL && records.data != NULL, "the migrations are in the tree");
    return arena_printf(&fixture.arena, "%.*s%.*s", STR_ARG(first), STR_ARG(records));
}

static struct str write_sqlite(void)
{
    static int stores;
    const struct str sql = migration("sqlite");
    struct str path = arena_printf(&fixture.arena, "%s/store%d.db", test_folder(), stores++);
    sqlite3_stmt *insert = NULL, *content = NULL;
    sqlite3 *db = NULL;

    REQUIRE(sqlite3_open(path.data, &db) == SQLITE_OK, "open");
    REQUIRE(sqlite3_exec(db, sql.data, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    REQUIRE(sqlite3_exec(db, INSERT_ENDPOINT, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    REQUIRE(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK, "begin");
    REQUIRE(sqlite3_prepare_v2(db, INSERT "?1, ?2, 1, ?3, x'', 0, 0, 0, 0)", -1, &insert, NULL) ==
                SQLITE_OK,
            sqlite3_errmsg(db));
    REQUIRE(sqlite3_prepare_v2(db, INSERT_CONTENT "VALUES (last_insert_rowid(), ?1)", -1, &content,
                               NULL) == SQLITE_OK,
            sqlite3_errmsg(db));
    for (size_t i = 0; i < fixture.count; i++) {
        const struct row *row = &fixture.rows[i];

        (void)sqlite3_reset(insert);
        (void)sqlite3_bind_text(insert, 1, row->id.text, (int)row->id.len, SQLITE_STATIC);
        (void)sqlite3_bind_int64(insert, 2, row->updated_us);
        if (row->undated)
            (void)sqlite3_bind_null(insert, 2);
        (void)sqlite3_bind_int(insert, 3, row->deleted);
        REQUIRE(sqlite3_step(insert) == SQLITE_DONE, sqlite3_errmsg(db));
        (void)sqlite3_reset(content);
        (void)sqlite3_bind_blob(content, 1, row->body.data, (int)row->body.len, SQLITE_STATIC);
        REQUIRE(sqlite3_step(content) == SQLITE_DONE, sqlite3_errmsg(db));
    }
    (void)sqlite3_finalize(insert);
    (void)sqlite3_finalize(content);
    REQUIRE(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK, "commit");
    (void)sqlite3_close(db);
    return path;
}

static void pg_run(PGconn *db, const char *sql)
{
    PGresult *result = PQexec(db, sql);

    REQUIRE(PQresultStatus(result) == PGRES_COMMAND_OK, PQerrorMessage(db));
    PQclear(result);
}

static struct str write_postgres(void)
{
    const struct str sql = migration("postgres");
    struct error err = { 0 };
    const char *dsn = postgres_new_database(&err);
    PGconn *db;

    if (dsn == NULL && err.level == ERROR_NONE)
        TEST_SKIP("PostgreSQL is not installed");
    REQUIRE(dsn != NULL, err.text);
    db = PQconnectdb(dsn);
    REQUIRE(PQstatus(db) == CONNECTION_OK, PQerrorMessage(db));
    pg_run(db, sql.data);
    pg_run(db, INSERT_ENDPOINT);
    pg_run(db, "BEGIN");
    for (size_t i = 0; i < fixture.count; i++) {
        const struct row *row = &fixture.rows[i];
        const struct str id = arena_copy(&fixture.arena, id_str(&row->id));
        const struct str at = arena_printf(&fixture.arena, "%" PRId64, row->updated_us);
        const char *values[] = { id.data, row->undated ? NULL : at.data, row->deleted ? "t" : "f",
                                 row->body.data };
        const int lengths[] = { 0, 0, 0, (int)row->body.len };
        const int formats[] = { 0, 0, 0, 1 };
        PGresult *result = PQexecParams(
            db,
            "WITH added AS (" INSERT
            "$1, 'epoch'::timestamptz + ($2 || ' microseconds')::interval, 1, $3::bool, "
            "'', 0, 'epoch', 'epoch', 'epoch') RETURNING id) " INSERT_CONTENT
            "SELECT id, $4::bytea FROM added",
            4, NULL, values, lengths, formats, 0);

        REQUIRE(PQresultStatus(result) == PGRES_COMMAND_OK, PQerrorMessage(db));
        PQclear(result);
    }
    pg_run(db, "COMMIT");
    PQfinish(db);
    return str_of(dsn);
}

static void verify(struct str dsn, const struct verify_options *options,
                   struct verify_report *report)
{
    struct error err = { 0 };
    struct truth_reader *truth = truth_reader_local(&fixture.options, &fixture.query, &err);
    struct store_reader *store = store_reader_open(dsn, STR("sim"), STR(""), &err);

    REQUIRE(store != NULL && truth != NULL, err.text);
    REQUIRE_OK(verify_compare(&fixture.arena, store, truth, options, report, &err), err);
    store->close(store);
    truth->close(truth);
}

static const struct verify_options plain = { .show = 5 };

static void check_counts(const struct verify_report *report, const size_t wanted[DIFF_COUNT],
                         const char *label)
{
    for (int kind = 0; kind < DIFF_COUNT; kind++)
        CHECK_EQ(report->counts[kind], wanted[kind], label);
}

/* ---- what is found ---- */

static struct verify_report report;

TEST(a_perfect_store_has_no_differences)
{
    static const char *const forms[] = { "crossref", "generic", "pubmed", "openalex",
                                         "datacite", "oai",     "arxiv",  "europepmc" };

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct str path;

        make_rows(forms[i], INT64_C(1767225600000000) + 60 * US_PER_DAY);
        path = write_sqlite();
        verify(path, &plain, &report);
        check_counts(&report, (size_t[DIFF_COUNT]){ 0 }, forms[i]);
        CHECK_EQ(report.right, fixture.count, forms[i]);
        CHECK(report.right > 300, "there is something to compare");
    }
}

/* One of each fault; which id it was is remembered. */
static void spoil(struct id spoilt[DIFF_COUNT])
{
    const struct corpus *corpus = world_corpus(fixture.world);
    struct row *row = find(TRUTH_LIVE, 3);
    uint32_t record = 0;

    spoilt[DIFF_MISSING] = row->id;
    drop(row);
    row = find(TRUTH_LIVE, 5);
    spoilt[DIFF_WRONG] = row->id;
    row->body = arena_printf(&fixture.arena, "%.*s ", STR_ARG(row->body));
    row = find(TRUTH_LIVE, 8);
    spoilt[DIFF_BURIED] = row->id;
    row->deleted = true;
    row = find(TRUTH_LIVE, 11);
    spoilt[DIFF_MISDATED] = row->id;
    row->updated_us += 2 * US_PER_SECOND;
    row = find(TRUTH_DELETED, 1);
    spoilt[DIFF_LOST_TOMBSTONE] = row->id;
    row->deleted = false;
    for (size_t n = 12;; n++) { /* one that has been updated */
        row = find(TRUTH_LIVE, n);
        REQUIRE(id_parse(fixture.query.form->ids, id_str(&row->id), RECORDS, &record), "an id");
        if (corpus_current(corpus, record, fixture.query.at_us) > corpus->first[record])
            break;
    }
    spoilt[DIFF_STALE] = row->id;
    row->body = body_of(corpus->first[record]);
    /* After the end of the world: never visible. */
    record = 0;
    while (corpus->visible_us[corpus->first[record]] <= fixture.query.at_us)
        record++;
    add_row(record, corpus->first[record], false);
    spoilt[DIFF_EXTRA] = fixture.rows[fixture.count - 1].id;
}

static void check_spoilt(struct str dsn, const struct id *spoilt)
{
    verify(dsn, &plain, &report);
    for (int kind = 0; kind < DIFF_COUNT; kind++) {
        CHECK_EQ(report.counts[kind], 1, "one of each");
        if (report.counts[kind] == 1)
            CHECK_STR(report.ids[kind][0], id_str(&spoilt[kind]), "and its name");
    }
}

TEST(each_difference_is_told_apart_in_sqlite)
{
    struct id spoilt[DIFF_COUNT];

    make_rows("generic", INT64_C(1767225600000000) + 60 * US_PER_DAY);
    spoil(spoilt);
    check_spoilt(write_sqlite(), spoilt);
}

TEST(each_difference_is_told_apart_in_postgres)
{
    struct id spoilt[DIFF_COUNT];

    make_rows("generic", INT64_C(1767225600000000) + 60 * US_PER_DAY);
    spoil(spoilt);
    check_spoilt(write_postgres(), spoilt);
}

TEST(what_moved_or_vanished_may_be_held_if_it_was_ever_served)
{
    const struct corpus *corpus;
    uint32_t gone = 0, moved = 0;

    make_rows("datacite", INT64_C(1767225600000000) + 80 * US_PER_DAY);
    corpus = world_corpus(fixture.world);
    while (truth_of(fixture.world, &fixture.query, gone).state != TRUTH_GONE)
        gone++;
    add_row(gone, corpus->first[gone], false);
    for (;; moved++) {
        const struct truth truth = truth_of(fixture.world, &fixture.query, moved);

        if (truth.state == TRUTH_MOVED && truth.version > corpus->first[moved])
            break;
    }
    add_row(moved, corpus->first[moved], false);
    verify(write_sqlite(), &plain, &report);
    check_counts(&report, (size_t[DIFF_COUNT]){ 0 }, "both are fine");
    CHECK_EQ(report.allowed, 2, "and counted apart");
    fixture.rows[fixture.count - 1].body = STR("{}");
    verify(write_sqlite(), &plain, &report);
    check_counts(&report, (size_t[DIFF_COUNT]){ [DIFF_WRONG] = 1 }, "but not made up");
}

TEST(tombstones_may_be_absent_where_asked)
{
    const struct verify_options lenient = { .show = 5, .absent_tombstones = true };

    make_rows("oai", INT64_C(1767225600000000) + 60 * US_PER_DAY);
    drop(find(TRUTH_DELETED, 0));
    verify(write_sqlite(), &plain, &report);
    check_counts(&report, (size_t[DIFF_COUNT]){ [DIFF_LOST_TOMBSTONE] = 1 }, "strict");
    verify(write_sqlite(), &lenient, &report);
    check_counts(&report, (size_t[DIFF_COUNT]){ 0 }, "lenient");
}

TEST(ids_may_be_spelt_otherwise)
{
    const struct verify_options short_ids = {
        .show = 5,
        .maps = { { STR("https://openalex.org/"), STR("") } },
        .map_count = 1,
    };

    make_rows("openalex", INT64_C(1767225600000000) + 60 * US_PER_DAY);
    for (size_t i = 0; i < fixture.count; i++) {
        struct id *id = &fixture.rows[i].id;

        id->len -= STR("https://openalex.org/").len;
        memmove(id->text, id->text + STR("https://openalex.org/").len, id->len);
    }
    verify(write_sqlite(), &plain, &report);
    CHECK_EQ(report.counts[DIFF_MISSING], fixture.count, "without a map");
    verify(write_sqlite(), &short_ids, &report);
    check_counts(&report, (size_t[DIFF_COUNT]){ 0 }, "with one");
}

TEST(pubmeds_dates_are_days_of_its_own_clock)
{
    make_rows("pubmed", INT64_C(1767225600000000) + 60 * US_PER_DAY);
    for (size_t i = 0; i < fixture.count; i++)
        fixture.rows[i].updated_us -= fixture.rows[i].updated_us % US_PER_DAY;
    fixture.rows[0].undated = true;
    verify(write_sqlite(), &plain, &report);
    check_counts(&report, (size_t[DIFF_COUNT]){ 0 }, "midnight of the day");
    CHECK_EQ(report.undated, 1, "no date is not a wrong one");
    arena_release(&fixture.arena);
    world_close(fixture.world);
    memset(&fixture, 0, sizeof(fixture));
}
