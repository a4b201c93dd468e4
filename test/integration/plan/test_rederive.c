/* An update and a changed mapping: stored payloads are read again, and only a changed query makes
 * requests. */
#include <string.h>

#include "planning.h"
#include "port/store_expr.h"
#include "rows.h"
#include "seeded_random.h"

#define TITLE "    fields: { title: $.title }\n"
#define NAME "    fields: { title: $.name }\n"
#define QUERY "      type: journal\n"

static const char BODY[] =
    "{\"id\":\"%s\",\"updated\":\"2025-12-30\",\"title\":\"old\",\"name\":\"new\"}";

static struct plan_result trigger(struct store *store, const char *operation)
{
    static struct seeded_random random;
    struct plan_request request = planning_request(operation);

    seeded_random_init(&random, 1);
    request.random = &random.source;
    return planning_trigger(store, &request);
}

/* As a harvest with these settings would have stored it. */
static void put(struct store *store, const char *id, const char *expr_hash)
{
    const struct record_context context = { .source = STR("demo"),
                                            .endpoint = STR("works"),
                                            .expr_hash = str_of(expr_hash),
                                            .observed_us = NOW_US,
                                            .now_us = NOW_US };
    const struct str body = arena_printf(contract_arena(), BODY, id);
    const struct record_write record = { .version = 1,
                                         .provider_id = str_of(id),
                                         .has_updated = true,
                                         .updated_us = at("2025-12-30"),
                                         .observed_us = NOW_US,
                                         .content_hash = STR(HASH_B),
                                         .payload = body };
    struct error err = { 0 };
    bool written;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(rows_write(store, &context, &record, 1, &written, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static const char *harvested_by(struct store *store)
{
    const struct plan_result result = trigger(store, "harvest");
    struct plan plan;
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_plan_get(store, contract_arena(), result.plan_id, &plan, &found, &err), err);
    return arena_printf(contract_arena(), "%.*s%c", STR_ARG(plan.expr_proto_hash), 0).data;
}

static struct stored_record get(struct store *store, const char *id)
{
    struct stored_record record = { 0 };
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_record_get(store, contract_arena(),
                                &(struct record_key){ STR("demo"), STR("works"), str_of(id) },
                                &record, &found, &err),
               err);
    return record;
}

TEST(an_update_after_a_changed_mapping_makes_no_request)
{
    const struct planning_source before = { .query = TITLE }, after = { .query = NAME };
    struct store *store = contract_store();
    struct stored_event_list events;
    struct plan_result result;
    struct error err = { 0 };

    planning_apply(store, &before);
    put(store, "one", harvested_by(store));
    CHECK_EQ(trigger(store, "update").slices, 0, "nothing has changed");
    planning_apply(store, &after);
    result = trigger(store, "update");
    CHECK_EQ(result.slices, 0, "no request");
    CHECK_EQ(result.rederived.changed, 1, "but the record was read again");
    CHECK_STR(planning_value(result.remarks, "rederived.changed"), STR("1"), "as the plan says");
    CHECK_EQ(get(store, "one").version, 2, "a new version");
    REQUIRE_OK(store_outbox_of(store, contract_arena(),
                               &(struct outbox_query){ get(store, "one").id, 1, 10 }, &events,
                               &err),
               err);
    REQUIRE(events.count == 1, "and its event");
    CHECK_STR(planning_value(events.items[0].event.body, "fields.title"), STR("new"), "new fields");
    CHECK_EQ(trigger(store, "update").rederived.read, 0, "once");
    contract_end();
}

TEST(an_update_after_a_changed_query_requests_the_records)
{
    const struct planning_source before = { .query = TITLE }, after = { .query = QUERY NAME };
    struct store *store = contract_store();
    struct plan_result result;

    planning_apply(store, &before);
    put(store, "one", harvested_by(store));
    planning_apply(store, &after);
    result = trigger(store, "update");
    CHECK_EQ(result.rederived.changed, 1, "its fields come from its payload");
    CHECK_EQ(result.slices, 1, "and it is requested");
    contract_end();
}

static struct expr expr_of(struct store *store, struct str hash)
{
    struct expr expr = { 0 };
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_expr_get(store, contract_arena(), hash, &expr, &found, &err), err);
    CHECK(found, "an expression that is known");
    return expr;
}

/* Also where the store knows the expression of the new query and the new mapping: a record that has
 * it would count as fetched by that query. */
TEST(a_record_that_is_read_again_keeps_the_query_that_fetched_it)
{
    const struct planning_source before = { .query = TITLE }, after = { .query = QUERY NAME };
    struct store *store = contract_store();
    const char *old, *new;
    struct plan_result result;
    struct expr expr;

    planning_apply(store, &before);
    old = harvested_by(store);
    put(store, "one", old);
    planning_apply(store, &after);
    new = harvested_by(store);
    result = trigger(store, "update");
    CHECK_EQ(result.rederived.changed, 1, "read by the new mapping");
    CHECK_EQ(result.slices, 1, "and requested by the new query");
    expr = expr_of(store, get(store, "one").expr_hash);
    CHECK_STR(expr.query_hash, expr_of(store, str_of(old)).query_hash, "the old query");
    CHECK_STR(expr.mapping_hash, expr_of(store, str_of(new)).mapping_hash, "the new mapping");
    contract_end();
}

/* A record of an expression that the store does not know is requested, as before. */
TEST(a_record_of_an_unknown_expression_is_requested)
{
    struct store *store = contract_store();

    planning_apply(store, &(struct planning_source){ .query = TITLE });
    put(store, "one", HASH_A);
    CHECK_EQ(trigger(store, "update").slices, 1, "requested");
    CHECK_EQ(get(store, "one").version, 1, "and left alone");
    contract_end();
}
