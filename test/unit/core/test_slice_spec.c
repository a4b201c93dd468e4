/* Tests: the stored form of slices, and the identities of slices and tasks. */
#include "core/slice_spec.h"

#include "base/instant.h"
#include "test.h"

static struct slice time_slice(void)
{
    const struct slice_cut cut = {
        .max_us = US_PER_DAY, .min_us = 1, .overlap_us = US_PER_HOUR, .granularity = GRANULARITY_DAY
    };
    const struct window own = { INT64_C(1772323200000000), INT64_C(1772409600000000) };

    return (struct slice){ .dimension = SLICE_TIME,
                           .window = own,
                           .query = slice_query_of(&cut, own),
                           .expected_records = 42000,
                           .expected_requests = 48 };
}

static struct slice_spec spec_of(const struct slice *slice)
{
    return (struct slice_spec){
        .slice = slice,
        .pagination = PAGINATION_TOKEN,
        .initial = STR("*"),
        .is_two_phase = true,
        .id_batch_size = 200,
        .lag_us = 10 * US_PER_MINUTE,
        .watermark_key = STR("updated_at"),
        .requests_max = 800,
        .duration_max_us = 900 * US_PER_SECOND,
        .priority = 10,
        .comment = STR("by \"estimate\""),
    };
}

struct writer {
    struct arena arena;
    struct buf out;
};

static struct str spec_text(struct writer *w, const struct slice_spec *spec)
{
    buf_clear(&w->out);
    slice_spec_write(spec, &w->out);
    return buf_str(&w->out);
}

static void open_writer(struct writer *w)
{
    arena_init(&w->arena, 65536);
    buf_init(&w->out, &w->arena, 8192);
}

TEST(a_slice_of_time_in_full)
{
    const struct slice slice = time_slice();
    const struct slice_spec spec = spec_of(&slice);
    struct writer w;

    open_writer(&w);
    CHECK_STR(spec_text(&w, &spec),
              STR("{\"bounds\":{\"time\":{\"from\":\"2026-03-01T00:00:00Z\","
                  "\"to\":\"2026-03-02T00:00:00Z\"}},"
                  "\"budget\":{\"maxDurationSec\":900,\"maxRequests\":800,\"priority\":10},"
                  "\"dimension\":\"TIME\","
                  "\"pagination\":{\"initial\":{\"token\":\"*\"},\"type\":\"TOKEN\"},"
                  "\"phase\":{\"idBatchSize\":200,\"twoPhase\":true},"
                  "\"query\":{\"clientFilter\":true,\"from\":\"2026-02-28T00:00:00Z\","
                  "\"keepFrom\":\"2026-02-28T23:00:00Z\",\"keepTo\":\"2026-03-02T00:00:00Z\","
                  "\"to\":\"2026-03-02T00:00:00Z\"},"
                  "\"telemetry\":{\"comment\":\"by \\\"estimate\\\"\",\"requestsExpected\":48,"
                  "\"totalEstimated\":42000},"
                  "\"window\":{\"safetyLag\":\"PT10M\",\"watermarkKey\":\"updated_at\"}}"),
              "TIME");
    arena_release(&w.arena);
}

TEST(slices_of_pages_and_ids)
{
    const struct slice pages = { .dimension = SLICE_PAGE,
                                 .pages = { 1, 201 },
                                 .expected_records = SLICE_UNKNOWN,
                                 .expected_requests = 200 };
    const struct slice bucket = {
        .dimension = SLICE_ID,
        .ids = { .slicing = ID_SLICING_HASH, .bucket = 37, .bucket_count = 128 },
        .expected_records = SLICE_UNKNOWN,
        .expected_requests = SLICE_UNKNOWN
    };
    const struct slice range = { .dimension = SLICE_ID,
                                 .ids = { .slicing = ID_SLICING_RANGE, .from = 5, .to = 99 } };
    struct slice_spec spec = { .slice = &pages,
                               .pagination = PAGINATION_PAGE,
                               .initial_page = 1,
                               .page_size = 100,
                               .is_base1 = true,
                               .priority = 10 };
    struct writer w;

    open_writer(&w);
    CHECK_STR(spec_text(&w, &spec),
              STR("{\"bounds\":{\"page\":{\"base1\":true,\"fromPage\":1,\"pageSize\":100,"
                  "\"toPage\":201}},\"budget\":{\"priority\":10},\"dimension\":\"PAGE\","
                  "\"pagination\":{\"initial\":{\"page\":1},\"type\":\"PAGE\"},"
                  "\"phase\":{\"twoPhase\":false},\"telemetry\":{\"requestsExpected\":200},"
                  "\"window\":{\"safetyLag\":\"PT0S\"}}"),
              "PAGE");
    spec.slice = &bucket;
    spec.pagination = PAGINATION_SINGLE;
    CHECK(str_starts(spec_text(&w, &spec),
                     STR("{\"bounds\":{\"id\":{\"hashBucket\":37,\"hashBuckets\":128}}")),
          "a bucket");
    spec.slice = &range;
    CHECK(str_starts(spec_text(&w, &spec),
                     STR("{\"bounds\":{\"id\":{\"from\":\"5\",\"to\":\"99\"}}")),
          "a range");
    arena_release(&w.arena);
}

static struct str signature(struct writer *w, const struct slice_spec *spec)
{
    const struct slice_identity identity = { .source = STR("crossref"),
                                             .endpoint = STR("works"),
                                             .operation = OPERATION_HARVEST,
                                             .expr_hash = STR("ab") };

    buf_clear(&w->out);
    slice_signature_write(&identity, spec, &w->out);
    return buf_str(&w->out);
}

TEST(the_signature_is_of_what_is_fetched)
{
    struct slice slice = time_slice();
    struct slice_spec spec = spec_of(&slice);
    struct writer w, other;

    open_writer(&w);
    open_writer(&other);
    (void)signature(&w, &spec);
    spec.priority = 90;
    spec.requests_max = 1;
    spec.duration_max_us = 0;
    spec.lag_us = 5;
    spec.comment = STR("");
    slice.expected_records = 7;
    slice.expected_requests = SLICE_UNKNOWN;
    slice.number = 3;
    CHECK_STR(signature(&other, &spec), buf_str(&w.out), "budget, estimates and lag do not count");
    slice.window.to_us++;
    CHECK(!str_eq(signature(&other, &spec), buf_str(&w.out)), "another window is another slice");
    slice = time_slice();
    slice.query.window.from_us--;
    CHECK(!str_eq(signature(&other, &spec), buf_str(&w.out)), "another query too");
    slice = time_slice();
    spec.pagination = PAGINATION_SINGLE;
    CHECK(!str_eq(signature(&other, &spec), buf_str(&w.out)), "and another way of paging");
    arena_release(&w.arena);
    arena_release(&other.arena);
}

TEST(a_task_is_identified_by_its_slice_purpose_and_generation)
{
    const struct task_identity identity = { .slice_signature = STR("s"),
                                            .expr_hash = STR("e"),
                                            .operation = OPERATION_REPLAY,
                                            .purpose = STR("n"),
                                            .generation = 2,
                                            .params_hash = STR("p") };
    struct writer w;

    open_writer(&w);
    task_identity_write(&identity, &w.out);
    CHECK_STR(buf_str(&w.out),
              STR("{\"exprHash\":\"e\",\"generation\":2,\"operation\":\"REPLAY\","
                  "\"paramsHash\":\"p\",\"purpose\":\"n\",\"sliceSignature\":\"s\"}"),
              "in full");
    arena_release(&w.arena);
}
