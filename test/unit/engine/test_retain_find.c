/* A batch in a file of retention: found whatever the pieces, and only in the file that was noted.
 */
#include "engine/retain/find.h"

#include <string.h>

#include "test.h"

#define ROW(id, run, number, status)                                                              \
    "{\"kind\":\"BATCH\",\"id\":" id ",\"runId\":" run                                            \
    ",\"createdAt\":\"2026-02-01T00:00:00.5Z\",\"taskId\":3,\"sliceId\":4,\"planId\":5,"          \
    "\"batchNumber\":" number ",\"status\":\"" status                                             \
    "\",\"exprHash\":\"e1\",\"bodyHash\":\"b1\","                                                 \
    "\"request\":{\"runId\":31,\"url\":\"x\"},\"response\":{\"status\":200},\"stats\":{\"n\":" id \
    "}}\n"

static const char LINES[] = ROW("100", "31", "1", "SUCCEEDED") ROW("101", "30", "2", "SUCCEEDED")
    ROW("102", "31", "2", "FAILED") ROW("103", "31", "3", "SUCCEEDED");

static struct arena arena;

static bool look(struct retain_find *find, const char *lines, size_t piece, int64_t number,
                 struct error *err)
{
    const struct str text = str_of(lines);
    char hex[HASH_HEX_MAX];
    struct retained_file file = { .path = STR("old.jsonl"), .sha256 = { hex, HASH_HEX_MAX - 1 } };
    struct hash_sum sum;
    bool ok = true;

    REQUIRE_OK(hash_of(str_of(LINES), &sum, err), *err);
    hash_hex(&sum, hex);
    retain_find_init(find, &arena, &file, 31, number);
    for (size_t at = 0; ok && at < text.len; at += piece)
        ok = byte_sink_write(&find->sink, str_slice(text, at, at + piece), err);
    ok = ok && byte_sink_end(&find->sink, err);
    byte_sink_close(&find->sink);
    return ok;
}

TEST(a_batch_is_found_by_its_run_and_number)
{
    static const size_t pieces[] = { 1, 7, 1000, sizeof(LINES) };
    struct retain_find find;
    struct error err;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        REQUIRE_OK(look(&find, LINES, pieces[i], 1, &err), err);
        REQUIRE(find.has_batch, "found");
        CHECK_EQ(find.batch.id, 100, "that one");
        CHECK_EQ(find.batch.task_id, 3, "its task");
        CHECK_EQ(find.batch.created_us, INT64_C(1769904000500000), "its time");
        CHECK_STR(find.batch.request_digest, STR("{\"runId\":31,\"url\":\"x\"}"), "its request");
        CHECK_STR(find.batch.stats, STR("{\"n\":100}"), "its numbers");
        CHECK_STR(find.batch.evidence.body_hash, STR("b1"), "its response");
    }
    REQUIRE_OK(look(&find, LINES, 1000, 9, &err), err);
    CHECK(!find.has_batch, "none has this number");
    arena_release(&arena);
}

TEST(of_a_run_it_is_the_one_that_failed)
{
    struct retain_find find;
    struct error err;

    arena_init(&arena, 1 << 20);
    REQUIRE_OK(look(&find, LINES, 1000, 0, &err), err);
    CHECK_EQ(find.batch.id, 102, "before the last one");
    arena_release(&arena);
}

TEST(a_file_that_was_changed_is_refused)
{
    static const char *const changed[] = {
        ROW("100", "31", "1", "SUCCEEDED"),
        "",
        "{\"kind\":\"BATCH\",\"runId\":31,\"batchNumber\":1}\n",
        "{\"runId\":31,\n",
    };
    struct retain_find find;
    struct error err;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(changed); i++)
        CHECK(!look(&find, changed[i], 1000, 1, &err), changed[i]);
    arena_release(&arena);
}
