/* Spans: ids, what is kept of texts, and a queue that never grows. */
#include "base/span.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

TEST(a_traceparent_names_trace_and_span)
{
    static const char *const bad[] = {
        "",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
    };
    struct span_context context;

    REQUIRE(span_context_parse(STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
                               &context),
            "the example of W3C");
    CHECK_STR(str_of(context.trace), STR("0af7651916cd43dd8448eb211c80319c"), "trace");
    CHECK_STR(str_of(context.span), STR("b7ad6b7169203331"), "span");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK(!span_context_parse(str_of(bad[i]), &context), bad[i]);
}

TEST(a_name_has_one_id_in_a_trace_and_another_in_another)
{
    struct span_context a = { .trace = "0af7651916cd43dd8448eb211c80319c" };
    struct span_context b = { .trace = "0af7651916cd43dd8448eb211c80319d" };
    char ids[4][SPAN_ID_MAX];

    span_id_named(ids[0], &a, STR("ing-1-1"));
    span_id_named(ids[1], &a, STR("ing-1-1"));
    span_id_named(ids[2], &a, STR("ing-1-2"));
    span_id_named(ids[3], &b, STR("ing-1-1"));
    CHECK_STR(str_of(ids[0]), str_of(ids[1]), "the same");
    CHECK(strcmp(ids[0], ids[2]) != 0 && strcmp(ids[0], ids[3]) != 0, "others");
    CHECK_EQ(strlen(ids[0]), 16, "digits");
}

TEST(texts_are_cut_between_characters_and_have_no_address_of_a_person)
{
    char text[2 * SPAN_TEXT_MAX];
    struct span span = { 0 };

    memset(text, 'a', SPAN_TEXT_MAX);
    memcpy(text + SPAN_TEXT_MAX - 2, "\xC3\xA4z", 3);
    span_str(&span, "long", (struct str){ text, SPAN_TEXT_MAX + 1 });
    CHECK_EQ(strlen(span.attributes[0].text), SPAN_TEXT_MAX - 2, "not half of a character");
    span_str(&span, "who", STR("ask jane.doe@example.org"));
    CHECK(strstr(span.attributes[1].text, "jane") == NULL, "masked");
    span_fail(&span, STR("mail jane.doe@example.org"));
    CHECK(span.is_error && strstr(span.error, "jane") == NULL, "masked");
    for (int i = 0; i < 2 * SPAN_ATTRIBUTES_MAX; i++)
        span_i64(&span, "more", i);
    CHECK_EQ(span.count, SPAN_ATTRIBUTES_MAX, "no more than there is room for");
}

TEST(a_full_queue_drops_counts_and_gives_the_oldest_first)
{
    static struct span taken[TRACER_SPANS_MAX];
    struct span span = { 0 };
    struct tracer *tracer;
    struct error err = { 0 };
    int64_t dropped;

    tracer_add(NULL, &span);
    REQUIRE_OK(tracer_open(&tracer, &err), err);
    for (int64_t i = 0; i < TRACER_SPANS_MAX + 5; i++) {
        span.begin_us = i;
        tracer_add(tracer, &span);
    }
    CHECK_EQ(tracer_take(tracer, taken, 10, &dropped), 10, "as many as are asked for");
    CHECK_EQ(dropped, 5, "what did not fit");
    CHECK(taken[0].begin_us == 0 && taken[9].begin_us == 9, "the oldest");
    span.begin_us = -1;
    tracer_add(tracer, &span);
    CHECK_EQ(tracer_take(tracer, taken, TRACER_SPANS_MAX, &dropped), TRACER_SPANS_MAX - 9,
             "the rest");
    CHECK_EQ(dropped, 0, "there was room again");
    CHECK(taken[0].begin_us == 10 && taken[TRACER_SPANS_MAX - 10].begin_us == -1, "in order");
    CHECK_EQ(tracer_take(tracer, taken, 1, &dropped), 0, "nothing");
    tracer_close(tracer);
}
