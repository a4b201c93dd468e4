/* Records that are stored packed, as a user sees them: as if they were not. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define PACKED "SELECT count(*) FROM ing_record_content WHERE dictionary_id IS NOT NULL"
#define PLAIN "SELECT count(*) FROM ing_record_content WHERE dictionary_id IS NULL"
/* One that is packed and has content. */
#define ONE                                                                                 \
    "SELECT r.provider_id FROM ing_record AS r JOIN ing_record_content ON record_id = r.id" \
    " WHERE dictionary_id IS NOT NULL AND NOT deleted ORDER BY r.id LIMIT 1"

/* Applies the source with this setting; fields.title has the path. */
static void apply(const char *store, const struct sim *sim, const char *packed, const char *title)
{
    char url[128], setting[128], field[128];

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim->base);
    (void)snprintf(setting, sizeof(setting), "endpoints.records.payload.packed=%s", packed);
    (void)snprintf(field, sizeof(field), "endpoints.records.fields.title=%s", title);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "test/data/sim-sources/generic-offset.yaml", "--store",
                store, "--set", url, "--set", setting, "--set", field, "--set",
                "endpoints.records.page.size=200")
                    .code == 0,
            "apply");
}

static void harvest(const char *store)
{
    CHECK_EQ(RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-01-01", "--to", "2026-04-01",
                 "--workers", "1", "--store", store)
                 .code,
             0, "harvest");
}

/* An export without the one thing in it that is the harvest's own. */
static struct str exported(struct arena *arena, const char *store)
{
    const struct run run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "--store", store);
    const struct str name = STR("\"createdAt\":\"");
    struct str rest = run.out;
    struct buf out;

    CHECK_EQ(run.code, 0, "export");
    buf_init(&out, arena, (size_t)1 << 28);
    while (rest.len > 0) {
        const size_t at = str_find(rest, name);

        buf_add(&out, str_slice(rest, 0, at));
        rest = str_slice(rest, at < rest.len ? at + name.len : rest.len, rest.len);
        rest = str_slice(rest, str_find_char(rest, '"'), rest.len);
    }
    return buf_str(&out);
}

static struct str fields(struct arena *arena, const char *store)
{
    return sql_rows(arena, store,
                    "SELECT r.provider_id, r.version, r.content_hash, f.fields FROM ing_record AS r"
                    " LEFT JOIN ing_record_fields AS f ON f.record_id = r.id"
                    " ORDER BY r.provider_id");
}

static void is_the_same(struct arena *arena, const char *store, const char *plain,
                        const struct sim *sim)
{
    const struct str id = str_trim(sql_rows(arena, store, ONE));
    char text[128];
    struct run run;

    (void)snprintf(text, sizeof(text), "%.*s", STR_ARG(id));
    CHECK(str_eq(exported(arena, store), exported(arena, plain)), "exports are equal");
    run = RUN("patra", "record", "show", SIM_SOURCE_NAME, text, "--raw", "--store", store);
    CHECK_EQ(run.code, 0, "show");
    CHECK(run.out.len > 0 && str_eq(run.out, RUN("patra", "record", "show", SIM_SOURCE_NAME, text,
                                                 "--raw", "--store", plain)
                                                 .out),
          "as received");
    CHECK_EQ(RUN("patra", "doctor", "--deep", "--store", store).code, 0, "every hash is right");
    apply(store, sim, "true", "$.type");
    apply(plain, sim, "false", "$.type");
    CHECK_EQ(RUN("patra", "rederive", SIM_SOURCE_NAME, "--store", store).code, 0, "rederive");
    CHECK_EQ(RUN("patra", "rederive", SIM_SOURCE_NAME, "--store", plain).code, 0, "rederive");
    CHECK(str_eq(fields(arena, store), fields(arena, plain)), "rederived alike");
}

/* As the doctor says: fetched again as if it had changed, with the setting switched off. */
static void is_named_and_mended(struct arena *arena, const char *store, const struct sim *sim)
{
    const struct str id = str_trim(sql_rows(arena, store, ONE));
    const int64_t packed = sql_number(store, PACKED);
    char text[128], change[512];
    struct run run;

    (void)snprintf(text, sizeof(text), "%.*s", STR_ARG(id));
    (void)snprintf(
        change, sizeof(change),
        "UPDATE ing_record_content SET payload = substr(payload, 1, 12) WHERE record_id ="
        " (SELECT id FROM ing_record_state WHERE provider_id = '%s')",
        text);
    sql_run(store, change);
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "--store", store);
    CHECK(run.code != 0 && cli_has(run.talk, text), "an export that fails, and why");
    run = RUN("patra", "doctor", "--deep", "--store", store);
    CHECK(run.code != 0, "something is wrong");
    CHECK(cli_has(run.out, text) && cli_has(run.out, "it cannot be unpacked"), "with which record");
    apply(store, sim, "false", "$.type");
    (void)snprintf(change, sizeof(change),
                   "UPDATE ing_record_state SET content_hash = substr(content_hash, 1, 0)"
                   " WHERE provider_id = '%s'",
                   text);
    sql_run(store, change);
    CHECK_EQ(RUN("patra", "backfill", SIM_SOURCE_NAME, "--from", "2026-01-01", "--to", "2026-04-01",
                 "--workers", "1", "--store", store)
                 .code,
             0, "fetched again");
    run = RUN("patra", "doctor", "--deep", "--store", store);
    CHECK_EQ(run.code, 0, "mended");
    if (run.code != 0)
        printf("%.*s", STR_ARG(run.out));
    CHECK_EQ(sql_number(store, PACKED), packed - 1, "as received now; the others stay packed");
}

static void play(const char *store, const char *plain)
{
    struct sim sim = SIM_SOURCE_START("--records", "3000");
    struct arena arena;

    arena_init(&arena, (size_t)1 << 30);
    apply(store, &sim, "true", "$.title");
    apply(plain, &sim, "false", "$.title");
    harvest(store);
    harvest(plain);
    CHECK(sql_number(store, PACKED) > 1000, "most are packed");
    CHECK(sql_number(store, PLAIN) >= 1000, "the first ones are not");
    CHECK_EQ(sql_number(plain, PACKED), 0, "without the setting none is");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_archive_dictionary"), 1,
             "by one dictionary");
    is_the_same(&arena, store, plain, &sim);
    is_named_and_mended(&arena, store, &sim);
    printf("  %lld bytes of payloads instead of %lld\n",
           (long long)sql_number(store, "SELECT sum(length(payload)) FROM ing_record_content"),
           (long long)sql_number(plain, "SELECT sum(length(payload)) FROM ing_record_content"));
    arena_release(&arena);
    sim_stop(&sim);
}

TEST(packed_records_are_read_as_they_were_received_on_sqlite)
{
    play(cli_sqlite("packed"), cli_sqlite("plain"));
}

TEST(packed_records_are_read_as_they_were_received_on_postgres)
{
    play(cli_postgres(), cli_sqlite("beside"));
}
