/* Pauses, signals and re-slice requests. */
#include "contract.h"
#include "port/store_pause.h"
#include "port/store_signal.h"
#include "rows.h"

TEST(pauses_are_rows_each_lifted_on_its_own)
{
    struct store *store = contract_store();
    struct pause pause = { STR("crossref"), STR(""),    PAUSE_PAUSED,
                           STR("holiday"),  STR("ada"), NOW_US };
    struct pause_list list;
    struct error err = { 0 };
    bool is_so;

    REQUIRE_OK(store_pause_add(store, &pause, &is_so, &err), err);
    CHECK(is_so, "new");
    pause.reason = STR("another");
    REQUIRE_OK(store_pause_add(store, &pause, &is_so, &err), err);
    CHECK(!is_so, "it rests already");
    pause.kind = PAUSE_STOPPED;
    REQUIRE_OK(store_pause_add(store, &pause, &is_so, &err), err);
    CHECK(is_so, "stopped as well");
    pause = (struct pause){ STR("Pubmed"), STR("esearch"), PAUSE_PAUSED, STR(""), STR(""), NOW_US };
    REQUIRE_OK(store_pause_add(store, &pause, &is_so, &err), err);

    REQUIRE_OK(store_pause_list(store, contract_arena(), STR(""), &list, &err), err);
    REQUIRE(list.count == 3, "all");
    CHECK_STR(list.items[0].source, STR("Pubmed"), "bytewise order");
    CHECK_EQ(list.items[1].kind, PAUSE_PAUSED, "by kind");
    CHECK_STR(list.items[1].reason, STR("holiday"), "the first reason stands");
    CHECK_STR(list.items[1].created_by, STR("ada"), "who");
    CHECK_EQ(list.items[1].created_us, NOW_US, "when");
    CHECK(pause_list_has(&list, STR("crossref"), STR("works")), "the whole source");
    CHECK(pause_list_has(&list, STR("Pubmed"), STR("esearch")), "the endpoint");
    CHECK(!pause_list_has(&list, STR("Pubmed"), STR("efetch")), "no other endpoint");
    CHECK(!pause_list_has(&list, STR("arxiv"), STR("oai")), "no other source");

    REQUIRE_OK(store_pause_remove(store, STR("crossref"), STR(""), PAUSE_PAUSED, &is_so, &err),
               err);
    CHECK(is_so, "lifted");
    REQUIRE_OK(store_pause_remove(store, STR("crossref"), STR(""), PAUSE_PAUSED, &is_so, &err),
               err);
    CHECK(!is_so, "no longer there");
    REQUIRE_OK(store_pause_list(store, contract_arena(), STR("crossref"), &list, &err), err);
    REQUIRE(list.count == 1, "the stop remains");
    CHECK_EQ(list.items[0].kind, PAUSE_STOPPED, "the stop remains");
    contract_end();
}

static struct signal signal_of(const char *endpoint, const char *id)
{
    return (struct signal){ .source = STR("crossref"),
                            .endpoint = str_of(endpoint),
                            .provider_id = str_of(id),
                            .reason = STR("retracted"),
                            .created_by = STR("cli"),
                            .created_us = NOW_US };
}

TEST(a_record_has_one_open_signal)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct signal signals[] = { signal_of("works", "a"), signal_of("works", "b"),
                                      signal_of("works", "a"), signal_of("journals", "a") };
    struct signal_list list;
    struct error err = { 0 };
    int64_t ids[3] = { 0 }, count = 0;

    REQUIRE_OK(store_signal_add(store, signals, 4, &count, &err), err);
    CHECK_EQ(count, 3, "one was asked for twice");
    REQUIRE_OK(store_signal_add(store, signals, 4, &count, &err), err);
    CHECK_EQ(count, 0, "all open already");
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"), .limit = 10 },
                                 &list, &err),
               err);
    REQUIRE(list.count == 3, "of all endpoints");
    for (size_t i = 0; i < 3; i++)
        ids[i] = list.items[i].id;
    CHECK(ids[0] < ids[1] && ids[1] < ids[2], "by id");
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"),
                                                          .endpoint = STR("works"),
                                                          .limit = 1 },
                                 &list, &err),
               err);
    REQUIRE(list.count == 1, "a page");
    CHECK_STR(list.items[0].reason, STR("retracted"), "why");
    CHECK_STR(list.items[0].created_by, STR("cli"), "who");
    CHECK_EQ(list.items[0].created_us, NOW_US, "when");
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"),
                                                          .endpoint = STR("works"),
                                                          .after_id = list.items[0].id,
                                                          .limit = 10 },
                                 &list, &err),
               err);
    CHECK_EQ(list.count, 1, "the next page");

    REQUIRE_OK(
        store_signal_consume(store,
                             &(struct signal_consume){
                                 .ids = ids, .count = 2, .plan_id = plan.id, .now_us = NOW_US + 1 },
                             &count, &err),
        err);
    CHECK_EQ(count, 2, "taken up");
    REQUIRE_OK(
        store_signal_consume(store,
                             &(struct signal_consume){
                                 .ids = ids, .count = 3, .plan_id = plan.id, .now_us = NOW_US + 2 },
                             &count, &err),
        err);
    CHECK_EQ(count, 1, "only what was left");
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"), .limit = 10 },
                                 &list, &err),
               err);
    CHECK_EQ(list.count, 0, "none open");
    REQUIRE_OK(store_signal_add(store, signals, 1, &count, &err), err);
    CHECK_EQ(count, 1, "open again");
    contract_end();
}

TEST(a_signal_is_closed_for_the_reason_it_was_given_for)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct signal signals[] = { signal_of("works", "a"), signal_of("works", "b") };
    const struct str both[] = { STR("a"), STR("b") };
    struct signal_list list;
    struct error err = { 0 };
    int64_t count;
    bool closed;

    REQUIRE_OK(store_signal_add(store, signals, 2, &count, &err), err);
    signals[0].reason = STR("another");
    REQUIRE_OK(store_signal_close(store, &signals[0], STR("ada"), NOW_US + 1, &closed, &err), err);
    CHECK(!closed, "somebody else wants it");
    REQUIRE_OK(store_signal_close(store, &signals[1], STR("ada"), NOW_US + 1, &closed, &err), err);
    CHECK(closed, "its own reason");
    REQUIRE_OK(store_signal_close(store, &signals[1], STR("ada"), NOW_US + 2, &closed, &err), err);
    CHECK(!closed, "once");
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"), .limit = 10 },
                                 &list, &err),
               err);
    REQUIRE(list.count == 1, "one is open");
    CHECK_STR(list.items[0].provider_id, STR("a"), "the other");
    REQUIRE_OK(store_signal_repeat(
                   store,
                   &(struct signal_repeat){
                       .plan_id = plan.id, .provider_ids = both, .count = 2, .now_us = NOW_US + 3 },
                   &count, &err),
               err);
    CHECK_EQ(count, 0, "no plan's");
    contract_end();
}

static struct signal_list signals_of(struct store *store, struct signal_filter filter)
{
    struct signal_list list;
    struct error err = { 0 };

    filter.limit = 100;
    REQUIRE_OK(store_signal_list(store, contract_arena(), &filter, &list, &err), err);
    return list;
}

TEST(signals_are_found_by_source_endpoint_and_reason)
{
    struct store *store = contract_store();
    struct signal signals[] = { signal_of("works", "a"), signal_of("journals", "b"),
                                signal_of("works", "c"), signal_of("works", "d") };
    struct error err = { 0 };
    int64_t count;

    signals[2].reason = STR("missing");
    signals[3].source = STR("pubmed");
    REQUIRE_OK(store_signal_add(store, signals, 4, &count, &err), err);
    CHECK_EQ(signals_of(store, (struct signal_filter){ 0 }).count, 4, "of any source");
    CHECK_EQ(signals_of(store, (struct signal_filter){ .source = STR("pubmed") }).count, 1, "one");
    CHECK_EQ(signals_of(store, (struct signal_filter){ .endpoint = STR("works") }).count, 3,
             "of an endpoint");
    CHECK_EQ(signals_of(store, (struct signal_filter){ .reason = STR("missing") }).count, 1,
             "for a reason");
    contract_end();
}

TEST(a_signal_tells_how_often_its_record_was_tried_and_is_dropped_once)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct signal signals[] = { signal_of("works", "a"), signal_of("journals", "a"),
                                      signal_of("works", "b") };
    struct signal_list list;
    struct error err = { 0 };
    int64_t count;
    bool dropped;

    for (int tries = 0; tries < 3; tries++) {
        REQUIRE_OK(store_signal_add(store, signals, 3, &count, &err), err);
        list = signals_of(store, (struct signal_filter){ .endpoint = STR("works") });
        REQUIRE(list.count == 2, "a and b");
        for (size_t i = 0; i < list.count; i++) {
            const bool is_a = str_eq(list.items[i].provider_id, STR("a"));

            CHECK_EQ(list.items[i].tried, is_a ? tries : 0, is_a ? "a" : "b");
            if (is_a && tries < 2)
                REQUIRE_OK(
                    store_signal_consume(store,
                                         &(struct signal_consume){ .ids = &list.items[i].id,
                                                                   .count = 1,
                                                                   .plan_id = plan.id,
                                                                   .now_us = NOW_US + tries },
                                         &count, &err),
                    err);
        }
    }
    list = signals_of(store, (struct signal_filter){ .endpoint = STR("works") });
    REQUIRE_OK(store_signal_drop(store, list.items[0].id, STR("ada"), NOW_US + 9, &dropped, &err),
               err);
    CHECK(dropped, "dropped");
    REQUIRE_OK(store_signal_drop(store, list.items[0].id, STR("ada"), NOW_US + 9, &dropped, &err),
               err);
    CHECK(!dropped, "once");
    REQUIRE_OK(store_signal_drop(store, 4711, STR("ada"), NOW_US + 9, &dropped, &err), err);
    CHECK(!dropped, "there is none");
    CHECK_EQ(signals_of(store, (struct signal_filter){ .endpoint = STR("works") }).count, 1,
             "the other stays");
    contract_end();
}

TEST(what_a_plan_took_up_and_did_not_do_is_said_again)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store), other = rows_add_plan(store);
    const struct signal signals[] = { signal_of("works", "a"), signal_of("works", "b"),
                                      signal_of("works", "c"), signal_of("works", "d") };
    const struct str given_back[] = { STR("a"), STR("b"), STR("d"), STR("e") };
    struct signal_list list;
    struct error err = { 0 };
    int64_t ids[4] = { 0 }, count = 0;

    REQUIRE_OK(store_signal_add(store, signals, 4, &count, &err), err);
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"), .limit = 10 },
                                 &list, &err),
               err);
    REQUIRE(list.count == 4, "open");
    for (size_t i = 0; i < 4; i++)
        ids[i] = list.items[i].id;
    REQUIRE_OK(
        store_signal_consume(store,
                             &(struct signal_consume){
                                 .ids = ids, .count = 3, .plan_id = plan.id, .now_us = NOW_US + 1 },
                             &count, &err),
        err);
    REQUIRE_OK(store_signal_consume(
                   store,
                   &(struct signal_consume){
                       .ids = ids + 3, .count = 1, .plan_id = other.id, .now_us = NOW_US + 1 },
                   &count, &err),
               err);
    REQUIRE_OK(store_signal_add(store, signals, 1, &count, &err), err); /* a, by somebody else */
    REQUIRE_OK(store_signal_repeat(store,
                                   &(struct signal_repeat){ .plan_id = plan.id,
                                                            .provider_ids = given_back,
                                                            .count = 4,
                                                            .now_us = NOW_US + 2 },
                                   &count, &err),
               err);
    CHECK_EQ(count, 1, "b: a is open, c was done, d is another plan's, e is nobody's");
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"), .limit = 10 },
                                 &list, &err),
               err);
    REQUIRE(list.count == 2, "both open");
    CHECK_STR(list.items[0].provider_id, STR("a"), "a");
    CHECK_STR(list.items[1].provider_id, STR("b"), "b");
    CHECK_STR(list.items[1].reason, STR("retracted"), "its reason");
    CHECK_STR(list.items[1].created_by, STR("cli"), "and whose");
    CHECK_EQ(list.items[1].created_us, NOW_US + 2, "from now on");
    contract_end();
}

TEST(a_reslice_is_asked_for_once_and_claimed_once)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct reslice_ticket ticket = { .reason = RESLICE_OVER_CAP,
                                     .detail = STR("{\"total\":20000}"),
                                     .created_us = NOW_US };
    struct reslice_ticket_list list;
    struct task_list tasks;
    struct error err = { 0 };
    bool added;

    rows_add_tasks(store, &plan, 5);
    REQUIRE_OK(store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 10 },
                               &tasks, &err),
               err);
    for (size_t i = 0; i < 5; i++) {
        ticket.task_id = tasks.items[i].id;
        ticket.slice_id = tasks.items[i].slice_id;
        ticket.reason = (enum reslice_reason)i;
        ticket.remaining = i == 4 ? (struct window){ 0, 0 } : tasks.items[i].window;
        REQUIRE_OK(store_reslice_add(store, &ticket, &added, &err), err);
        CHECK(added, "new");
        REQUIRE_OK(store_reslice_add(store, &ticket, &added, &err), err);
        CHECK(!added, "asked before");
    }
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_reslice_claim(
                   store, contract_arena(),
                   &(struct reslice_claim){ .owner = STR("me"), .now_us = NOW_US, .limit = 3 },
                   &list, &err),
               err);
    CHECK_EQ(list.count, 3, "claimed");
    store_rollback(store);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_reslice_claim(
                   store, contract_arena(),
                   &(struct reslice_claim){ .owner = STR("me"), .now_us = NOW_US, .limit = 4 },
                   &list, &err),
               err);
    REQUIRE(list.count == 4, "rolled back, they were open again");
    for (size_t i = 0; i < 4; i++) {
        CHECK(list.items[i].task_id < tasks.items[4].id, "the oldest");
        CHECK(window_is_valid(list.items[i].remaining), "what remains");
        CHECK_EQ(list.items[i].created_us, NOW_US, "when");
    }
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_reslice_claim(
                   store, contract_arena(),
                   &(struct reslice_claim){ .owner = STR("you"), .now_us = NOW_US, .limit = 9 },
                   &list, &err),
               err);
    REQUIRE(list.count == 1, "the last one");
    CHECK_EQ(list.items[0].task_id, tasks.items[4].id, "the last one");
    CHECK_EQ(list.items[0].reason, RESLICE_SLOW, "why");
    CHECK(!window_is_valid(list.items[0].remaining), "no window");
    REQUIRE_OK(store_commit(store, &err), err);
    contract_end();
}
