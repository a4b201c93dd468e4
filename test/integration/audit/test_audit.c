/* patra audit over every store: random histories of records are in a table by SQL of the test's
 * own; random differences are planted; exactly these must be named, and be gone after a repair. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "contract.h"
#include "core/lane.h"
#include "engine/audit/audit.h"
#include "port/store_parked.h"
#include "port/store_record.h"
#include "port/store_stream.h"
#include "port/store_subscription.h"
#include "rows.h"
#include "rows.h"
#include "seeded_random.h"
#include "spec/projection.h"

enum { RECORDS = 200, SQL_MAX = 1024 };

enum fate { AS_IT_IS, MISSING, STALE, REVIVED, GONE, BEHIND_STREAM, BEHIND_OFFSET, PARKED };

struct rig {
    const char *dsn;
    struct store *store;
    struct store *sink;
    struct projection_spec spec;
    struct projection_text text;
    const struct projector *projector;
    const struct sink_tables *tables;
    struct seeded_random random;
    bool erases;
    int64_t version[RECORDS]; /* the newest, as the table is to have it */
    bool is_deleted[RECORDS];
    enum fate fate[RECORDS];
    int64_t extras;
};

static const struct offset_key KEY = { { "patra", 5 }, { "shelf", 5 } };

static int64_t chance(struct rig *rig, int64_t below)
{
    return (int64_t)(random_source_u64(&rig->random.source) % (uint64_t)below);
}

static void sql(struct rig *rig, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void sql(struct rig *rig, const char *format, ...)
{
    char text[SQL_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    contract_sql(rig->dsn, text);
}

/* ---- the store ---- */

static void set_up(struct rig *rig)
{
    struct arena *arena = contract_arena();
    const struct str file =
        arena_printf(arena,
                     "projection: shelf\ntables:\n  shelf:\n    key: { type: kind, id: id }\n"
                     "    on_delete: %s\n    columns: { title: { path: $.fields.title }, year: { "
                     "type: integer, path: $.fields.year } }\n"
                     "    from: [{ aggregates: [a/works, b/works] }]\n"
                     "    children: { faces: { ordinal: n, each: '$.fields.faces[*]',"
                     " columns: { face: { path: $ } } } }\n",
                     rig->erases ? "remove" : "mark");
    struct subscription_applied applied;
    struct fault_list faults;
    struct sink_plan plan;
    struct error err = { 0 };

    rig->dsn = contract_ready_database();
    rig->store = contract_open(rig->dsn);
    rig->sink = contract_open(rig->dsn);
    sql(rig, "DROP TABLE IF EXISTS shelf"); /* the database may have been another round's */
    sql(rig, "DROP TABLE IF EXISTS shelf__gone");
    sql(rig, "DROP TABLE IF EXISTS faces");
    fault_list_init(&faults, arena);
    if (!projection_read(arena, file, &faults, &rig->spec))
        REQUIRE(fault_list_ok(&faults, &err), err.text);
    REQUIRE_OK(projection_compile(arena, &rig->spec, &rig->text, &err), err);
    REQUIRE_OK(project_compile(arena, &rig->spec, &rig->projector, &err), err);
    REQUIRE_OK(
        store_sink_set_up(rig->store, arena,
                          &(struct sink_set_up){ &rig->spec, rig->text.json, str_of(rig->text.hash),
                                                 STR("ada"), NOW_US },
                          &plan, &err),
        err);
    REQUIRE_OK(
        store_subscription_apply(rig->store,
                                 &(struct subscription_apply){ .name = STR("shelf"),
                                                               .kind = SUBSCRIPTION_PROJECTION,
                                                               .spec = rig->text.json,
                                                               .spec_hash = str_of(rig->text.hash),
                                                               .policy = POLICY_WAIT,
                                                               .applied_by = STR("ada"),
                                                               .now_us = NOW_US },
                                 &applied, &err),
        err);
    REQUIRE_OK(store_sink_tables(rig->sink, &rig->spec, SINK_LIVE, &rig->tables, &err), err);
}

static struct str type_of(int i)
{
    return i % 3 == 0 ? STR("a/works") : STR("b/works");
}

static struct str id_of(int i)
{
    return arena_printf(contract_arena(), "k%03d", i);
}

/* The next version of a record, with its event. */
static void put(struct rig *rig, int i, bool is_deleted)
{
    struct arena *arena = contract_arena();
    const struct str id = id_of(i);
    const struct record_context context = { .source = i % 3 == 0 ? STR("a") : STR("b"),
                                            .endpoint = STR("works"),
                                            .expr_hash = STR("e"),
                                            .observed_us = NOW_US,
                                            .now_us = NOW_US };
    const struct record_key key = { context.source, context.endpoint, id };
    struct stored_record stored = { 0 };
    struct record_change change;
    struct error err = { 0 };
    bool found, written;

    REQUIRE_OK(store_record_get(rig->store, arena, &key, &stored, &found, &err), err);
    change.record = (struct record_write){ .id = stored.id,
                                           .version = stored.version + 1,
                                           .provider_id = id,
                                           .provider_version = STR(""),
                                           .is_deleted = is_deleted,
                                           .observed_us = NOW_US,
                                           .content_hash = STR(HASH_B),
                                           .payload = STR("{}"),
                                           .fields = STR("") };
    change.event = (struct outbox_event){
        .event_id =
            arena_printf(arena, "%08x-0000-7000-8000-%012x", (unsigned)stored.version, (unsigned)i),
        .event_type = is_deleted ? STR("RecordDeleted") : STR("RecordUpdated"),
        .version = change.record.version,
        .schema_version = 1,
        .lane = lane_of(type_of(i), id),
        .occurred_us = NOW_US,
        .body = arena_printf(arena,
                             is_deleted ? "{\"contentHash\":\"h\"}"
                                        : "{\"contentHash\":\"h\",\"fields\":{\"title\":\"t%d\","
                                          "\"faces\":[\"f%d\",\"g\"]}}",
                             (int)change.record.version, i),
    };
    REQUIRE_OK(store_begin(rig->store, &err), err);
    REQUIRE_OK(store_record_write(rig->store, &context, &change, 1, &written, &err), err);
    REQUIRE(written, "the record");
    REQUIRE_OK(store_commit(rig->store, &err), err);
}

static void sequence(struct rig *rig)
{
    struct arena *arena = contract_arena();
    struct outbox_ref_list refs;
    struct stream_entry *entries;
    struct stream_lease lease;
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_stream_claim(rig->store,
                                  &(struct stream_claim){ STR("test"), NOW_US, NOW_US + 1 }, &lease,
                                  &held, &err),
               err);
    REQUIRE_OK(
        store_stream_scan(rig->store, arena,
                          &(struct stream_scan){ .cursor_id = lease.cursor_id, .limit = 10000 },
                          &refs, &err),
        err);
    entries = ARENA_ARRAY(arena, struct stream_entry, refs.count + 1);
    for (size_t i = 0; i < refs.count; i++)
        entries[i] = (struct stream_entry){ refs.items[i], ++lease.last_pos[refs.items[i].lane] };
    if (refs.count > 0)
        REQUIRE_OK(store_stream_append(
                       rig->store,
                       &(struct stream_append){ .epoch = lease.epoch,
                                                .now_us = NOW_US,
                                                .until_us = NOW_US + 1,
                                                .cursor_id = refs.items[refs.count - 1].id,
                                                .horizon_id = refs.items[refs.count - 1].id,
                                                .entries = entries,
                                                .count = refs.count },
                       &held, &err),
                   err);
    REQUIRE_OK(store_stream_release(rig->store, lease.epoch, &err), err);
}

/* ---- the table, by SQL ---- */

static void set_row(struct rig *rig, int i)
{
    const struct str id = id_of(i);
    const char *kind = i % 3 == 0 ? "a/works" : "b/works";

    if (rig->is_deleted[i] && rig->erases)
        sql(rig, "INSERT INTO shelf__gone (kind, id, version) VALUES ('%s', '%s', %d)", kind,
            id.data, (int)rig->version[i]);
    else if (rig->erases)
        sql(rig, "INSERT INTO shelf (kind, id, version, title) VALUES ('%s', '%s', %d, 't')", kind,
            id.data, (int)rig->version[i]);
    else
        sql(rig,
            "INSERT INTO shelf (kind, id, version, deleted, title) VALUES ('%s', '%s', %d,"
            " %s, 't')",
            kind, id.data, (int)rig->version[i], rig->is_deleted[i] ? "TRUE" : "FALSE");
}

static void fill(struct rig *rig)
{
    for (int i = 0; i < RECORDS; i++) {
        rig->version[i] = 1 + chance(rig, 3);
        rig->is_deleted[i] = rig->version[i] > 1 && chance(rig, 4) == 0;
        for (int64_t v = 1; v <= rig->version[i]; v++)
            put(rig, i, v == rig->version[i] && rig->is_deleted[i]);
        set_row(rig, i);
        rig->fate[i] = AS_IT_IS;
    }
    sequence(rig);
    sql(rig, "UPDATE ing_offset SET stream_pos = (SELECT l.last_pos FROM ing_stream_lane AS l"
             " WHERE l.lane = ing_offset.lane)");
}

/* ---- what is planted ---- */

static const char *kind_of(int i)
{
    return i % 3 == 0 ? "a/works" : "b/works";
}

static void delete_row(struct rig *rig, int i)
{
    sql(rig, "DELETE FROM shelf WHERE kind = '%s' AND id = 'k%03d'", kind_of(i), i);
    if (rig->erases)
        sql(rig, "DELETE FROM shelf__gone WHERE kind = '%s' AND id = 'k%03d'", kind_of(i), i);
}

static void park(struct rig *rig, int i)
{
    const struct parked parked = { .aggregate_type = type_of(i),
                                   .aggregate_id = id_of(i),
                                   .record_id = 1,
                                   .lane = lane_of(type_of(i), id_of(i)),
                                   .head_version = 1,
                                   .seen_version = 1,
                                   .policy = POLICY_WAIT,
                                   .next_retry_us = NOW_US,
                                   .last_error = STR("x"),
                                   .parked_us = NOW_US };
    struct error err = { 0 };

    delete_row(rig, i);
    REQUIRE_OK(store_parked_put(rig->store, &KEY, &parked, &err), err);
}

static void plant(struct rig *rig, int i, enum fate fate)
{
    switch (fate) {
    case MISSING:
        delete_row(rig, i);
        break;
    case STALE:
        if (rig->version[i] == 1)
            return;
        sql(rig, "UPDATE shelf SET version = version - 1 WHERE kind = '%s' AND id = 'k%03d'",
            kind_of(i), i);
        if (rig->erases)
            sql(rig,
                "UPDATE shelf__gone SET version = version - 1 WHERE kind = '%s' AND id = 'k%03d'",
                kind_of(i), i);
        break;
    case REVIVED:
        if (!rig->is_deleted[i])
            return;
        delete_row(rig, i);
        sql(rig,
            rig->erases ? "INSERT INTO shelf (kind, id, version) VALUES ('%s', 'k%03d', %d)"
                        : "INSERT INTO shelf (kind, id, deleted, version) VALUES ('%s', 'k%03d',"
                          " FALSE, %d)",
            kind_of(i), i, (int)rig->version[i]);
        break;
    case GONE:
        if (rig->is_deleted[i])
            return;
        delete_row(rig, i);
        sql(rig,
            rig->erases ? "INSERT INTO shelf__gone (kind, id, version) VALUES ('%s', 'k%03d', %d)"
                        : "INSERT INTO shelf (kind, id, deleted, version) VALUES ('%s', 'k%03d',"
                          " TRUE, %d)",
            kind_of(i), i, (int)rig->version[i]);
        break;
    case PARKED:
        park(rig, i);
        break;
    case BEHIND_STREAM:
    case BEHIND_OFFSET:
        put(rig, i, false);
        break;
    case AS_IT_IS:
        break;
    }
    rig->fate[i] = fate;
}

static void plant_all(struct rig *rig)
{
    static const enum fate fates[] = { MISSING, STALE, REVIVED, GONE, PARKED };

    for (int i = 0; i < RECORDS; i++) {
        if (chance(rig, 4) == 0)
            plant(rig, i, fates[chance(rig, ARRAY_LEN(fates))]);
    }
    for (int i = 0; i < RECORDS; i++) {
        if (rig->fate[i] == AS_IT_IS && chance(rig, 20) == 0)
            plant(rig, i, BEHIND_OFFSET);
    }
    sequence(rig);
    for (int i = 0; i < RECORDS; i++) {
        if (rig->fate[i] == AS_IT_IS && chance(rig, 20) == 0)
            plant(rig, i, BEHIND_STREAM);
    }
    rig->extras = 1 + chance(rig, 5);
    for (int i = 0; i < (int)rig->extras; i++)
        sql(rig, "INSERT INTO shelf (kind, id, version%s) VALUES ('%s', 'x%d', 1%s)",
            rig->erases ? "" : ", deleted", i % 2 == 0 ? "a/works" : "c/other", i,
            rig->erases ? "" : ", FALSE");
}

/* ---- what is found ---- */

static struct audit_request request_of(struct rig *rig)
{
    return (struct audit_request){ .store = rig->store,
                                   .sink = rig->sink,
                                   .offsets = rig->sink,
                                   .spec = &rig->spec,
                                   .tables = rig->tables,
                                   .key = KEY };
}

static struct audit_result audit(struct rig *rig)
{
    const struct audit_request request = request_of(rig);
    struct audit_result result;
    struct error err = { 0 };

    REQUIRE_OK(audit_projection(&request, contract_arena(), &result, &err), err);
    return result;
}

static bool is_kind_of(enum audit_kind kind, enum fate fate)
{
    return fate == MISSING   ? kind == AUDIT_MISSING
           : fate == STALE   ? kind == AUDIT_STALE
           : fate == REVIVED ? kind == AUDIT_REVIVED
           : fate == GONE    ? kind == AUDIT_EXTRA
                             : false;
}

/* Every planted difference is named once, by its kind, and nothing else is. */
static void check_named(struct rig *rig, const struct audit_result *result)
{
    int64_t planted = rig->extras, behind = 0, extras = 0;

    for (int i = 0; i < RECORDS; i++) {
        planted += rig->fate[i] == MISSING || rig->fate[i] == STALE || rig->fate[i] == REVIVED ||
                   rig->fate[i] == GONE;
        behind += rig->fate[i] == PARKED || rig->fate[i] == BEHIND_OFFSET ||
                  rig->fate[i] == BEHIND_STREAM;
    }
    CHECK_EQ((int64_t)result->differences.count, planted, "as many as were planted");
    CHECK_EQ(result->behind, behind, "what is under way is told apart");
    for (size_t i = 0; i < result->differences.count; i++) {
        const struct audit_difference *difference = &result->differences.items[i];
        const struct str id = difference->key.aggregate_id;
        int64_t number;

        if (id.data[0] == 'x') {
            CHECK_EQ((int)difference->kind, AUDIT_EXTRA, "not a record");
            extras++;
            continue;
        }
        REQUIRE(str_to_i64(str_slice(id, 1, id.len), &number), "a number");
        CHECK(is_kind_of(difference->kind, rig->fate[number]), "by its kind");
        CHECK_STR(difference->key.aggregate_type, type_of((int)number), "its type");
    }
    CHECK_EQ(extras, rig->extras, "all that are no records");
}

/* What is not under way is as its record. */
static void check_table(struct rig *rig)
{
    for (int i = 0; i < RECORDS; i++) {
        const struct sink_key key = { type_of(i), id_of(i) };
        struct sink_seen seen = { 0 };
        struct error err = { 0 };
        bool found;

        if (rig->fate[i] >= BEHIND_STREAM)
            continue;
        REQUIRE_OK(store_sink_row(rig->sink, rig->tables, 0, &key, &seen, &found, &err), err);
        CHECK(found && seen.version == rig->version[i] && seen.is_gone == rig->is_deleted[i],
              "as its record");
    }
}

static void check_round(uint64_t seed, bool erases)
{
    struct rig rig = { .erases = erases };
    struct audit_request request;
    struct audit_result result;
    struct error err = { 0 };
    size_t before = test_failures();

    seeded_random_init(&rig.random, seed);
    set_up(&rig);
    fill(&rig);
    request = request_of(&rig);
    result = audit(&rig);
    CHECK_EQ((int64_t)result.differences.count, 0, "nothing differs");
    CHECK_EQ(result.keys, RECORDS, "all of them");
    CHECK_EQ(result.buckets, 0, "no bucket differs");
    plant_all(&rig);
    result = audit(&rig);
    check_named(&rig, &result);
    REQUIRE_OK(audit_repair(&request, rig.projector, contract_arena(), &result.differences, &err),
               err);
    for (size_t i = 0; i < result.differences.count; i++)
        CHECK(result.differences.items[i].is_repaired, "repaired");
    check_table(&rig);
    result = audit(&rig);
    CHECK_EQ((int64_t)result.differences.count, 0, "nothing differs any more");
    store_close(rig.sink);
    store_close(rig.store);
    if (test_failures() > before)
        printf("  seed %llu, %s\n", (unsigned long long)seed, erases ? "erase" : "mark");
}

TEST(planted_differences_are_named_and_repaired_and_nothing_else)
{
    const int rounds = contract_rounds(2);

    for (int i = 0; i < rounds; i++) {
        check_round((uint64_t)(2 * i), false);
        check_round((uint64_t)(2 * i + 1), true);
    }
    contract_end();
}

/* An event that was removed cannot be delivered again. */
TEST(a_key_without_its_event_is_told)
{
    struct rig rig = { 0 };
    struct audit_request request;
    struct audit_result result;
    struct error err = { 0 };

    seeded_random_init(&rig.random, 7);
    set_up(&rig);
    put(&rig, 1, false);
    sql(&rig, "DELETE FROM ing_outbox");
    request = request_of(&rig);
    result = audit(&rig);
    REQUIRE(result.differences.count == 1, "missing");
    REQUIRE_OK(audit_repair(&request, rig.projector, contract_arena(), &result.differences, &err),
               err);
    CHECK(result.differences.items[0].is_event_gone, "told");
    CHECK(!result.differences.items[0].is_repaired, "not repaired");
    store_close(rig.sink);
    store_close(rig.store);
    contract_end();
}

/* An event that does not fit the table stays a difference, and the others are repaired. */
TEST(an_event_that_does_not_fit_is_left)
{
    struct rig rig = { 0 };
    struct audit_request request;
    struct audit_result result;
    struct error err = { 0 };

    seeded_random_init(&rig.random, 7);
    set_up(&rig);
    put(&rig, 1, false);
    put(&rig, 2, false);
    sequence(&rig);
    sql(&rig, "UPDATE ing_outbox SET body = %s WHERE id = (SELECT min(id) FROM ing_outbox)",
        strncmp(rig.dsn, "postgres", 8) != 0 ? "CAST('{\"fields\":{\"year\":\"soon\"}}' AS BLOB)"
                                             : "'{\"fields\":{\"year\":\"soon\"}}'::bytea");
    sql(&rig, "UPDATE ing_offset SET stream_pos = (SELECT l.last_pos FROM ing_stream_lane AS l"
              " WHERE l.lane = ing_offset.lane)");
    request = request_of(&rig);
    result = audit(&rig);
    REQUIRE(result.differences.count == 2, "both are missing");
    REQUIRE_OK(audit_repair(&request, rig.projector, contract_arena(), &result.differences, &err),
               err);
    CHECK(!result.differences.items[0].is_repaired, "left");
    CHECK(result.differences.items[0].refused.len > 0, "with the reason");
    CHECK(result.differences.items[1].is_repaired, "the other one");
    result = audit(&rig);
    CHECK_EQ((int64_t)result.differences.count, 1, "one is left");
    store_close(rig.sink);
    store_close(rig.store);
    contract_end();
}
