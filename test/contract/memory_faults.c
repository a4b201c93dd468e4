/* The memory store fails on demand, at every call and by name, and changes nothing then. */
#include <string.h>

#include "adapter/memory/store.h"
#include "contract.h"
#include "port/store_lease.h"
#include "port/store_outbox.h"
#include "port/store_pause.h"
#include "port/store_quarantine.h"
#include "port/store_record.h"
#include "port/store_registry.h"
#include "port/store_run.h"
#include "rows.h"

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
        !store_registry_insert(store, STR("b"), &row, NOW_US + 1, 1, &id, err) ||
        !store_registry_load(store, contract_arena(), STR("a"), NOW_US, &source, err) ||
        !store_registry_close(store, REGISTRY_PROVENANCE, source.rows[0].id, NOW_US + 2, err) ||
        !store_registry_insert(store, STR("a"), &row, NOW_US + 2, 2, &id, err) ||
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

    REQUIRE_OK(store_registry_insert(store, STR("a"), &row, NOW_US, 1, &id, &err), err);
    return store;
}

TEST(a_failure_at_any_call_leaves_the_store_unchanged)
{
    struct store *store = store_with_a();
    const uint64_t before = memory_store_hash(store);
    struct error err = { 0 };
    int64_t calls = memory_store_calls(store);
    int64_t i;

    for (i = 1; i <= 100; i++) {
        memory_store_fail(store, &(struct memory_fault){ .call = i });
        if (work(store, &err))
            break;
        CHECK_EQ(err.level, ERROR_TRANSIENT, "the level asked for");
        CHECK_STR(str_of(err.code), STR("store.lost"), "the code by default");
        CHECK_EQ(memory_store_hash(store) == before, 1, "unchanged");
    }
    CHECK_EQ(i, 8, "begin, lock, insert, load, close, insert, commit have failed");
    CHECK_EQ(memory_store_calls(store) - calls, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 7, "calls");
    CHECK_EQ(memory_store_hash(store) != before, 1, "and then it went through");
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
    struct batch old;
    struct record_state state;
    int64_t added;
    bool is_so;

    if (!store_begin(store, err))
        return false;
    if (!store_lease_renew(store, lease, NOW_US * 2, NOW_US, &is_so, err) ||
        !store_run_add(store, &run, err))
        goto rollback;
    batch.run_id = run.id;
    if (!store_record_check(store, contract_arena(), &context, &id, 1, &state, err) ||
        !rows_write(store, &context, &write, 1, &is_so, err) ||
        !store_quarantine_add(store, &bad, 1, &added, err) ||
        !store_batch_add(store, contract_arena(), &batch, &added, &is_so, &old, err) ||
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

    rows_add_tasks(store, &plan, 1);
    REQUIRE_OK(store_task_claim(store, contract_arena(),
                                &(struct task_claim){ .owner = STR("me"),
                                                      .now_us = NOW_US + 9,
                                                      .until_us = NOW_US + 99,
                                                      .limit = 1 },
                                &list, &err),
               err);
    before = memory_store_hash(store);
    for (i = 1; i <= 100; i++) {
        memory_store_fail(store, &(struct memory_fault){ .call = i, .level = ERROR_FATAL });
        if (one_batch(store, &list.items[0], &err))
            break;
        CHECK_EQ(err.level, ERROR_FATAL, "the level asked for");
        CHECK_EQ(memory_store_hash(store) == before, 1, "unchanged");
    }
    CHECK_EQ(i, 11, "ten calls have failed");
    CHECK_EQ(memory_store_hash(store) != before, 1, "and then it went through");
    contract_end();
}

TEST(rollback_restores_exactly)
{
    struct store *store = store_with_a();
    struct registry_value values[64] = { { .is_set = false } };
    const struct registry_row row = { .table = REGISTRY_HTTP, .values = values };
    const uint64_t before = memory_store_hash(store);
    struct error err = { 0 };
    int64_t first = 0, second = 0;

    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(store_begin(store, &err), err);
        REQUIRE_OK(store_registry_insert(store, STR("a"), &row, NOW_US, 1,
                                         i == 0 ? &first : &second, &err),
                   err);
        store_rollback(store);
        CHECK_EQ(memory_store_hash(store) == before, 1, "as before");
    }
    CHECK_EQ(second, first, "the next id as well");
    contract_end();
}

TEST(a_commit_may_be_done_and_its_answer_lost)
{
    struct store *store = store_with_a();
    struct registry_source source;
    struct error err = { 0 };

    memory_store_fail(store, &(struct memory_fault){ .name = "commit", .is_done = true });
    CHECK(!work(store, &err), "no answer");
    CHECK_EQ(err.level, ERROR_TRANSIENT, "no answer");
    CHECK_STR(str_of(err.code), STR("store.commit_unknown"), "no answer");
    REQUIRE_OK(store_registry_load(store, contract_arena(), STR("b"), NOW_US + 5, &source, &err),
               err);
    CHECK_EQ(source.count, 1, "but done");
    contract_end();
}

TEST(a_fault_has_a_name_a_number_and_a_level)
{
    struct store *store = store_with_a();
    struct registry_entry_list sources;
    struct pause_list pauses;
    struct error err = { 0 };

    memory_store_fail(store, &(struct memory_fault){ .name = "pause_list",
                                                     .call = 2,
                                                     .level = ERROR_FATAL,
                                                     .code = "store.corrupt" });
    for (int i = 1; i <= 3; i++) {
        CHECK(store_registry_list(store, contract_arena(), NOW_US, &sources, &err),
              "other calls go on");
        CHECK_EQ(store_pause_list(store, contract_arena(), STR(""), &pauses, &err), i != 2,
                 "the second of its name, and that one alone");
    }
    CHECK_EQ(err.level, ERROR_FATAL, "its level");
    CHECK_STR(str_of(err.code), STR("store.corrupt"), "its code");
    contract_end();
}

TEST(a_thread_does_not_wait_for_itself)
{
    struct store *store = store_with_a();
    struct store *other = contract_another(store);
    struct pause_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    CHECK(!store_begin(other, &err), "the turn is taken");
    CHECK_STR(str_of(err.code), STR("store.busy"), "busy");
    CHECK(!store_pause_list(other, contract_arena(), STR(""), &list, &err), "for readers too");
    CHECK_EQ(err.level, ERROR_TRANSIENT, "busy");
    store_rollback(store);
    CHECK(store_begin(other, &err), "free again");
    store_rollback(other);
    contract_end();
}

TEST(an_empty_database_has_no_tables)
{
    struct store *store = contract_open("memory:");
    struct pause_list list;
    struct error err = { 0 };

    CHECK(!store_pause_list(store, contract_arena(), STR(""), &list, &err), "not migrated");
    CHECK_EQ(err.level, ERROR_FATAL, "not migrated");
    CHECK_STR(str_of(err.code), STR("store.schema"), "not migrated");
    CHECK(!store_schema_check(store, &err), "not ready");
    store_close(store);
    contract_end();
}
