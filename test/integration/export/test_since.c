/* Exports since a token, over every store: whatever commits when, the last line of each id is what
 * the store holds. The truth is read by SQL of the test's own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/system/system.h"
#include "base/instant.h"
#include "contract.h"
#include "data/json.h"
#include "engine/export/export.h"
#include "port/store_record.h"
#include "random.h"
#include "rows.h"

enum { WRITERS = 4, KEYS = 40, CHANGES_MAX = 8, TRANSACTIONS = 120, HISTORIES = 3 };

/* ---- what was exported ---- */

struct line { /* the last one of an id */
    int64_t version;
    bool is_deleted;
    int64_t content;
};

struct seen {
    struct line lines[WRITERS][KEYS];
    int64_t count; /* of all lines */
};

struct memory_sink {
    struct byte_sink sink; /* first */
    struct buf bytes;
};

static bool memory_write(struct byte_sink *sink, struct str bytes, struct error *err)
{
    struct memory_sink *memory = (struct memory_sink *)sink;

    buf_add(&memory->bytes, bytes);
    return buf_ok(&memory->bytes, err);
}

static void take_line(struct seen *seen, struct arena *arena, struct str text)
{
    struct error err = { 0 };
    struct json_doc doc;
    struct json_node root;
    struct line line = { 0 };
    struct str id;
    int writer, key;

    REQUIRE_OK(json_parse(&doc, arena, text, &err), err);
    root = json_root(&doc);
    REQUIRE_OK(json_string(&doc, json_get(&doc, root, STR("id")), arena, &id, &err), err);
    REQUIRE(sscanf(arena_copy(arena, id).data, "w%d-%d", &writer, &key) == 2, "an id of ours");
    REQUIRE(json_i64(&doc, json_get(&doc, root, STR("version")), &line.version), "a version");
    REQUIRE(json_bool(&doc, json_get(&doc, root, STR("deleted")), &line.is_deleted), "deleted");
    if (!json_i64(&doc, json_get(&doc, json_get(&doc, root, STR("payload")), STR("n")),
                  &line.content))
        CHECK(line.is_deleted, "what is not deleted has a payload");
    seen->lines[writer][key] = line;
    seen->count++;
}

/* One export; its lines go to `seen`. Returns the next token, in `tokens`. */
struct asked {
    struct store *store;
    struct str since;
    int64_t wait_us;
};

static struct export_result run_export(const struct asked *asked, struct seen *seen,
                                       struct arena *tokens)
{
    struct clock clock = system_clock();
    struct memory_sink memory = { .sink = { .write = memory_write } };
    const struct export_request request = { .store = asked->store,
                                            .clock = &clock,
                                            .format = &EXPORT_JSONL,
                                            .walk = { .source = STR("crossref") },
                                            .with_token = true,
                                            .wait_us = asked->wait_us,
                                            .since = asked->since,
                                            .sink = &memory.sink };
    struct export_result result;
    struct error err = { 0 };
    struct arena arena;
    struct str rest;

    arena_init(&arena, (size_t)256 << 20);
    buf_init(&memory.bytes, &arena, (size_t)64 << 20);
    REQUIRE_OK(export_run(&arena, &request, &result, &err), err);
    rest = buf_str(&memory.bytes);
    while (rest.len > 0)
        take_line(seen, &arena, str_cut(&rest, '\n'));
    result.token = arena_copy(tokens, result.token);
    arena_release(&arena);
    return result;
}

/* ---- the truth ---- */

static void compare(const char *dsn, const struct seen *seen, const char *label)
{
    const bool is_postgres = strncmp(dsn, "postgresql:", 11) == 0;
    const char *payload =
        is_postgres ? "convert_from(c.payload, 'UTF8')" : "CAST(c.payload AS TEXT)";
    const size_t before = test_failures();
    struct arena arena;
    struct buf sql;

    arena_init(&arena, (size_t)64 << 20);
    buf_init(&sql, &arena, (size_t)32 << 20);
    buf_add(&sql, STR("CREATE TABLE seen (id text, version bigint, deleted bigint, payload text);"
                      "CREATE TABLE zero (n bigint CHECK (n = 0));"));
    for (int w = 0; w < WRITERS; w++) {
        for (int k = 0; k < KEYS; k++) {
            const struct line *line = &seen->lines[w][k];

            if (line->version > 0)
                buf_printf(&sql,
                           "INSERT INTO seen VALUES ('w%d-%03d', %" PRId64 ", %d, '{\"n\":%" PRId64
                           "}');",
                           w, k, line->version, line->is_deleted, line->content);
        }
    }
    /* What was never exported and is deleted by now need not be in any export. */
    buf_printf(&sql,
               "INSERT INTO zero SELECT count(*) FROM ing_record r"
               " JOIN ing_record_content c ON c.record_id = r.id LEFT JOIN seen s"
               " ON s.id = r.provider_id WHERE NOT (s.id IS NULL AND r.deleted)"
               " AND (s.id IS NULL OR s.version <> r.version"
               "  OR s.deleted <> CASE WHEN r.deleted THEN 1 ELSE 0 END"
               "  OR (NOT r.deleted AND s.payload <> %s));"
               "INSERT INTO zero SELECT count(*) FROM seen s LEFT JOIN ing_record r"
               " ON s.id = r.provider_id WHERE r.id IS NULL;"
               "DROP TABLE seen; DROP TABLE zero",
               payload);
    buf_add_char(&sql, '\0');
    REQUIRE(!sql.failed, "memory");
    contract_sql(dsn, sql.data);
    CHECK(test_failures() == before, label);
    arena_release(&arena);
}

/* ---- writers ---- */

struct writer {
    pthread_t thread;
    int number;
    struct store *store;
    struct random random;
    struct arena arena;
    int64_t rows[KEYS]; /* 0: not stored */
    int64_t versions[KEYS];
    int64_t events; /* that it has named */
    atomic_int *running;
    bool failed;
    struct error err;
};

static struct record_context context_of(void)
{
    return (struct record_context){ .source = STR("crossref"),
                                    .endpoint = STR("works"),
                                    .expr_hash = STR(HASH_A),
                                    .observed_us = NOW_US,
                                    .now_us = NOW_US };
}

static struct record_change change_of(struct writer *w, int key)
{
    struct record_change change = { 0 };

    change.record = (struct record_write){
        .id = w->rows[key],
        .version = w->versions[key] + 1,
        .provider_id = arena_printf(&w->arena, "w%d-%03d", w->number, key),
        .is_deleted = w->rows[key] != 0 && random_chance(&w->random, 20),
        .observed_us = NOW_US,
        .content_hash = STR(HASH_B),
        .payload =
            arena_printf(&w->arena, "{\"n\":%" PRId64 "}", random_between(&w->random, 0, 1000000)),
    };
    change.event = (struct outbox_event){
        .event_id = arena_printf(&w->arena, "%08x-0000-7000-8000-%012x", (unsigned)w->number,
                                 (unsigned)++w->events),
        .event_type = STR("RecordUpdated"),
        .version = change.record.version,
        .schema_version = 1,
        .occurred_us = NOW_US,
        .body = STR("{}"),
    };
    return change;
}

static int by_row(const void *a, const void *b)
{
    const struct record_change *x = a, *y = b;

    return x->record.id < y->record.id ? -1 : x->record.id > y->record.id;
}

/* Some keys, each once: all new or all stored, in the order that a write demands. */
static size_t choose(struct writer *w, struct record_change *changes, int *keys)
{
    const bool are_new = random_chance(&w->random, 40);
    size_t count = 0;

    for (int key = 0; key < KEYS && count < CHANGES_MAX; key++) {
        if ((w->rows[key] == 0) == are_new && random_chance(&w->random, 30)) {
            keys[count] = key;
            changes[count++] = change_of(w, key);
        }
    }
    if (!are_new)
        qsort(changes, count, sizeof(*changes), by_row);
    return count;
}

/* Looks the rows up, which gives others time to commit before this one does. */
static bool look_up(struct writer *w, const int *keys, size_t count, struct record_state *states)
{
    const struct record_context context = context_of();
    const int64_t times = random_between(&w->random, 1, 15);
    struct str ids[CHANGES_MAX];

    for (size_t i = 0; i < count; i++)
        ids[i] = arena_printf(&w->arena, "w%d-%03d", w->number, keys[i]);
    for (int64_t i = 0; i < times; i++) {
        if (!store_record_check(w->store, &w->arena, &context, (struct record_ids){ ids, count },
                                states, &w->err))
            return false;
    }
    return true;
}

static bool one_transaction(struct writer *w)
{
    const struct record_context context = context_of();
    struct record_change changes[CHANGES_MAX];
    struct record_state states[CHANGES_MAX];
    int keys[CHANGES_MAX];
    size_t count;
    bool written;

    arena_reset(&w->arena);
    count = choose(w, changes, keys);
    if (count == 0)
        return true;
    if (!store_begin(w->store, &w->err) ||
        !store_record_write(w->store, &context, changes, count, &written, &w->err) ||
        !look_up(w, keys, count, states))
        return false;
    if (random_chance(&w->random, 10)) {
        store_rollback(w->store);
        return true;
    }
    if (!store_commit(w->store, &w->err))
        return false;
    for (size_t i = 0; i < count; i++) {
        w->rows[keys[i]] = states[i].id;
        w->versions[keys[i]] = states[i].version;
    }
    return written;
}

static void *write_all(void *arg)
{
    struct writer *w = arg;

    for (int i = 0; i < TRANSACTIONS && !w->failed; i++)
        w->failed = !one_transaction(w);
    atomic_fetch_sub(w->running, 1);
    return NULL;
}

static void start_writers(struct writer *writers, const char *dsn, uint64_t seed,
                          atomic_int *running)
{
    atomic_init(running, WRITERS);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .number = i,
                                      .store = contract_open(dsn),
                                      .random = { seed * WRITERS + (uint64_t)i },
                                      .running = running };
        arena_init(&writers[i].arena, (size_t)64 << 20);
        REQUIRE(pthread_create(&writers[i].thread, NULL, write_all, &writers[i]) == 0, "a thread");
    }
}

static void join_writers(struct writer *writers)
{
    for (int i = 0; i < WRITERS; i++) {
        REQUIRE(pthread_join(writers[i].thread, NULL) == 0, "join");
        REQUIRE(!writers[i].failed, writers[i].err.text);
        store_close(writers[i].store);
        arena_release(&writers[i].arena);
    }
}

/* ---- tests ---- */

static void one_history(uint64_t seed)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct random random = { seed };
    struct writer writers[WRITERS];
    struct asked asked = { .store = store };
    struct seen seen = { 0 };
    struct arena tokens;
    atomic_int running;
    int64_t exports = 0;
    char label[64];

    arena_init(&tokens, (size_t)16 << 20);
    start_writers(writers, dsn, seed, &running);
    do {
        /* Whether it waits for those who write, or not: nothing may be lost. */
        asked.wait_us = random_chance(&random, 50) ? 0 : 10 * US_PER_SECOND;
        asked.since = run_export(&asked, &seen, &tokens).token;
        exports++;
    } while (atomic_load(&running) > 0);
    join_writers(writers);
    (void)run_export(&asked, &seen, &tokens);
    (void)snprintf(label, sizeof(label), "seed %" PRIu64 ", %" PRId64 " exports, %" PRId64 " lines",
                   seed, exports, seen.count);
    compare(dsn, &seen, label);
    CHECK(exports > 2, "exports ran while others wrote");
    store_close(store);
    arena_release(&tokens);
}

TEST(the_last_line_of_each_id_is_what_the_store_holds)
{
    const struct random_seeds seeds = random_seeds((uint64_t)test_rounds(HISTORIES));

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++)
        one_history(seed);
    contract_end();
}

/* A writer that has drawn its event's number and commits after the export: only a store that has
 * several writers at once can have one. */
TEST(an_event_that_commits_late_is_in_the_next_export)
{
    const char *dsn = contract_migrated(contract_new_database());
    const bool is_postgres = strncmp(dsn, "postgresql:", 11) == 0;
    struct writer early = { .number = 0 }, late = { .number = 1 };
    const struct record_context context = context_of();
    struct asked asked = { 0 };
    struct seen seen = { 0 };
    struct export_result result;
    struct record_change change;
    struct error err = { 0 };
    struct arena tokens;
    bool written;

    if (!is_postgres)
        TEST_SKIP("one writer at a time: events commit in the order of their numbers");
    early.store = contract_open(dsn);
    late.store = contract_open(dsn);
    asked.store = contract_open(dsn);
    arena_init(&tokens, 1 << 20);
    arena_init(&early.arena, 1 << 20);
    arena_init(&late.arena, 1 << 20);
    change = change_of(&early, 6); /* the first of an endpoint adds a row for it, too */
    REQUIRE_OK(store_begin(early.store, &err), err);
    REQUIRE_OK(store_record_write(early.store, &context, &change, 1, &written, &err), err);
    REQUIRE_OK(store_commit(early.store, &err), err);
    asked.since = run_export(&asked, &seen, &tokens).token;
    change = change_of(&late, 7);
    REQUIRE_OK(store_begin(late.store, &err), err);
    REQUIRE_OK(store_record_write(late.store, &context, &change, 1, &written, &err), err);
    change = change_of(&early, 7);
    REQUIRE_OK(store_begin(early.store, &err), err);
    REQUIRE_OK(store_record_write(early.store, &context, &change, 1, &written, &err), err);
    REQUIRE_OK(store_commit(early.store, &err), err);

    result = run_export(&asked, &seen, &tokens);
    CHECK(!result.is_settled, "somebody writes");
    CHECK_EQ(result.records, 1, "what is committed");
    CHECK_STR(result.token, asked.since, "the token stays");
    REQUIRE_OK(store_commit(late.store, &err), err);
    asked.since = result.token;
    result = run_export(&asked, &seen, &tokens);
    CHECK(result.is_settled, "nobody writes");
    CHECK_EQ(result.records, 2, "the late one, and the other once more");
    compare(dsn, &seen, "both");
    asked.since = result.token;
    CHECK_EQ(run_export(&asked, &seen, &tokens).records, 0, "nothing is left");
    store_close(early.store);
    store_close(late.store);
    store_close(asked.store);
    arena_release(&early.arena);
    arena_release(&late.arena);
    arena_release(&tokens);
    contract_end();
}

/* A token that is ahead of the store is of a store that was set back. */
TEST(a_token_of_another_state_or_store_is_refused)
{
    static const struct {
        const char *since;
        const char *reason;
    } cases[] = {
        { "v1/%s/crossref//5", "older copy" },
        { "v1/%s/pubmed//0", "belongs to the source \"pubmed\"" },
        { "v1/%s/crossref/works/0", "the endpoint \"works\", not of all endpoints" },
        { "v1/00000000000000000000000000000000/crossref//0", "another store" },
        { "v2/%s/crossref//0", "not a token" },
        { "v1/%s/crossref//-1", "not a token" },
        { "v1/%s/crossref/0", "not a token" },
        { "0", "not a token" },
    };
    struct store *store = contract_store();
    struct clock clock = system_clock();
    struct memory_sink memory = { .sink = { .write = memory_write } };
    struct export_request request = { .store = store,
                                      .clock = &clock,
                                      .format = &EXPORT_JSONL,
                                      .walk = { .source = STR("crossref") },
                                      .with_token = true,
                                      .sink = &memory.sink };
    struct export_result result;
    struct error err = { 0 };
    char token[128];
    struct str identity;

    REQUIRE_OK(store_identity(store, contract_arena(), &identity, &err), err);
    buf_init(&memory.bytes, contract_arena(), 1024);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *hole = strstr(cases[i].since, "%s");

        if (hole == NULL)
            (void)snprintf(token, sizeof(token), "%s", cases[i].since);
        else
            (void)snprintf(token, sizeof(token), "%.*s%.*s%s", (int)(hole - cases[i].since),
                           cases[i].since, STR_ARG(identity), hole + 2);
        request.since = str_of(token);
        CHECK(!export_run(contract_arena(), &request, &result, &err), token);
        CHECK(strstr(err.text, cases[i].reason) != NULL, err.text);
        CHECK(strcmp(err.code, "export.token") == 0, err.code);
    }
    contract_end();
}

/* ---- events that were removed ---- */

struct removing {
    struct export_listener listener; /* first */
    const char *dsn;
};

static void remove_meanwhile(struct export_listener *listener, const struct export_result *so_far)
{
    (void)so_far;
    contract_sql(
        ((struct removing *)listener)->dsn,
        "UPDATE ing_stream_head SET cursor_id = 1000, horizon_id = 1000, pruned_id = 1000");
}

static bool export_since(struct store *store, struct str since, struct export_listener *listener,
                         struct error *err)
{
    struct clock clock = system_clock();
    struct memory_sink memory = { .sink = { .write = memory_write } };
    const struct export_request request = { .store = store,
                                            .clock = &clock,
                                            .format = &EXPORT_JSONL,
                                            .walk = { .source = STR("crossref") },
                                            .with_token = true,
                                            .since = since,
                                            .sink = &memory.sink,
                                            .listener = listener };
    struct export_result result;

    buf_init(&memory.bytes, contract_arena(), (size_t)1 << 20);
    return export_run(contract_arena(), &request, &result, err);
}

TEST(a_token_from_before_removed_events_is_refused)
{
    const char *dsn = contract_ready_database();
    struct removing removing = { { remove_meanwhile }, dsn };
    struct store *store = contract_open(dsn);
    struct writer writer = { .number = 0, .store = store };
    const struct record_context context = context_of();
    struct asked asked = { .store = store };
    struct seen seen = { 0 };
    struct record_change change;
    struct error err = { 0 };
    struct str token;
    bool written;

    arena_init(&writer.arena, 1 << 20);
    change = change_of(&writer, 1);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_write(store, &context, &change, 1, &written, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    token = run_export(&asked, &seen, contract_arena()).token;
    REQUIRE_OK(export_since(store, token, NULL, &err), err);
    CHECK(!export_since(store, token, &removing.listener, &err), "removed while it ran");
    CHECK_STR(str_of(err.code), STR("export.token"), err.text);
    CHECK(!export_since(store, token, NULL, &err), "removed before");
    CHECK(strstr(err.text, "the token is too old") != NULL, err.text);
    CHECK_EQ(err.level, ERROR_REQUEST, "no use to try again");
    contract_sql(dsn, "UPDATE ing_stream_head SET pruned_id = 0");
    REQUIRE_OK(export_since(store, token, NULL, &err), err);
    arena_release(&writer.arena);
    store_close(store);
    contract_end();
}
