/* The JSON of a run: its members are those of the specification. */
#include "engine/execute/stats.h"

#include "base/buf.h"
#include "data/json.h"
#include "test.h"

static struct arena arena;

static struct json_doc written(const struct run_stats *stats)
{
    struct json_writer writer;
    struct json_doc doc;
    struct error err;
    struct buf out;

    buf_init(&out, &arena, 1 << 16);
    json_writer_init(&writer, &out);
    run_stats_write(stats, &writer);
    json_writer_finish(&writer);
    REQUIRE_OK(buf_ok(&out, &err), err);
    REQUIRE_OK(json_parse(&doc, &arena, buf_str(&out), &err), err);
    return doc;
}

static int64_t number(const struct json_doc *doc, const char *name)
{
    int64_t value = -1;

    CHECK(json_i64(doc, json_get(doc, json_root(doc), str_of(name)), &value), name);
    return value;
}

static bool truth(const struct json_doc *doc, const char *name)
{
    bool value = false;

    CHECK(json_bool(doc, json_get(doc, json_root(doc), str_of(name)), &value), name);
    return value;
}

TEST(a_run_that_did_nothing_has_every_member)
{
    static const char *const numbers[] = { "reqCount",      "retCount",     "inserted",
                                           "updated",       "skipped",      "failed",
                                           "retryCount",    "429Count",     "avgLatencyMs",
                                           "maxLatencyMs",  "pagesVisited", "retryAfterHits",
                                           "demoteEvents",  "waitTotalMs",  "permitsTotal",
                                           "quotaHardHits", "lateArrival" };
    struct json_doc doc;

    arena_init(&arena, 1 << 20);
    doc = written(&(struct run_stats){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        CHECK_EQ(number(&doc, numbers[i]), 0, numbers[i]);
    CHECK(!truth(&doc, "hasNextLast"), "no page, no next");
    CHECK(!truth(&doc, "rateAdjusted"), "nothing was slowed down");
    CHECK(!truth(&doc, "circuitOpen"), "no circuit was opened");
    CHECK(json_string_is(&doc, json_get(&doc, json_root(&doc), STR("remarks")),
                         STR("online-reslice-suggested:false")),
          "nothing is to be re-sliced");
    arena_release(&arena);
}

TEST(what_passed_by_itself_is_counted)
{
    const struct run_stats stats = { .requests = 9,
                                     .slowed = 2,
                                     .waits_told = 1,
                                     .waited_us = 4500000,
                                     .needs_reslice = true,
                                     .is_circuit_open = true };
    struct json_doc doc;

    arena_init(&arena, 1 << 20);
    doc = written(&stats);
    CHECK(truth(&doc, "rateAdjusted"), "slowed down");
    CHECK_EQ(number(&doc, "demoteEvents"), 2, "so often");
    CHECK_EQ(number(&doc, "retryAfterHits"), 1, "once because of Retry-After");
    CHECK_EQ(number(&doc, "waitTotalMs"), 4500, "and waited");
    CHECK(truth(&doc, "circuitOpen"), "the circuit is open");
    CHECK(json_string_is(&doc, json_get(&doc, json_root(&doc), STR("remarks")),
                         STR("online-reslice-suggested:true")),
          "to be re-sliced");
    arena_release(&arena);
}
