/* Typed fields, as a user reads them: apply, harvest, and SELECT from the view by the database's
 * own library. What must be there is computed by SQL from the payloads, and patra-sim says that
 * these are the right ones. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define VIEW "patra_generic_offset_records"
#define STORED "SELECT count(*) FROM ing_record WHERE NOT deleted"

static bool is_postgres(const char *store)
{
    return strncmp(store, "postgresql:", 11) == 0;
}

/* Live records whose columns are not as their payloads say. */
static int64_t wrong_rows(const char *store)
{
    return sql_number(
        store,
        is_postgres(store)
            ? "SELECT count(*) FROM (SELECT r.provider_id, r.version AS number, r.updated_at AS at,"
              " convert_from(c.payload, 'UTF8')::jsonb AS p FROM ing_record r"
              " JOIN ing_record_content c ON c.record_id = r.id WHERE NOT r.deleted) "
              "r"
              " FULL JOIN (SELECT * FROM " VIEW " WHERE NOT deleted) v ON v.id = r.provider_id"
              " WHERE v.title IS DISTINCT FROM p->>'title'"
              " OR v.field_version IS DISTINCT FROM (p->>'version')::bigint"
              " OR v.created IS DISTINCT FROM (p->>'created_at')::timestamptz"
              " OR v.gone IS DISTINCT FROM (p->>'deleted')::boolean"
              " OR to_jsonb(v.names) IS DISTINCT FROM"
              "    nullif(jsonb_path_query_array(p, '$.authors[*].family'), '[]')"
              " OR v.extra IS DISTINCT FROM p->'extra'"
              " OR v.version IS DISTINCT FROM r.number OR v.updated_at IS DISTINCT FROM r.at"
            : "SELECT count(*) FROM (SELECT provider_id, version AS number,"
              " CAST(payload AS TEXT) AS p FROM ing_record JOIN ing_record_content"
              " ON record_id = id WHERE NOT deleted) r"
              " LEFT JOIN (SELECT * FROM " VIEW " WHERE NOT deleted) v ON v.id = r.provider_id"
              " WHERE v.title IS NOT json_extract(p, '$.title')"
              " OR v.field_version IS NOT json_extract(p, '$.version')"
              " OR julianday(v.created) IS NOT julianday(json_extract(p, '$.created_at'))"
              " OR v.gone IS NOT json_extract(p, '$.deleted')"
              " OR (SELECT json_group_array(value) FROM json_each(v.names)) IS NOT"
              "    (SELECT json_group_array(value ->> '$.family') FROM json_each(p, '$.authors')"
              "      WHERE value ->> '$.family' IS NOT NULL)"
              " OR json(v.extra) IS NOT json(p -> '$.extra')"
              " OR v.version IS NOT r.number"
              " OR julianday(v.updated_at) IS NOT julianday(json_extract(p, '$.updated_at'))");
}

static void apply_typed(const char *store, const struct sim *sim, const char *more)
{
    char url[256];

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim->base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(
        RUN("patra", "source", "apply", "test/data/sim-sources/generic-offset.yaml", "--store",
            store, "--set", url, "--set", "rate.adaptive=false", "--set",
            "endpoints.records.fields.title={path: $.title, type: text}", "--set",
            "endpoints.records.fields.version={path: $.version, type: integer}", "--set",
            "endpoints.records.fields.created={path: $.created_at, type: instant}", "--set",
            "endpoints.records.fields.gone={path: $.deleted, type: boolean}", "--set",
            "endpoints.records.fields.names={path: '$.authors[*].family', type: text, list: true}",
            "--set", "endpoints.records.fields.extra={path: $.extra, type: json}", "--set", more)
                .code == 0,
        "apply");
}

static void read_by_sql(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    struct run run;
    int64_t stored;

    apply_typed(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    run = sim_source_verify(store, &sim);
    CHECK_EQ(run.code, 0, run.out.data);
    stored = sql_number(store, STORED);
    CHECK(stored > 100, "there is something");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM " VIEW " WHERE NOT deleted"), stored, "all");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM " VIEW),
             sql_number(store, "SELECT count(*) FROM ing_record"), "and tombstones");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM " VIEW " WHERE deleted AND title IS NOT NULL"),
             0, "which have no fields");
    CHECK_EQ(wrong_rows(store), 0, "as their payloads say");

    /* Another mapping: old values of the old type are not shown, and those read again are. */
    apply_typed(store, &sim, "endpoints.records.fields.gone={path: $.deleted, type: text}");
    CHECK_EQ(sql_number(store, "SELECT count(gone) FROM " VIEW), 0, "of another type");
    CHECK_EQ(sql_number(store, "SELECT count(created) FROM " VIEW), stored, "as before");
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM " VIEW " WHERE gone = 'false'"), stored,
             "read again");
    sim_stop(&sim);
}

TEST(columns_are_as_the_payloads_say_on_sqlite)
{
    read_by_sql(cli_sqlite("fields"));
}

TEST(columns_are_as_the_payloads_say_on_postgres)
{
    read_by_sql(cli_postgres());
}

/* The simulator's numbers have up to 64 bits without a sign: about half of them fit. */
TEST(a_record_with_a_value_that_does_not_fit_is_quarantined)
{
    const char *store = cli_sqlite("misfits");
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    int64_t bad;

    sim_source_apply(store, &sim,
                     "endpoints.records.fields.c={path: $.extra.scores.c, type: integer}");
    (void)RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    bad = sql_number(store,
                     "SELECT count(*) FROM ing_quarantine"
                     " WHERE reason_code = 'field.type' AND detail LIKE '$.extra.scores.c: %'");
    CHECK(bad > 10, "with the field");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_quarantine WHERE typeof(json_extract("
                               "CAST(payload AS TEXT), '$.extra.scores.c')) = 'real'"),
             bad, "those that SQLite finds too large");
    CHECK(sql_number(store, STORED) > 10, "others are stored");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record AS r JOIN ing_record_content AS x"
                               " ON x.record_id = r.id JOIN " VIEW " AS v"
                               " ON v.id = r.provider_id WHERE NOT r.deleted AND v.c IS NOT"
                               " json_extract(CAST(x.payload AS TEXT), '$.extra.scores.c')"),
             0, "to the last digit");
    sim_stop(&sim);
}

TEST(a_type_that_no_record_fits_stops_the_source)
{
    const char *store = cli_sqlite("stopped");
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    struct run run;

    sim_source_apply(store, &sim, "endpoints.records.fields.title={path: $.title, type: integer}");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK(run.code != 0, "it fails");
    CHECK(cli_has(run.talk, "records of the page are bad (field.type, $.title: "), run.talk.data);
    CHECK_EQ(sql_number(store, STORED), 0, "and stores none");
    sim_stop(&sim);
}

/* A source of one endpoint with this name, with one field. */
static void apply_endpoint(const char *store, const char *name)
{
    char path[128], text[1024];
    FILE *file;

    (void)snprintf(text, sizeof(text),
                   "source: moving\n"
                   "http: { base_url: https://api.example.org }\n"
                   "window: { key: at }\n"
                   "endpoints:\n"
                   "  %s:\n"
                   "    role: search\n"
                   "    path: /works\n"
                   "    query: { from: \"${window.from}\", to: \"${window.to}\" }\n"
                   "    page: { type: single }\n"
                   "    response: { items: $.items, id: $.id, updated_at: $.at }\n"
                   "    fields: { title: { path: $.title, type: text } }\n"
                   "operations: { harvest: { endpoint: %s } }\n",
                   name, name);
    (void)snprintf(path, sizeof(path), "%s.yaml", cli_sqlite(name));
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, path);
    REQUIRE(RUN("patra", "source", "apply", path, "--store", store).code == 0, "apply");
}

TEST(views_go_with_their_endpoints)
{
    const char *store = cli_sqlite("gone");

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    apply_endpoint(store, "works");
    CHECK_EQ(sql_number(store, "SELECT count(title) FROM patra_moving_works"), 0, "made");
    apply_endpoint(store, "papers");
    CHECK_EQ(sql_number(store, "SELECT count(title) FROM patra_moving_papers"), 0, "the new one");
    CHECK_EQ(sql_number(
                 store,
                 "SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name <> 'ing_record'"),
             1, "and no other");
}

TEST(records_of_two_phases_have_one_view)
{
    const char *store = cli_sqlite("phases");
    struct sim sim = SIM_SOURCE_START("--records", "10");

    sim_source_apply_file(store, &sim, "test/data/sim-sources/generic-details.yaml",
                          "rate.burst=100");
    CHECK_EQ(sql_number(
                 store,
                 "SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name <> 'ing_record'"),
             1, "one for the records of both phases");
    CHECK_EQ(sql_number(store, "SELECT count(title) FROM patra_generic_details_list"), 0,
             "with the fields of the second");
    sim_stop(&sim);
}
