/* What the rules find in runs, queues, quotas and the outbox: rows made by hand, and what a person
 * says of them by the rule's own words. At the limit and on both sides of it. */
#include "port/store_alert.h"
#include "port/store_outbox.h"
#include "port/store_pause.h"
#include "port/store_rate.h"
#include "port/store_run.h"
#include "port/store_stream.h"
#include "view/alert.h"
#include "view/gate.h"
#include "view_rig.h"

enum { RUNS_MAX = 9 };

static bool is_found(struct store *store, enum alert_rule rule)
{
    const struct view_reader reader = view_rig(store);
    struct view_findings findings;
    struct error err = { 0 };
    int count = 0;

    REQUIRE_OK(view_findings(&reader, &findings, &err), err);
    for (size_t i = 0; i < findings.list.count; i++) {
        if (findings.list.items[i].rule != rule)
            continue;
        count++;
        CHECK(findings.list.items[i].text.len > 20 && findings.list.items[i].subject.len > 0,
              "a sentence, and of what");
    }
    CHECK(count < 2, "once");
    return count > 0;
}

/* ---- runs ---- */

struct one_run {
    int64_t ago_us;
    const char *stats;
};

static void add_run(struct store *store, int64_t task_id, const struct one_run *one)
{
    struct run run = { .task_id = task_id,
                       .source = STR("demo"),
                       .operation = OPERATION_HARVEST,
                       .lease_owner = STR("a worker"),
                       .lease_epoch = 1,
                       .status = RUN_SUCCEEDED,
                       .stats = str_of(one->stats),
                       .started_us = NOW_US - one->ago_us,
                       .finished_us = NOW_US - one->ago_us + 1 };
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_run_add(store, &run, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

#define MIN US_PER_MINUTE
#define A_DAY_OF(n) "{\"reqCount\":1,\"retCount\":" n "}"
#define WEEK_OF(n)                                                                    \
    { 1 * US_PER_DAY + MIN, A_DAY_OF(n) }, { 2 * US_PER_DAY + MIN, A_DAY_OF(n) },     \
        { 3 * US_PER_DAY + MIN, A_DAY_OF(n) }, { 4 * US_PER_DAY + MIN, A_DAY_OF(n) }, \
        { 5 * US_PER_DAY + MIN, A_DAY_OF(n) }, { 6 * US_PER_DAY + MIN, A_DAY_OF(n) }, \
    {                                                                                 \
        7 * US_PER_DAY + MIN, A_DAY_OF(n)                                             \
    }

static const struct {
    const char *label;
    enum alert_rule rule;
    struct one_run runs[RUNS_MAX];
    bool found;
} cases[] = {
    { "five of a hundred failed",
      ALERT_ERROR_RATE,
      { { MIN, "{\"reqCount\":100,\"retryCount\":5}" } },
      false },
    { "six of a hundred failed",
      ALERT_ERROR_RATE,
      { { MIN, "{\"reqCount\":100,\"retryCount\":4,\"errorCount\":2}" } },
      true },
    { "in two runs",
      ALERT_ERROR_RATE,
      { { MIN, "{\"reqCount\":50,\"retryCount\":6}" }, { 9 * MIN, "{\"reqCount\":50}" } },
      true },
    { "eleven minutes ago",
      ALERT_ERROR_RATE,
      { { 11 * MIN, "{\"reqCount\":100,\"retryCount\":50}" } },
      false },
    { "too few requests to say anything",
      ALERT_ERROR_RATE,
      { { MIN, "{\"reqCount\":19,\"retryCount\":10}" } },
      false },
    { "a 429 is no failure",
      ALERT_ERROR_RATE,
      { { MIN, "{\"reqCount\":100,\"retryCount\":20,\"429Count\":20}" } },
      false },
    { "five 429s of a hundred",
      ALERT_THROTTLED_RATE,
      { { MIN, "{\"reqCount\":100,\"429Count\":5}" } },
      false },
    { "six 429s of a hundred",
      ALERT_THROTTLED_RATE,
      { { MIN, "{\"reqCount\":100,\"429Count\":6}" } },
      true },
    { "429s eleven minutes ago",
      ALERT_THROTTLED_RATE,
      { { 11 * MIN, "{\"reqCount\":100,\"429Count\":60}" } },
      false },
    { "99 bad records in an hour",
      ALERT_QUARANTINE_GROWS,
      { { 50 * MIN, "{\"reqCount\":9,\"retCount\":900,\"failed\":99}" } },
      false },
    { "100 of two runs",
      ALERT_QUARANTINE_GROWS,
      { { MIN, "{\"reqCount\":9,\"failed\":60}" }, { 50 * MIN, "{\"reqCount\":9,\"failed\":40}" } },
      true },
    { "more than an hour ago",
      ALERT_QUARANTINE_GROWS,
      { { 61 * MIN, "{\"reqCount\":9,\"failed\":500}" } },
      false },
    { "a tenth of the usual",
      ALERT_SOURCE_QUIET,
      { WEEK_OF("1000"), { MIN, A_DAY_OF("100") } },
      false },
    { "less than a tenth", ALERT_SOURCE_QUIET, { WEEK_OF("1000"), { MIN, A_DAY_OF("99") } }, true },
    { "never much", ALERT_SOURCE_QUIET, { WEEK_OF("99"), { MIN, A_DAY_OF("0") } }, false },
    { "no run today: another rule's", ALERT_SOURCE_QUIET, { WEEK_OF("1000") }, false },
};

TEST(rules_about_runs_find_what_they_say)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct store *store = view_rig_store();
        struct task_list tasks;

        (void)view_rig_harvest(store);
        tasks = planning_tasks(store);
        for (size_t k = 0; k < RUNS_MAX && cases[i].runs[k].stats != NULL; k++)
            add_run(store, tasks.items[0].id, &cases[i].runs[k]);
        CHECK_EQ(is_found(store, cases[i].rule), cases[i].found, cases[i].label);
        contract_end();
    }
}

TEST(a_paused_source_may_be_quiet)
{
    static const struct one_run runs[] = { WEEK_OF("1000"), { MIN, A_DAY_OF("0") } };
    const struct pause pause = { STR("demo"),  STR(""),      PAUSE_PAUSED,
                                 STR("later"), STR("alice"), NOW_US - MIN };
    struct store *store = view_rig_store();
    struct error err = { 0 };
    bool added;

    (void)view_rig_harvest(store);
    for (size_t i = 0; i < ARRAY_LEN(runs); i++)
        add_run(store, planning_tasks(store).items[0].id, &runs[i]);
    CHECK(is_found(store, ALERT_SOURCE_QUIET), "it brings nothing");
    REQUIRE_OK(store_pause_add(store, &pause, &added, &err), err);
    CHECK(!is_found(store, ALERT_SOURCE_QUIET), "and is not to");
    contract_end();
}

/* ---- the queue ---- */

TEST(a_queue_is_long_from_its_limit_on)
{
    struct alert_setting setting = {
        .rule = STR("queue-long"), .limit = 4, .set_by = STR("alice"), .updated_us = NOW_US
    };
    struct store *store = view_rig_store();
    struct error err = { 0 };

    (void)view_rig_harvest(store); /* three tasks */
    CHECK(!is_found(store, ALERT_QUEUE_LONG), "of 50,000");
    REQUIRE_OK(store_alert_rule_set(store, &setting, &err), err);
    CHECK(!is_found(store, ALERT_QUEUE_LONG), "three of four");
    setting.limit = 3;
    REQUIRE_OK(store_alert_rule_set(store, &setting, &err), err);
    CHECK(is_found(store, ALERT_QUEUE_LONG), "three of three");
    contract_end();
}

/* ---- quotas ---- */

static struct str gate_key(struct store *store)
{
    const struct view_reader reader = view_rig(store);
    const struct str demo = STR("demo");
    const struct view_gate_filter filter = { .sources = &demo,
                                             .source_count = 1,
                                             .now_us = NOW_US };
    struct view_gate_list list;
    struct error err = { 0 };

    REQUIRE_OK(view_gate_list(&reader, &filter, &list, &err), err);
    REQUIRE(list.count > 0, "a gate");
    return list.items[0].key;
}

static void use(struct store *store, struct str key, int64_t used, int64_t booked)
{
    static const struct bucket_config config = {
        .rate_max = 3 * MICRO, .rate_min = MICRO, .burst = MICRO, .demote_permille = 2000
    };
    const struct rate_gate gate = { .bucket = bucket_start(&config, NOW_US),
                                    .parked_until_us = INT64_MIN };
    const struct quota_key quota = { key, QUOTA_DAY, NOW_US - NOW_US % US_PER_DAY };
    struct error err = { 0 };
    bool saved;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_rate_save(store, key, &gate, NOW_US, &saved, &err), err);
    REQUIRE_OK(store_quota_add(store, &quota, (enum quota_class)0, used, booked, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

TEST(a_quota_is_low_below_a_tenth_of_it)
{
    static const struct {
        int64_t used, booked;
        bool found;
    } uses[] = { { 900, 0, false }, { 901, 0, true }, { 850, 51, true }, { 1200, 0, true } };

    for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
        struct store *store = contract_store();

        planning_apply(store,
                       &(struct planning_source){ .top = "rate: { quota: { day: 1000 } }\n" });
        use(store, gate_key(store), uses[i].used, uses[i].booked);
        CHECK_EQ(is_found(store, ALERT_QUOTA_LOW), uses[i].found, "of 1,000 a day");
        contract_end();
    }
}

/* ---- the outbox ---- */

static void add_event(struct store *store, int64_t ago_us)
{
    const struct foreign_event event = { .aggregate_type = STR("video"),
                                         .aggregate_id = STR("v1"),
                                         .event = { .event_id =
                                                        STR("0190a6c2-0000-7000-8000-000000000001"),
                                                    .event_type = STR("VideoCreated"),
                                                    .version = 1,
                                                    .schema_version = 1,
                                                    .occurred_us = NOW_US - ago_us,
                                                    .body = STR("{}") } };
    struct error err = { 0 };
    int64_t added;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_outbox_add(store, &event, 1, &added, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(added, 1, "an event");
}

TEST(nobody_publishes_when_events_wait_and_no_lease_is_held)
{
    const struct stream_claim claim = { .owner = STR("a publisher"),
                                        .now_us = NOW_US,
                                        .until_us = NOW_US + US_PER_MINUTE };
    struct stream_lease lease;
    struct error err = { 0 };
    struct store *store = view_rig_store();
    bool held;

    CHECK(!is_found(store, ALERT_PUBLISHER_DOWN), "nothing waits");
    add_event(store, 5 * MIN);
    CHECK(!is_found(store, ALERT_PUBLISHER_DOWN), "for five minutes");
    contract_end();
    store = view_rig_store();
    add_event(store, 5 * MIN + 1);
    CHECK(is_found(store, ALERT_PUBLISHER_DOWN), "for longer");
    REQUIRE_OK(store_stream_claim(store, &claim, &lease, &held, &err), err);
    CHECK(held && !is_found(store, ALERT_PUBLISHER_DOWN), "somebody is at it");
    contract_end();
}
