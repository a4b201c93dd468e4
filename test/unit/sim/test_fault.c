/* Fault plans: parsing, conditions, and which requests a rule hits. */
#include "sim/fault/fault_plan.h"

#include <stdio.h>

#include "sim/fault/fault_rule.h"
#include "test.h"

static struct fault_rule parsed(const char *line)
{
    struct fault_rule rule;
    struct error err = { 0 };

    REQUIRE_OK(fault_rule_parse(&rule, str_of(line), &err), err);
    return rule;
}

TEST(rules_are_parsed)
{
    const struct fault_rule rule = parsed("path=/a method=POST query=x host=other nth=3,7 every=2 "
                                          "from=1 to=9 rate=0.25 times=4 burst=5 by=request "
                                          "kind=status code=429 retry_after=date+90 body=html");

    CHECK_STR(rule.path, STR("/a"), "path");
    CHECK_STR(rule.method, STR("POST"), "method");
    CHECK_STR(rule.query, STR("x"), "query");
    CHECK_EQ(rule.host, 2, "host");
    CHECK_EQ(rule.nth_count, 2, "nth");
    CHECK_EQ(rule.nth[1], 7, "nth");
    CHECK_EQ(rule.every * 1000 + rule.from * 100 + rule.to, 2109, "every, from, to");
    CHECK(rule.rate == 0.25, "rate");
    CHECK_EQ(rule.times * 10 + rule.burst, 45, "times, burst");
    CHECK_EQ(rule.by_request, 1, "by");
    CHECK_EQ(rule.fault.kind, FAULT_STATUS, "kind");
    CHECK_EQ(rule.fault.code, 429, "code");
    CHECK_EQ(rule.fault.retry, RETRY_DATE, "retry");
    CHECK_EQ(rule.fault.retry_us, 90000000, "retry");
    CHECK_EQ(rule.fault.body, FAULT_BODY_HTML, "body");
}

TEST(every_content_fault_can_be_requested)
{
    static const char *const names[] = {
        "repeat_page",     "shift_page",     "repeat_token", "expired_token",
        "moving_total",    "next_elsewhere", "record_no_id", "record_no_date",
        "record_bad_date", "empty_page",     "body_error",   "missing_details",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char line[64];
        struct fault_rule rule;

        (void)snprintf(line, sizeof(line), "kind=%s", names[i]);
        rule = parsed(line);
        CHECK_EQ(rule.fault.content_fault, (int)i + 1, names[i]);
        CHECK_STR(str_of(fault_name(&rule.fault)), str_of(names[i]), "name");
    }
}

TEST(a_rule_for_ids_hits_the_requests_that_name_one_of_them)
{
    static const struct {
        const char *path;
        const char *params;
        bool is_hit;
    } cases[] = {
        { "/records/12", "", true },     { "/records/123", "", false },
        { "/fetch", "id=1,12,3", true }, { "/fetch", "mode=x&id=7", true },
        { "/fetch", "id=1,123", false }, { "/fetch", "", false },
    };
    const struct fault_rule rule = parsed("ids=12,7 kind=status code=400");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena arena;
        struct http_call call = { .arena = &arena, .path = str_of(cases[i].path) };
        struct error err = { 0 };

        arena_init(&arena, 1 << 16);
        REQUIRE_OK(call_add_params(&call, str_of(cases[i].params), &err), err);
        CHECK_EQ(fault_rule_matches(&rule, &call, false), cases[i].is_hit, cases[i].params);
        arena_release(&arena);
    }
}

TEST(a_rate_is_kept_and_bursts_cluster)
{
    const struct fault_rule often = parsed("rate=0.1 kind=reset");
    const struct fault_rule burst = parsed("rate=0.01 burst=10 kind=reset");
    int64_t hits = 0, clustered = 0, runs = 0;

    for (int64_t n = 1; n <= 100000; n++) {
        hits += fault_rule_is_due(&often, 42, 0, n);
        if (!fault_rule_is_due(&burst, 42, 0, n))
            continue;
        clustered++;
        runs += !fault_rule_is_due(&burst, 42, 0, n - 1);
    }
    CHECK(hits > 9500 && hits < 10500, "one in ten, within five sigma");
    CHECK(clustered >= 10 * runs - 10, "each run has at least ten");
    CHECK(runs > 700 && runs < 1100, "one run in a hundred, some melt together");
}

TEST(decisions_are_a_function_of_seed_rule_and_count)
{
    struct fault_rule rule = parsed("rate=0.5 kind=reset");
    int64_t same = 0, other_seed = 0, other_rule = 0, other_request = 0;

    for (int64_t n = 1; n <= 1000; n++) {
        const bool fires = fault_rule_is_due(&rule, 1, 0, n);
        struct fault_rule second = rule;

        second.fault.rule = 2;
        same += fires == fault_rule_is_due(&rule, 1, 0, n);
        other_seed += fires == fault_rule_is_due(&rule, 2, 0, n);
        other_rule += fires == fault_rule_is_due(&second, 1, 0, n);
        other_request += fires == fault_rule_is_due(&rule, 1, 99, n);
    }
    CHECK_EQ(same, 1000, "the same");
    CHECK(other_seed > 400 && other_seed < 600, "another seed is another day");
    CHECK(other_rule > 400 && other_rule < 600, "rules do not go hand in hand");
    CHECK(other_request > 400 && other_request < 600, "nor do requests");
}

TEST(times_counts_and_clear_resets)
{
    struct http_call call = { .path = STR("/x"), .now_us = 0 };
    struct fault_plan *plan = NULL;
    struct arena arena;
    struct error err = { 0 };
    int hits = 0;

    arena_init(&arena, 1 << 20);
    call.arena = &arena;
    REQUIRE_OK(fault_plan_open(1, &plan, &err), err);
    REQUIRE_OK(fault_plan_add(plan, STR("kind=close times=2\n"), &err), err);
    for (int i = 0; i < 5; i++)
        hits += fault_plan_decide(plan, &call, false, 0).rule == 1;
    CHECK_EQ(hits, 2, "two");
    fault_plan_clear(plan);
    CHECK_EQ(fault_plan_decide(plan, &call, false, 0).rule, 0, "none");
    fault_plan_close(plan);
    arena_release(&arena);
}
