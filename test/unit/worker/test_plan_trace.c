/* Triggers as spans, on events made by hand. */
#include "worker/plan_trace.h"

#include <string.h>

#include "port/store_plan.h"
#include "port/store_task.h"
#include "support/seeded_random.h"
#include "support/virtual_clock.h"
#include "test.h"

#define T0 INT64_C(1767225600000000)

enum { SPANS_MAX = 2 * PLAN_TRACE_SLICES };

static struct virtual_clock at;
static struct seeded_random random_source;
static struct tracer *tracer;
static struct plan_trace trace;
static struct span spans[SPANS_MAX];

static const struct plan plan = { .id = 2,
                                  .source = STR_INIT("crossref"),
                                  .endpoint = STR_INIT("works"),
                                  .operation = OPERATION_HARVEST,
                                  .spec_fingerprint = STR_INIT("f1") };

static void begin(void)
{
    struct error err;

    virtual_clock_init(&at, T0);
    seeded_random_init(&random_source, 7);
    REQUIRE_OK(tracer_open(&tracer, &err), err);
    plan_trace_init(&trace, &(struct plan_trace_parts){ tracer, &at.clock, &random_source.source });
    plan_trace_begin(&trace);
}

static size_t sent(void)
{
    int64_t dropped;
    const size_t count = tracer_take(tracer, spans, SPANS_MAX, &dropped);

    CHECK_EQ(dropped, 0, "dropped");
    return count;
}

static void compile(const struct error *err)
{
    struct plan_watch *watch = plan_trace_watch(&trace);

    virtual_clock_advance(&at, US_PER_SECOND);
    watch->see(watch, &(struct plan_event){ PLAN_EVENT_COMPILED, .plan = &plan, .err = err });
}

static void slice(int64_t number)
{
    const struct plan_slice row = { .plan_id = 2,
                                    .number = number,
                                    .window = { T0, T0 + US_PER_HOUR } };
    const struct task task = { .slice_id = 100 + number, .priority = 5 };
    struct plan_watch *watch = plan_trace_watch(&trace);

    virtual_clock_advance(&at, US_PER_SECOND);
    watch->see(watch, &(struct plan_event){ PLAN_EVENT_SLICE, .plan = &plan, .slice = &row,
                                            .task = &task });
}

static const char *text_of(const struct span *span, const char *key)
{
    for (size_t i = 0; i < span->count; i++) {
        if (strcmp(span->attributes[i].key, key) == 0)
            return span->attributes[i].text;
    }
    return "";
}

static int64_t number_of(const struct span *span, const char *key)
{
    for (size_t i = 0; i < span->count; i++) {
        if (strcmp(span->attributes[i].key, key) == 0)
            return span->attributes[i].number;
    }
    return -1;
}

TEST(a_trigger_its_compiling_and_its_slices_are_one_trace)
{
    const struct plan_result result = { .plan_id = 2, .slices = 2 };

    begin();
    compile(NULL);
    slice(1);
    slice(2);
    plan_trace_end(&trace,
                   &(struct plan_traced){ STR("crossref"), STR("harvest"), .result = &result });
    REQUIRE(sent() == 4, "spans");
    CHECK_STR(str_of(spans[0].name), STR("Slice"), "a slice");
    CHECK_STR(str_of(spans[1].name), STR("Slice"), "another");
    CHECK_STR(str_of(spans[2].name), STR("PlannerTrigger"), "the trigger");
    CHECK_STR(str_of(spans[3].name), STR("CompileSpec"), "the compiling");
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(str_of(spans[i].context.trace), str_of(spans[2].context.trace), "one trace");
    CHECK_STR(str_of(spans[2].parent), STR(""), "the first");
    CHECK_STR(str_of(spans[3].parent), str_of(spans[2].context.span), "below the trigger");
    CHECK_STR(str_of(spans[0].parent), str_of(spans[3].context.span), "below the compiling");
    CHECK(strcmp(spans[0].context.span, spans[1].context.span) != 0, "each has an id of its own");
    CHECK_EQ(spans[2].begin_us, T0, "from the begin");
    CHECK_EQ(spans[2].end_us, T0 + 3 * US_PER_SECOND, "to the end");
    CHECK_EQ(spans[3].end_us, T0 + US_PER_SECOND, "compiled");
    CHECK_EQ(spans[0].begin_us, T0 + US_PER_SECOND, "then cut");
    CHECK_EQ(number_of(&spans[1], "patra.slice_id"), 102, "which slice");
    CHECK_EQ(number_of(&spans[1], "priority"), 5, "how urgent");
    CHECK_STR(str_of(text_of(&spans[1], "patra.to")), STR("2026-01-01T01:00:00Z"), "its window");
    CHECK_STR(str_of(text_of(&spans[3], "endpoint")), STR("works"), "of what");
    CHECK_EQ(number_of(&spans[2], "patra.slices"), 2, "how many");
    tracer_close(tracer);
}

TEST(a_source_that_does_not_compile_shows_where_it_failed)
{
    struct error err;

    begin();
    (void)error_set(&err, ERROR_REQUEST, "spec.invalid", "no path");
    compile(&err);
    plan_trace_end(&trace, &(struct plan_traced){ STR("crossref"), STR("harvest"), .err = &err });
    REQUIRE(sent() == 2, "spans");
    for (size_t i = 0; i < 2; i++) {
        CHECK(spans[i].is_error, "marked");
        CHECK_STR(str_of(text_of(&spans[i], "error.type")), STR("spec.invalid"), "why");
    }
    tracer_close(tracer);
}

TEST(a_tick_that_another_server_fired_leaves_no_span)
{
    const struct plan_result result = { .plan_id = 3 };

    begin();
    compile(NULL);
    plan_trace_begin(&trace);
    compile(NULL);
    plan_trace_end(&trace,
                   &(struct plan_traced){ STR("arxiv"), STR("harvest"), .result = &result });
    CHECK_EQ(sent(), 2, "only those of the second");
    tracer_close(tracer);
}

TEST(slices_of_one_trigger_do_not_fill_the_queue)
{
    begin();
    compile(NULL);
    for (int64_t i = 1; i <= PLAN_TRACE_SLICES + 100; i++)
        slice(i);
    CHECK_EQ(sent(), PLAN_TRACE_SLICES, "the first ones");
    tracer_close(tracer);
}

TEST(nobody_looks_where_nobody_wants_spans)
{
    plan_trace_init(&trace, &(struct plan_trace_parts){ 0 });
    plan_trace_begin(&trace);
    CHECK(plan_trace_watch(&trace) == NULL, "no watch");
    plan_trace_end(&trace, &(struct plan_traced){ 0 });
}
