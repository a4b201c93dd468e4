/* A store that fails at any call changes nothing; and faults on demand do what fault_store.h says.
 */
#include <string.h>

#include "contract.h"
#include "fault_store.h"
#include "port/store_lease.h"
#include "port/store_outbox.h"
#include "port/store_pause.h"
#include "port/store_quarantine.h"
#include "port/store_record.h"
#include "port/store_registry.h"
#include "port/store_run.h"
#include "rows.h"
#include "virtual_clock.h"

/* A transaction of several calls; false as soon as one of them fails. */
static bool work(struct store *store, struct error *err)
{
    struct registry_value values[64] = { { .is_set = true, .text = STR_INIT("text") } };
    struct registry_row row = { .table = REGISTRY_PROVENANCE, .values = values };
    struct registry_source source;
    int64_t id;

    if (!store_begin(store, err))
        return false;
    if (!store_registry_lock(store, STR("b"), err) ||
        !store_registry_insert(
            store,
            &(struct registry_insert){
                .code = STR("b"), .row = &row, .at_us = NOW_US + 1, .version = 1 },
            &id, err) ||
        !store_registry_load(store, contract_arena(), STR("a"), NOW_US, &source, err) ||
        !store_registry_close(store, REGISTRY_PROVENANCE, source.rows[0].id, NOW_US + 2, err) ||
        !store_registry_insert(
            store,
            &(struct registry_insert){
                .code = STR("a"), .row = &row, .at_us = NOW_US + 2, .version = 2 },
            &id, err) ||
        !store_commit(store, err)) {
        store_rollback(store);
        return false;
    }
    return true;
}

static struct store *store_with_a(void)
{
    struct store *store = contract_store();
    struct registry_value values[64] = { { .is_set = false } };
    const struct registry_row row = { .table = REGISTRY_PROVENANCE, .values = values };
    struct error err = { 0 };
    int64_t id;

    fault_store_wrap(store);
    REQUIRE_OK(
        store_registry_insert(store,
                              &(struct registry_insert){
                                  .code = STR("a"), .row = &row, .at_us = NOW_US, .version = 1 },
                              &id, &err),
        err);
    return store;
}

TEST(a_failure_at_any_call_leaves_the_store_unchanged)
{
    struct store *store = store_with_a();
    const uint64_t before = contract_digest();
    struct error err = { 0 };
    int64_t i, calls = 0;

    for (i = 1; i <= 100; i++) {
        calls = fault_store_calls(store);
        fault_store_arm(store, &(struct store_fault){ .number = i });
        if (work(store, &err))
            break;
        CHECK_EQ(err.level, ERROR_TRANSIENT, "the level by default");
        CHECK(fault_store_disarm(store), "it failed on demand");
        CHECK_EQ(contract_digest() == before, 1, "unchanged");
    }
    CHECK_STR(str_of(err.code), STR("store.commit_unknown"), "the last to fail was the commit");
    CHECK(i > 7, "begin, lock, insert, load, close, insert, commit have failed");
    CHECK_EQ(fault_store_calls(store) - calls, i - 1, "every call has failed once");
    CHECK_EQ(contract_digest() != before, 1, "and then it went through");
    contract_end();
}

/* All that a worker does for one page, in one transaction. */
static bool one_batch(struct store *store, const struct task *task, struct error *err)
{
    const struct lease lease = { task->id, task->lease_epoch };
    const struct record_context context = { .source = task->source,
                                            .endpoint = task->endpoint,
                                            .expr_hash = STR(HASH_A),
                                            .now_us = NOW_US };
    const struct str id = STR("10.1/x");
    const struct quarantined bad = { .source = task->source,
                                     .endpoint = task->endpoint,
                                     .reason = STR("record.no_id"),
                                     .created_us = NOW_US };
    const struct cursor_event moved = { .name = rows_cursor_name(),
                                        .next = { .type = CURSOR_TIME, .instant_us = NOW_US },
                                        .idempotent_key = STR("e"),
                                        .remarks = STR("{}"),
                                        .created_us = NOW_US };
    const struct record_write write = {
        .version = 1, .provider_id = id, .content_hash = STR(HASH_B), .payload = STR("x")
    };
    struct run run = { .task_id = task->id,
                       .source = task->source,
                       .status = RUN_RUNNING,
                       .stats = STR("{}"),
                       .started_us = NOW_US };
    struct batch batch = { .task_id = task->id,
                           .number = 1,
                           .idempotent_key = STR("b"),
                           .status = BATCH_SUCCEEDED,
                           .request_digest = STR("{}"),
                           .response_digest = STR("{}"),
                           .stats = STR("{}"),
                           .created_us = NOW_US };
    struct batch_added added;
    struct record_state state;
    int64_t bad_added;
    bool is_so;

    if (!store_begin(store, err))
        return false;
    if (!store_lease_renew(store, lease, NOW_US * 2, NOW_US, &is_so, err) ||
        !store_run_add(store, &run, err))
        goto rollback;
    batch.run_id = run.id;
    if (!store_record_check(store, contract_arena(), &context, (struct record_ids){ &id, 1 },
                            &state, err) ||
        !rows_write(store, &context, &write, 1, &is_so, err) ||
        !store_quarantine_add(store, &bad, 1, &bad_added, err) ||
        !store_batch_add(store, contract_arena(), &batch, &added, err) ||
        !store_run_save(store, &run, NOW_US, &is_so, err) ||
        !store_cursor_event_add(store, &moved, &is_so, err) || !store_commit(store, err))
        goto rollback;
    return true;
rollback:
    store_rollback(store);
    return false;
}

TEST(a_batch_that_fails_at_any_call_leaves_nothing)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct task_list list;
    struct error err = { 0 };
    uint64_t before;
    int64_t i;

    fault_store_wrap(store);
    rows_add_tasks(store, &plan, 1);
    REQUIRE_OK(store_task_claim(store, contract_arena(),
                                &(struct task_claim){ .owner = STR("me"),
                                                      .now_us = NOW_US + 9,
                                                      .until_us = NOW_US + 99,
                                                      .limit = 1 },
                                &list, &err),
               err);
    before = contract_digest();
    for (i = 1; i <= 100; i++) {
        fault_store_arm(store, &(struct store_fault){ .number = i, .level = ERROR_FATAL });
        if (one_batch(store, &list.items[0], &err))
            break;
        CHECK_EQ(err.level, ERROR_FATAL, "the level that was wanted");
        CHECK_EQ(contract_digest() == before, 1, "unchanged");
    }
    CHECK(!fault_store_disarm(store), "every call has failed once");
    CHECK(i > 10, "ten calls of the port are at least ten of the database");
    CHECK_EQ(contract_digest() != before, 1, "and then it went through");
    contract_end();
}

TEST(rollback_restores_exactly)
{
    struct store *store = store_with_a();
    const uint64_t before = contract_digest();
    struct registry_value values[64] = { { .is_set = false } };
    const struct registry_row row = { .table = REGISTRY_HTTP, .values = values };
    struct error err = { 0 };
    int64_t id;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(
        store_registry_insert(store,
                              &(struct registry_insert){
                                  .code = STR("a"), .row = &row, .at_us = NOW_US, .version = 1 },
                              &id, &err),
        err);
    store_rollback(store);
    CHECK_EQ(contract_digest() == before, 1, "as before");
    REQUIRE_OK(
        store_registry_insert(store,
                              &(struct registry_insert){
                                  .code = STR("a"), .row = &row, .at_us = NOW_US, .version = 1 },
                              &id, &err),
        err);
    CHECK_EQ(contract_digest() != before, 1, "the digest sees the row");
    contract_end();
}

/* ---- what a fault does ---- */

static size_t count_sources(struct store *store, const char *name)
{
    struct registry_source source;
    struct error err = { 0 };

    REQUIRE_OK(
        store_registry_load(store, contract_arena(), str_of(name), NOW_US + 5, &source, &err), err);
    return source.count;
}

TEST(a_lost_commit_has_happened_or_not)
{
    static const enum fault_effect effects[] = { FAULT_BEFORE, FAULT_AFTER };

    for (size_t i = 0; i < ARRAY_LEN(effects); i++) {
        struct store *store = store_with_a();
        struct error err = { 0 };

        fault_store_arm(store, &(struct store_fault){ .effect = effects[i], .call = FAULT_COMMIT });
        CHECK(!work(store, &err), "the result is lost");
        CHECK_EQ(err.level, ERROR_TRANSIENT, "to be tried again");
        CHECK_STR(str_of(err.code), STR("store.commit_unknown"), "unknown to the caller");
        CHECK_EQ(count_sources(store, "b"), effects[i] == FAULT_AFTER, "done, or not");
        contract_end();
    }
}

TEST(a_statement_outside_a_transaction_may_be_done_and_its_result_lost)
{
    struct registry_value values[64] = { { .is_set = false } };
    const struct registry_row row = { .table = REGISTRY_PROVENANCE, .values = values };
    struct store *store = store_with_a();
    struct error err = { 0 };
    int64_t id;

    fault_store_arm(store, &(struct store_fault){ .effect = FAULT_AFTER, .call = FAULT_STATEMENT });
    CHECK(!store_registry_insert(store,
                                 &(struct registry_insert){
                                     .code = STR("b"), .row = &row, .at_us = NOW_US, .version = 1 },
                                 &id, &err),
          "lost");
    CHECK_STR(str_of(err.code), STR("store.lost"), "lost");
    CHECK_EQ(count_sources(store, "b"), 1, "but done");
    contract_end();
}

TEST(a_fault_has_a_text_a_number_and_a_level)
{
    struct store *store = store_with_a();
    struct registry_entry_list sources;
    struct pause_list pauses;
    struct error err = { 0 };

    fault_store_arm(store, &(struct store_fault){ .sql = "FROM ing_pause",
                                                  .number = 2,
                                                  .level = ERROR_FATAL,
                                                  .code = "store.corrupt" });
    for (int i = 1; i <= 3; i++) {
        CHECK(store_registry_list(store, contract_arena(), NOW_US, &sources, &err),
              "other calls succeed");
        CHECK_EQ(store_pause_list(store, contract_arena(), STR(""), &pauses, &err), i != 2,
                 "only the second with this text");
    }
    CHECK_EQ(err.level, ERROR_FATAL, "its level");
    CHECK_STR(str_of(err.code), STR("store.corrupt"), "its code");
    contract_end();
}

TEST(a_slow_call_moves_the_clock)
{
    struct store *store = store_with_a();
    struct virtual_clock clock;

    virtual_clock_init(&clock, NOW_US);
    fault_store_arm(
        store, &(struct store_fault){ .effect = FAULT_SLOW, .clock = &clock.clock, .slow_us = 7 });
    CHECK_EQ(count_sources(store, "a"), 1, "it succeeds");
    CHECK_EQ(count_sources(store, "a"), 1, "and so does the next");
    CHECK_EQ(clock_now_us(&clock.clock), NOW_US + 7, "one of them took time");
    contract_end();
}

/* Whether the session can read. */
static bool can_read(struct store *store)
{
    struct registry_entry_list sources;
    struct error err = { 0 };

    return store_registry_list(store, contract_arena(), NOW_US, &sources, &err);
}

TEST(an_outage_affects_all_processes_until_it_ends)
{
    struct store *store = store_with_a();
    struct store *other = contract_another(store);
    struct error err = { 0 };

    fault_store_new_process(other);
    fault_store_arm(store, &(struct store_fault){ .effect = FAULT_OUTAGE, .number = 2 });
    CHECK(can_read(other), "not yet");
    CHECK(!can_read(other) && !can_read(store) && !can_read(other), "no session can");
    CHECK(!store_reconnect(other, &err), "and none can connect");
    CHECK_STR(str_of(err.code), STR("store.lost"), "lost");
    CHECK(fault_store_disarm(store), "it has happened");
    CHECK(store_reconnect(other, &err), "it is over");
    CHECK(can_read(store) && can_read(other), "for all");
    contract_end();
}

TEST(a_death_affects_one_process_and_undoes_its_transaction)
{
    struct store *store = store_with_a();
    const uint64_t before = contract_digest();
    struct store *dying = contract_another(store);
    struct store *its_other, *new_one;
    struct error err = { 0 };

    fault_store_new_process(dying);
    its_other = contract_another(dying);
    fault_store_arm(store, &(struct store_fault){ .effect = FAULT_DEATH, .number = 5 });
    CHECK(!work(dying, &err), "it dies in the middle");
    CHECK_EQ(err.level, ERROR_FATAL, "its level");
    CHECK(!can_read(dying) && !can_read(its_other), "all of its sessions");
    CHECK(!store_reconnect(its_other, &err), "for good");
    CHECK(can_read(store), "other processes live on");
    CHECK_EQ(contract_digest() == before, 1, "nothing is left of its work");
    new_one = contract_another(store);
    REQUIRE_OK(work(new_one, &err), err);
    CHECK_EQ(count_sources(store, "b"), 1, "its successor can do the work");
    contract_end();
}
