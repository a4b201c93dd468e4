/* What selects records decides what counts as covered: parameters, edited queries, and settings of
 * a trigger. */
#include "fixed_secret.h"
#include "planning.h"
#include "port/store_cursor.h"

#define QUERY "      q: \"${params.q}\"\n"

static const char DAYS[] = "align: day, max: 1d, min: 1h, lag: 0";

static const struct planning_source WITH_A = { .top = "params: { q: a }",
                                               .query = QUERY,
                                               .window = DAYS };
static const struct planning_source WITH_B = { .top = "params: { q: b }",
                                               .query = QUERY,
                                               .window = DAYS };

static const struct override SET_B[] = { { STR_INIT("params.q"), STR_INIT("b") } };

static struct plan_result trigger(struct store *store, const char *operation, const char *from,
                                  bool sets)
{
    struct plan_request request = planning_request(operation);

    request.from = maybe(from);
    if (sets)
        request.overrides = (struct override_list){ SET_B, 1 };
    return planning_trigger(store, &request);
}

/* The value of the cursor of a plan's namespace; -1 where it has none. */
static int64_t cursor_of(struct store *store, enum namespace_scope scope, size_t nth)
{
    struct cursor_list list;
    struct error err = { 0 };
    size_t found = 0;

    REQUIRE_OK(store_cursor_list(store, contract_arena(), STR("demo"), &list, &err), err);
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].name.scope == scope && found++ == nth)
            return list.items[i].value.instant_us;
    }
    return -1;
}

TEST(a_trigger_with_another_parameter_never_passes_windows_of_the_sources_own)
{
    struct store *store = contract_store();
    struct plan_result apart;

    planning_apply(store, &WITH_A);
    CHECK_EQ(trigger(store, "harvest", "2025-12-29", false).slices, 3, "three days of a");
    CHECK_EQ(cursor_of(store, NAMESPACE_EXPR, 0), at("2025-12-29"), "nothing is done yet");
    apart = trigger(store, "harvest", "2025-12-29", true);
    CHECK_EQ(apart.slices, 3, "b is planned though a is under way");
    CHECK_STR(planning_value(apart.remarks, "namespace.scope"), STR("CUSTOM"), "apart");
    CHECK(planning_value(apart.remarks, "namespace.reason").len > 0, "with the reason");
    CHECK_EQ(apart.apart.len > 0, true, "which the command prints");
    for (size_t i = 3; i < 6; i++)
        planning_end(store, planning_tasks(store).items[i].id, TASK_SUCCEEDED, NULL);
    CHECK_EQ(trigger(store, "harvest", NULL, true).slices, 0, "b is done: the same trigger ends");
    CHECK_EQ(cursor_of(store, NAMESPACE_CUSTOM, 0), NOW_US, "its own cursor has moved");
    CHECK_EQ(trigger(store, "harvest", NULL, false).slices, 0, "a is under way");
    CHECK_EQ(cursor_of(store, NAMESPACE_EXPR, 0), at("2025-12-29"), "and not passed by b");
    planning_end_all(store, TASK_SUCCEEDED);
    (void)trigger(store, "harvest", NULL, false);
    CHECK_EQ(cursor_of(store, NAMESPACE_EXPR, 0), NOW_US, "only by itself");
    contract_end();
}

TEST(an_edited_parameter_is_another_query_and_starts_again)
{
    struct store *store = contract_store();
    struct plan_result result;

    planning_apply(store, &WITH_A);
    CHECK_EQ(trigger(store, "harvest", "2025-12-29", false).slices, 3, "three days of a");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(trigger(store, "harvest", NULL, false).slices, 0, "all of it");
    planning_apply(store, &WITH_B);
    result = trigger(store, "harvest", NULL, false);
    CHECK_EQ(result.slices, 3, "the same days of b, from where a began");
    CHECK(str_find(result.apart, STR("2025-12-29")) < result.apart.len, "and it says so");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(trigger(store, "harvest", NULL, false).slices, 0, "covered");
    planning_apply(store, &WITH_A);
    CHECK_EQ(trigger(store, "harvest", NULL, false).slices, 0, "what a has covered still counts");
    contract_end();
}

TEST(an_edited_query_starts_again_and_an_edited_page_does_not)
{
    const struct planning_source other = { .query = "      type: journal\n", .window = DAYS };
    const struct planning_source larger = { .window = DAYS, .page = "size_max: 1000" };
    const struct planning_source plain = { .window = DAYS };
    struct store *store = contract_store();

    planning_apply(store, &plain);
    CHECK_EQ(trigger(store, "harvest", "2025-12-29", false).slices, 3, "three days");
    planning_end_all(store, TASK_SUCCEEDED);
    planning_apply(store, &larger);
    CHECK_EQ(trigger(store, "harvest", NULL, false).slices, 0, "a page size selects nothing");
    planning_apply(store, &other);
    CHECK_EQ(trigger(store, "harvest", NULL, false).slices, 3, "the query does");
    contract_end();
}

TEST(a_global_namespace_keeps_its_cursor_and_yet_a_triggers_selection_is_apart)
{
    static const char GLOBAL[] = "  harvest: { endpoint: works, namespace: global }\n";
    struct planning_source a = WITH_A, b = WITH_B;
    struct store *store = contract_store();

    a.operations = b.operations = GLOBAL;
    planning_apply(store, &a);
    CHECK_EQ(trigger(store, "harvest", "2025-12-29", false).slices, 3, "three days of a");
    planning_end_all(store, TASK_SUCCEEDED);
    planning_apply(store, &b);
    CHECK_EQ(trigger(store, "harvest", NULL, false).slices, 0, "as the source says");
    planning_apply(store, &a);
    CHECK_EQ(trigger(store, "harvest", "2025-12-29", true).slices, 3, "b is not covered by a");
    contract_end();
}

TEST(a_second_backfill_with_another_parameter_plans_its_windows)
{
    struct store *store = contract_store();

    planning_apply(store, &WITH_A);
    (void)trigger(store, "harvest", "2025-12-31", false);
    CHECK_EQ(trigger(store, "backfill", "2025-12-29", false).slices, 2, "two days of a");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(trigger(store, "backfill", "2025-12-29", false).slices, 0, "done");
    CHECK_EQ(trigger(store, "backfill", "2025-12-29", true).slices, 3, "the days of b, by --set");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(trigger(store, "backfill", "2025-12-29", true).slices, 0, "done");
    contract_end();
}

/* The harvest does not go where its query selects nothing of the backfill's. */
TEST(a_backfill_with_another_parameter_goes_beyond_the_cursor_of_the_harvest)
{
    struct store *store = contract_store();

    planning_apply(store, &WITH_A);
    CHECK_EQ(trigger(store, "harvest", "2025-12-29", false).slices, 3, "the harvest of a");
    CHECK_EQ(trigger(store, "backfill", "2025-12-28", false).slices, 1, "a, up to the harvest");
    CHECK_EQ(trigger(store, "backfill", "2025-12-28", true).slices, 4, "b, up to now");
    CHECK_EQ(trigger(store, "backfill", "2025-12-30", false).slices, 0, "the harvest goes there");
    CHECK_EQ(trigger(store, "backfill", "2025-12-30", true).slices, 2, "but not for b");
    contract_end();
}

TEST(an_edited_parameter_is_another_backfill_of_the_same_bounds)
{
    struct plan_request request = planning_request("backfill");
    struct store *store = contract_store();

    request.from = maybe("2025-12-29");
    request.to = maybe("2025-12-31");
    request.campaign = STR("old years");
    planning_apply(store, &WITH_A);
    CHECK_EQ(planning_trigger(store, &request).slices, 2, "two days of a");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(planning_trigger(store, &request).slices, 0, "done");
    planning_apply(store, &WITH_B);
    CHECK_EQ(planning_trigger(store, &request).slices, 2, "two days of b");
    contract_end();
}

TEST(a_setting_that_selects_nothing_changes_no_namespace)
{
    static const struct override SIZE[] = { { STR_INIT("page.size"), STR_INIT("50") },
                                            { STR_INIT("params.q"), STR_INIT("a") } };
    struct plan_request request = planning_request("harvest");
    struct store *store = contract_store();

    planning_apply(store, &WITH_A);
    request.from = maybe("2025-12-29");
    CHECK_EQ(planning_trigger(store, &request).slices, 3, "three days");
    request.overrides = (struct override_list){ SIZE, 2 };
    CHECK_EQ(planning_trigger(store, &request).slices, 0, "the same windows, the same value");
    contract_end();
}

TEST(an_update_by_id_with_another_selection_is_refused_with_the_reason)
{
    const struct planning_source source = {
        .top = "params: { q: a }\nexpr: { define: { who: \"${params.q}\" } }",
        .query = "      q: \"${expr.who}\"\n",
        .window = DAYS
    };
    struct plan_request request = planning_request("update");
    struct store *store = contract_store();
    struct plan_result result;
    struct error err = { 0 };

    planning_apply(store, &source);
    request.overrides = (struct override_list){ SET_B, 1 };
    CHECK(!plan_trigger(store, contract_arena(), &request, &result, &err), "refused");
    CHECK_STR(str_of(err.code), STR("plan.request"), err.text);
    CHECK(str_find(str_of(err.text), STR("which records are selected")) < strlen(err.text),
          err.text);
    contract_end();
}

TEST(a_trigger_with_fewer_pages_covers_no_window_of_the_sources_own)
{
    static const struct override FEWER[] = { { STR_INIT("page.max_pages"), STR_INIT("2") } };
    const struct planning_source source = {
        .page = "max_pages: 4",
        .window = DAYS,
        .operations = "  harvest: { endpoint: works, slice: { by: page, pages: 2 } }"
    };
    struct plan_request request = planning_request("harvest");
    struct store *store = contract_store();
    struct planning_source more = source;

    more.page = "max_pages: 8";
    planning_apply(store, &source);
    request.from = maybe("2025-12-29");
    request.overrides = (struct override_list){ FEWER, 1 };
    CHECK_EQ(planning_trigger(store, &request).slices, 1, "two pages");
    planning_end_all(store, TASK_SUCCEEDED);
    request.overrides = (struct override_list){ 0 };
    CHECK_EQ(planning_trigger(store, &request).slices, 2, "all four, for the same window");
    planning_end_all(store, TASK_SUCCEEDED);
    planning_apply(store, &more);
    CHECK_EQ(planning_trigger(store, &request).slices, 4, "and eight, when the source says so");
    contract_end();
}

/* ---- references ---- */

TEST(the_value_of_a_reference_that_selects_is_part_of_the_query)
{
    static const struct fixed_secret first[] = { { "env:Q", "cancer" } };
    static const struct fixed_secret second[] = { { "env:Q", "heart" } };
    const struct planning_source source = {
        .top = "params: { q: { value: env:Q, selects: true, required: true } }",
        .query = QUERY,
        .window = DAYS
    };
    struct plan_request request = planning_request("harvest");
    struct fixed_secrets one, two, none;
    struct store *store = contract_store();
    struct plan_result result;
    struct error err = { 0 };

    fixed_secrets_init(&one, first, 1);
    fixed_secrets_init(&two, second, 1);
    fixed_secrets_init(&none, first, 0);
    planning_apply(store, &source);
    request.from = maybe("2025-12-29");
    request.secrets = &one.source;
    CHECK_EQ(planning_trigger(store, &request).slices, 3, "three days of one");
    CHECK_EQ(planning_trigger(store, &request).slices, 0, "under way");
    request.secrets = &two.source;
    CHECK_EQ(planning_trigger(store, &request).slices, 3, "another value");
    request.secrets = &none.source;
    CHECK(!plan_trigger(store, contract_arena(), &request, &result, &err), "no value");
    CHECK_STR(str_of(err.code), STR("source.selects"), err.text);
    contract_end();
}

TEST(another_reference_counts_by_its_name_and_is_not_read)
{
    static const struct fixed_secret first[] = { { "env:Q", "cancer" } };
    const struct planning_source source = { .top = "params: { q: env:Q }",
                                            .query = QUERY,
                                            .window = DAYS };
    struct plan_request request = planning_request("harvest");
    struct fixed_secrets one;
    struct store *store = contract_store();

    fixed_secrets_init(&one, first, 1);
    planning_apply(store, &source);
    request.from = maybe("2025-12-29");
    request.secrets = &one.source;
    CHECK_EQ(planning_trigger(store, &request).slices, 3, "three days");
    CHECK_EQ(one.asked, 0, "a plan needs no secret");
    contract_end();
}
