/* Slices above a cap are re-sliced until they fit; slices that cannot be finished end PARTIAL with
 * a reason. */
#include <string.h>

#include "contract.h"
#include "data/json.h"
#include "harvest.h"
#include "test.h"

#define DAY "2026-02-15T00:00:00Z"
#define NEXT_DAY "2026-02-16T00:00:00Z"

enum { HITS = 50000, CAP = 9999 };

static struct stage stage;

static const struct sim_shape *shape_of(const char *name)
{
    for (size_t i = 0; i < SIM_SHAPES; i++) {
        if (strcmp(sim_shapes[i].name, name) == 0)
            return &sim_shapes[i];
    }
    REQUIRE(false, name);
    return NULL;
}

#define BIG_DAY \
    "--records", "52500", "--big-day", DAY, "--big-day-records", "52000", "--updates-max", "0"

static void open_big_day(void)
{
    static const char *const options[] = { BIG_DAY, "--audit-off", "repeat", NULL };

    stage_open(&stage, options);
}

static void note(const struct harvest *h)
{
    test_note("%s: %lld requests, %lld slices SUCCEEDED, %lld PARTIAL, %lld FAILED %s",
              h->shape->name, (long long)h->counts.requests,
              (long long)h->counts.tasks[TASK_SUCCEEDED], (long long)h->counts.tasks[TASK_PARTIAL],
              (long long)h->counts.tasks[TASK_FAILED], h->counts.reason);
}

TEST(a_day_of_50000_above_a_cap_of_9999_is_harvested_whole)
{
    static const struct edit edits[] = {
        { STR_INIT("endpoints.records.page.size"), STR_INIT("1000") },
        { STR_INIT("endpoints.records.page.cap"), STR_INIT("9999") },
    };
    const struct edit_list more = { edits, ARRAY_LEN(edits) };
    struct harvest h;
    const char *wrong;

    open_big_day();
    harvest_open(&h, &stage, contract_ready_database(), shape_of("offset"), &more);
    harvest_between(&h, DAY, NEXT_DAY);
    harvest_fire(&h, "harvest");
    REQUIRE(harvest_drain(&h), "it comes to rest");
    note(&h);
    CHECK_EQ(h.counts.tasks[TASK_FAILED], 0, "none failed");
    CHECK(h.counts.tasks[TASK_SUCCEEDED] > HITS / CAP, "no slice holds more than the cap");
    CHECK_EQ(harvest_cursor_us(&h), h.window.to_us, "the cursor is at the day's end");
    CHECK(h.counts.records >= HITS, "all of them came");
    wrong = harvest_verify(&h);
    CHECK(wrong == NULL, wrong);
    harvest_close(&h);
    stage_close(&stage);
}

/* PubMed's dates are days: the day is cut by ids. Requests carry the time of the
 * clock that leaps, so that the audit can see how fast they were. */
#define PUBMED_EDITS                                                     \
    { STR_INIT("http.read_timeout"), STR_INIT("10s") },                  \
        { STR_INIT("endpoints.search.page.size"), STR_INIT("5000") },    \
    {                                                                    \
        STR_INIT("endpoints.fetch.batch.id_batch_size"), STR_INIT("200") \
    }

/* Of the tasks that succeeded: none has the day as a whole, and together they have all ids. */
static void check_parts(struct harvest *h)
{
    const struct task_list done = harvest_tasks(h, TASK_SUCCEEDED);
    struct id_part_list parts = { ARENA_ARRAY(&h->arena, struct id_part, done.count), done.count };
    struct window_list whole = { 0 };
    struct error err = { 0 };

    REQUIRE(parts.items != NULL && done.count > 0, "parts");
    for (size_t i = 0; i < done.count; i++) {
        CHECK(id_range_is_valid(done.items[i].ids), "a part");
        parts.items[i] = (struct id_part){ done.items[i].window, done.items[i].ids };
    }
    id_parts_sort(parts);
    for (size_t i = 1; i < parts.count; i++)
        CHECK_EQ(parts.items[i].ids.from, parts.items[i - 1].ids.to, "no id in two, or in none");
    REQUIRE_OK(id_parts_whole(&h->arena, parts, &whole, &err), err);
    CHECK_EQ(whole.count, 1, "the day");
}

/* How many rules of politeness were broken, and how often. */
static int64_t audit(struct harvest *h)
{
    const struct str reply = sim_ask(stage.http, &h->arena, &stage.sim, "GET", "/_sim/audit", NULL);
    struct json_doc doc;
    struct json_iter it;
    struct error err = { 0 };
    int64_t broken = 0, times;

    REQUIRE_OK(json_parse(&doc, &h->arena, reply, &err), err);
    for (it = json_each(&doc, json_get(&doc, json_get(&doc, json_root(&doc), STR("summary")),
                                       STR("violations")));
         json_next(&it);) {
        REQUIRE(json_i64(&doc, it.value, &times), "a number");
        broken += times;
    }
    if (broken > 0)
        test_note("%.*s", (int)(reply.len < 3000 ? reply.len : 3000), reply.data);
    return broken;
}

TEST(a_day_of_pubmed_above_its_cap_is_harvested_whole_by_ids)
{
    static const char *const options[] = { BIG_DAY, "--limit",
                                           "path=/entrez rate=3 burst=1 concurrency=2 slack=1ms",
                                           NULL };
    static const struct edit edits[] = {
        PUBMED_EDITS,
        { STR_INIT("rate.per_second"), STR_INIT("3") },
        { STR_INIT("rate.burst"), STR_INIT("1") },
        { STR_INIT("http.headers.X-Sim-Now"),
          STR_INIT("${formatDateTime(now(), \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'\")}") },
    };
    const struct edit_list more = { edits, ARRAY_LEN(edits) };
    struct harvest h;
    const char *wrong;

    stage_open(&stage, options);
    stage_still(&stage);
    harvest_open(&h, &stage, contract_ready_database(), shape_of("pubmed"), &more);
    harvest_between(&h, DAY, NEXT_DAY);
    harvest_fire(&h, "harvest");
    REQUIRE(harvest_drain(&h), "it comes to rest");
    note(&h);
    CHECK_EQ(h.counts.tasks[TASK_FAILED], 0, "none failed");
    CHECK(h.counts.records >= HITS, "all of them came");
    CHECK(h.counts.requests < HITS / 200 + 200, "few requests were for the cutting");
    check_parts(&h);
    CHECK_EQ(audit(&h), 0, "politely");
    CHECK_EQ(harvest_cursor_us(&h), h.window.to_us, "the cursor is at the day's end");
    wrong = harvest_verify(&h);
    CHECK(wrong == NULL, wrong);
    harvest_close(&h);
    stage_close(&stage);
}

/* The same source without its range of ids: what is above the cap is out of reach, and
 * reported. */
TEST(a_day_that_cannot_be_re_sliced_is_partial_with_a_reason)
{
    static const struct edit edits[] = {
        PUBMED_EDITS,
        { STR_INIT("endpoints.search.page.id_max"), STR_INIT("") },
        { STR_INIT("endpoints.search.page.id_min"), STR_INIT("") },
    };
    const struct edit_list more = { edits, ARRAY_LEN(edits) };
    struct harvest h;

    open_big_day();
    harvest_open(&h, &stage, contract_ready_database(), shape_of("pubmed"), &more);
    harvest_between(&h, DAY, NEXT_DAY);
    harvest_fire(&h, "harvest");
    REQUIRE(harvest_drain(&h), "it comes to rest");
    note(&h);
    CHECK_EQ(harvest_tasks(&h, TASK_SUCCEEDED).count, 0, "nothing is shown as done");
    CHECK_EQ(harvest_tasks(&h, TASK_PARTIAL).count, 1, "it is PARTIAL");
    CHECK(strstr(h.counts.reason, "9999 of 5") != NULL, h.counts.reason);
    CHECK_EQ(harvest_cursor_us(&h), h.window.from_us, "the cursor stays before it");
    harvest_close(&h);
    stage_close(&stage);
}

/* ---- a total that cannot be reached ---- */

static void harvest_with_a_hole(const char *name)
{
    const int64_t day_us = 86400 * INT64_C(1000000);
    struct task_list partial;
    struct harvest h;
    const char *wrong;
    size_t missing;

    harvest_open(&h, &stage, contract_ready_database(), shape_of(name), NULL);
    sim_set_fault(stage.http, &h.arena, &stage.sim, "query=from=2026-01-11 kind=moving_total");
    harvest_fire(&h, "harvest");
    CHECK(harvest_drain(&h), name);
    partial = harvest_tasks(&h, TASK_PARTIAL);
    CHECK(partial.count > 0, "the second day ends PARTIAL");
    for (size_t i = 0; i < partial.count; i++) {
        CHECK(partial.items[i].window.from_us >= h.window.from_us + day_us, "no other does");
        CHECK(partial.items[i].last_error.len > 0, "with a reason");
    }
    CHECK_EQ(harvest_cursor_us(&h), h.window.from_us + day_us, "the cursor stops before it");
    wrong = harvest_check_shown(&h, stage_truth(&stage, h.shape), &missing);
    CHECK(wrong == NULL, wrong);
    test_note("%s: %zu PARTIAL: %.*s", name, partial.count,
              STR_ARG(partial.count > 0 ? partial.items[0].last_error : STR("")));
    sim_set_fault(stage.http, &h.arena, &stage.sim, NULL);
    harvest_fire(&h, "harvest");
    CHECK(harvest_drain(&h), name);
    wrong = harvest_verify(&h);
    if (wrong == NULL)
        wrong = harvest_check_rest(&h, stage_truth(&stage, h.shape));
    CHECK(wrong == NULL, wrong);
    harvest_close(&h);
}

TEST(a_slice_whose_total_is_out_of_reach_is_partial_and_holds_the_cursor)
{
    static const char *const options[] = { SIM_WORLD, NULL };

    stage_open(&stage, options);
    harvest_with_a_hole("offset");
    harvest_with_a_hole("page1");
    stage_close(&stage);
}
