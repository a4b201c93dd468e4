/* patra cursor, as a user runs it. */
#include <stdio.h>

#include "base/instant.h"
#include "contract.h"
#include "data/json.h"
#include "port/store_cursor.h"
#include "port/store_lease.h"
#include "run.h"

#define DAY0 INT64_C(1767225600000000) /* 2026-01-01 */

static bool has(struct str text, const char *needle)
{
    return str_find(text, str_of(needle)) < text.len;
}

/* Five days of January planned; the third fails, the others succeed. */
static const char *scene(void)
{
    const char *store = contract_new_database();

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "--store", store, "test/data/plan/daily.yaml").code ==
                0,
            "apply");
    REQUIRE(RUN("patra", "trigger", "daily", "--from", "2026-01-01", "--to", "2026-01-06",
                "--store", store)
                    .code == 0,
            "trigger");
    return store;
}

static void end_all(const char *dsn, int64_t failing_day)
{
    const struct task_claim claim = {
        .owner = STR("test"), .now_us = INSTANT_MAX, .until_us = INSTANT_MAX, .limit = 100
    };
    struct store *store = contract_open(dsn);
    struct task_list list;
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_task_claim(store, contract_arena(), &claim, &list, &err), err);
    for (size_t i = 0; i < list.count; i++) {
        const bool fails = list.items[i].window.from_us == DAY0 + failing_day * US_PER_DAY;
        const struct task_end end = { .lease = { list.items[i].id, list.items[i].lease_epoch },
                                      .status = fails ? TASK_FAILED : TASK_SUCCEEDED,
                                      .error = fails ? STR("status 500 (L1)") : STR(""),
                                      .now_us = DAY0 };

        REQUIRE_OK(store_lease_start(store, end.lease, DAY0, &held, &err), err);
        REQUIRE_OK(store_lease_finish(store, &end, &held, &err), err);
    }
    store_close(store);
}

static void trigger(const char *store)
{
    REQUIRE(RUN("patra", "trigger", "daily", "--to", "2026-01-06", "--store", store).code == 0,
            "trigger");
}

TEST(show_tells_where_a_cursor_stands_and_what_holds_it_back)
{
    const char *store = scene();
    struct run run;

    end_all(store, 2);
    trigger(store); /* lets it catch up */
    run = RUN("patra", "cursor", "list", "--store", store);
    CHECK_EQ(run.code, 0, "list");
    CHECK(has(run.out, "daily"), "the source");
    CHECK(has(run.out, "  2026-01-03  "), "stopped where the third day begins");
    run = RUN("patra", "cursor", "show", "daily", "--store", store);
    CHECK_EQ(run.code, 0, "show");
    CHECK(has(run.out, "value      2026-01-03T00:00:00Z"), "the value");
    CHECK(has(run.out, "next       2026-01-03T00:00:00Z .. 2026-01-04T00:00:00Z: task 6 of plan 2 "
                       "is QUEUED"),
          "planned again");
    CHECK(has(run.out, "beyond     2026-01-04T00:00:00Z .. 2026-01-06T00:00:00Z"), "what waits");
    CHECK(has(run.out, "ADVANCE"), "events");
    run = RUN("patra", "cursor", "show", "daily/harvest", "--json", "--store", store);
    CHECK(has(run.out, "\"heldBackBy\":{\"taskId\":6,"), "for programs too");
    CHECK(has(run.out, "\"beyond\":[{\"from\":\"2026-01-04T00:00:00Z\""), "for programs too");
    run = RUN("patra", "cursor", "show", "daily/backfill", "--store", store);
    CHECK_EQ(run.code, 4, "there is none");
    contract_end();
}

static void backfill(const char *store)
{
    REQUIRE(RUN("patra", "trigger", "daily", "backfill", "--from", "2025-12-01", "--to",
                "2025-12-04", "--store", store)
                    .code == 0,
            "backfill");
}

/* The latest record that a backfill has seen says nothing about how far it is: it begins with
 * the newest day. */
TEST(a_backfill_has_a_way_to_go_and_is_done_at_its_end)
{
    const char *store = scene();
    struct run run;

    end_all(store, -1);
    backfill(store);
    end_all(store, -29); /* the third of December */
    backfill(store);     /* lets it catch up, and plans that day again */
    run = RUN("patra", "cursor", "list", "daily/backfill", "--store", store);
    CHECK(has(run.out, "  2025-12-03  1d 0h  "), "one day is left");
    run = RUN("patra", "cursor", "show", "daily/backfill", "--store", store);
    CHECK(has(run.out, "campaign   1d 0h to go, up to 2025-12-04T00:00:00Z\n"), "its end");
    run = RUN("patra", "status", "daily", "--store", store);
    CHECK(has(run.out, "2025-12-03T00:00:00Z  1d 0h to go"), "under way");

    end_all(store, -1);
    backfill(store);
    run = RUN("patra", "cursor", "list", "daily/backfill", "--store", store);
    CHECK(has(run.out, "  2025-12-04  done  "), "there");
    run = RUN("patra", "cursor", "list", "daily/backfill", "--json", "--store", store);
    CHECK(has(run.out, "\"endsAt\":\"2025-12-04T00:00:00Z\",\"leftSeconds\":0,"), "for programs");
    CHECK(!has(run.out, "lagSeconds"), "which watch lags");
    run = RUN("patra", "status", "daily", "--store", store);
    CHECK(!has(run.out, "2025-12-04"), "nothing to look at any more");
    contract_end();
}

TEST(verify_finds_a_wrong_value_and_rebuild_mends_it)
{
    const char *dsn = scene();
    struct cursor_move move = { .to = { .type = CURSOR_TIME, .instant_us = DAY0 + US_PER_DAY },
                                .expr_hash = STR(""),
                                .now_us = DAY0 };
    struct cursor_list list;
    struct store *store;
    struct error err = { 0 };
    struct run run;
    bool moved;

    end_all(dsn, 2);
    trigger(dsn);
    run = RUN("patra", "cursor", "verify", "--store", dsn);
    CHECK_EQ(run.code, 0, "as it should be");
    CHECK(has(run.out, "1 cursors, 2 events: all agree"), "says so");
    store = contract_open(dsn);
    REQUIRE_OK(store_cursor_list(store, contract_arena(), STR("daily"), &list, &err), err);
    REQUIRE_OK(store_cursor_set(store, &list.items[0], &move, &moved, &err), err);
    store_close(store);
    run = RUN("patra", "cursor", "verify", "daily", "--store", dsn);
    CHECK_EQ(run.code, 1, "found");
    CHECK(has(run.out, "rebuild required: the value is 2026-01-02T00:00:00Z, its events give "
                       "2026-01-03T00:00:00Z"),
          "both");
    run = RUN("patra", "cursor", "verify", "--json", "--store", dsn);
    CHECK_EQ(run.code, 1, "found");
    CHECK(has(run.out, "\"rebuildRequired\":true"), "for programs too");
    run = RUN("patra", "cursor", "rebuild", "daily", "--store", dsn);
    CHECK_EQ(run.code, 0, "rebuild");
    CHECK(has(run.out, "1 of 1 cursors rebuilt"), "says so");
    CHECK_EQ(RUN("patra", "cursor", "verify", "--store", dsn).code, 0, "as it should be");
    contract_end();
}

TEST(reset_asks_and_leaves_a_trace)
{
    const char *store = scene();
    struct run run;

    end_all(store, -1);
    trigger(store);
    run = RUN("patra", "cursor", "reset", "daily", "--to", "2026-01-04", "--store", store);
    CHECK_EQ(run.code, 2, "nobody to ask");
    CHECK(has(run.talk, "--yes"), "what to do");
    run = RUN("patra", "cursor", "reset", "daily", "--to", "soon", "--yes", "--store", store);
    CHECK_EQ(run.code, 2, "no date");
    run = RUN("patra", "cursor", "reset", "daily", "--to", "2026-01-04", "--operation", "backfill",
              "--yes", "--store", store);
    CHECK_EQ(run.code, 4, "no such cursor");
    run = RUN("patra", "cursor", "show", "daily", "--json", "--store", store);
    CHECK(!has(run.out, "RESET"), "nothing was done");

    run = RUN("patra", "cursor", "reset", "daily", "--to", "2026-01-04", "--yes", "--reason",
              "dates were wrong", "--store", store);
    CHECK_EQ(run.code, 0, "done");
    CHECK(has(run.out, "2026-01-06T00:00:00Z -> 2026-01-04T00:00:00Z"), "from where to where");
    CHECK(has(run.out, "2 tasks no longer count"), "what follows");
    run = RUN("patra", "cursor", "show", "daily", "--store", store);
    CHECK(has(run.out, "RESET"), "in the history");
    CHECK(has(run.out, "dates were wrong"), "with the reason");
    CHECK_EQ(RUN("patra", "cursor", "verify", "--store", store).code, 0, "events and value");
    run = RUN("patra", "trigger", "daily", "--to", "2026-01-06", "--store", store);
    CHECK(has(run.out, "2 slices"), "the two days are planned again");
    end_all(store, -1);
    trigger(store);
    run = RUN("patra", "cursor", "list", "daily", "--store", store);
    CHECK(has(run.out, "  2026-01-06  "), "at the end again");
    CHECK_EQ(RUN("patra", "cursor", "verify", "--store", store).code, 0, "events and value");
    contract_end();
}
