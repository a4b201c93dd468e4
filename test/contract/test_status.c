/* How things stand: counts by partition, what runs, what failed, what is open, the rate gates. */
#include "contract.h"
#include "port/store_lease.h"
#include "port/store_quarantine.h"
#include "port/store_record.h"
#include "port/store_run.h"
#include "port/store_signal.h"
#include "port/store_status.h"
#include "rows.h"

static struct task_list claim(struct store *store, int64_t now_us, int64_t limit)
{
    const struct task_claim ask = { .partition = { STR("crossref"), STR("works"),
                                                   OPERATION_HARVEST },
                                    .owner = STR("me"),
                                    .now_us = now_us,
                                    .until_us = now_us + US_PER_MINUTE,
                                    .limit = limit };
    struct task_list list = { 0 };
    struct error err = { 0 };

    REQUIRE_OK(store_task_claim(store, contract_arena(), &ask, &list, &err), err);
    REQUIRE((int64_t)list.count == limit, "claimed");
    return list;
}

static struct str run_stats; /* of the next run_task; '': none */

/* A run of the task from begin to end. */
static void run_task(struct store *store, const struct task *task, enum task_status status,
                     int64_t started_us, int64_t ended_us)
{
    struct run run = { .task_id = task->id,
                       .source = task->source,
                       .operation = task->operation,
                       .lease_owner = STR("me"),
                       .lease_epoch = task->lease_epoch,
                       .status = RUN_RUNNING,
                       .window = task->window,
                       .stats = run_stats.len > 0 ? run_stats : STR("{}"),
                       .started_us = started_us };
    const struct task_end end = { .lease = { task->id, task->lease_epoch },
                                  .status = status,
                                  .has_reason = status == TASK_PARTIAL,
                                  .reason = PARTIAL_CUT_SHORT,
                                  .error = status == TASK_SUCCEEDED ? STR("") : STR("it broke"),
                                  .now_us = ended_us };
    struct error err = { 0 };
    bool held, saved;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_run_add(store, &run, &err), err);
    run.status = status == TASK_SUCCEEDED ? RUN_SUCCEEDED
                 : status == TASK_PARTIAL ? RUN_PARTIAL
                                          : RUN_FAILED;
    run.has_reason = end.has_reason;
    run.reason = end.reason;
    run.finished_us = ended_us;
    REQUIRE_OK(store_run_save(store, &run, ended_us, &saved, &err), err);
    if (status == TASK_QUEUED)
        REQUIRE_OK(store_lease_release(store,
                                       &(struct lease_release){ .lease = end.lease,
                                                                .scheduled_us = NOW_US,
                                                                .reason = STR("again"),
                                                                .now_us = ended_us },
                                       &held, &err),
                   err);
    else
        REQUIRE_OK(store_lease_finish(store, &end, &held, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE(held && saved, "the run is mine");
}

static struct partition_count counts_of(struct store *store, int64_t since_us)
{
    struct partition_count_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_status_counts(store, contract_arena(), STR("crossref"), since_us, &list, &err),
               err);
    REQUIRE(list.count == 1, "one partition");
    CHECK_STR(list.items[0].partition.source, STR("crossref"), "source");
    CHECK_STR(list.items[0].partition.endpoint, STR("works"), "endpoint");
    CHECK_EQ(list.items[0].partition.operation, OPERATION_HARVEST, "operation");
    return list.items[0];
}

TEST(tasks_are_counted_by_what_they_do_and_how_they_ended)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct partition_count_list none;
    struct partition_count count;
    struct task_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_status_counts(store, contract_arena(), STR("crossref"), 0, &none, &err), err);
    CHECK_EQ(none.count, 0, "nothing yet");
    rows_add_tasks(store, &plan, 8);
    list = claim(store, NOW_US + 100, 6);
    run_task(store, &list.items[0], TASK_SUCCEEDED, NOW_US, NOW_US + 10);
    run_task(store, &list.items[1], TASK_SUCCEEDED, NOW_US, NOW_US + 20);
    run_task(store, &list.items[2], TASK_PARTIAL, NOW_US, NOW_US + 30);
    run_task(store, &list.items[3], TASK_FAILED, NOW_US, NOW_US + 40);
    run_task(store, &list.items[4], TASK_QUEUED, NOW_US, NOW_US + 50);
    count = counts_of(store, NOW_US);
    CHECK_EQ(count.queued, 3, "two that waited, and one given back");
    CHECK_EQ(count.first_us, NOW_US, "the one given back is due first");
    CHECK_EQ(count.running, 1, "under way");
    CHECK_EQ(count.ended[TASK_SUCCEEDED], 2, "succeeded");
    CHECK_EQ(count.ended[TASK_PARTIAL], 1, "partial");
    CHECK_EQ(count.ended[TASK_FAILED], 1, "failed");
    count = counts_of(store, NOW_US + 20);
    CHECK_EQ(count.ended[TASK_SUCCEEDED], 1, "one ended before");
    count = counts_of(store, NOW_US + 41);
    CHECK_EQ(count.ended[TASK_FAILED], 0, "all ended before");
    CHECK_EQ(count.queued, 3, "but they wait all the same");
    count = counts_of(store, NOW_US + STATUS_RUN_MAX_US);
    CHECK_EQ(count.queued, 3, "long after");
    REQUIRE_OK(store_status_counts(store, contract_arena(), STR("pubmed"), 0, &none, &err), err);
    CHECK_EQ(none.count, 0, "another source has nothing");
    contract_end();
}

static struct doubted_runs_list doubts_since(struct store *store, int64_t since_us)
{
    struct doubted_runs_list list;
    struct error err = { 0 };

    REQUIRE_OK(
        store_status_doubted(store, contract_arena(), STR("crossref"), since_us, &list, &err), err);
    return list;
}

TEST(runs_with_doubts_are_counted_by_their_doubts)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct doubted_runs_list doubts;
    struct task_list list;

    rows_add_tasks(store, &plan, 5);
    list = claim(store, NOW_US + 100, 5);
    run_stats = STR("{\"doubts\":[\"lost-next\",\"repeats\"]}");
    run_task(store, &list.items[0], TASK_SUCCEEDED, NOW_US, NOW_US + 10);
    run_task(store, &list.items[1], TASK_SUCCEEDED, NOW_US, NOW_US + 20);
    run_stats = STR("{\"doubts\":[]}");
    run_task(store, &list.items[2], TASK_SUCCEEDED, NOW_US, NOW_US + 20);
    run_stats = (struct str){ 0 };
    run_task(store, &list.items[3], TASK_SUCCEEDED, NOW_US, NOW_US + 20);
    doubts = doubts_since(store, NOW_US);
    REQUIRE(doubts.count == 1, "of one kind");
    CHECK_EQ(doubts.items[0].count, 2, "two runs");
    CHECK_EQ(doubts.items[0].task_id,
             list.items[0].id > list.items[1].id ? list.items[0].id : list.items[1].id, "the last");
    CHECK(str_find(doubts.items[0].doubts, STR("\"repeats\"")) < doubts.items[0].doubts.len,
          "as the run has them");
    doubts = doubts_since(store, NOW_US + 11);
    REQUIRE(doubts.count == 1, "since then");
    CHECK_EQ(doubts.items[0].count, 1, "one");
    CHECK_EQ(doubts_since(store, NOW_US + 21).count, 0, "all ended before");
    contract_end();
}

TEST(a_task_is_counted_once_by_its_last_run)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct partition_count count;
    struct ended_task_list troubled;
    struct task_list list;
    struct error err = { 0 };

    rows_add_tasks(store, &plan, 1);
    list = claim(store, NOW_US + 10, 1);
    run_task(store, &list.items[0], TASK_QUEUED, NOW_US, NOW_US + 1);
    list = claim(store, NOW_US + 20, 1);
    run_task(store, &list.items[0], TASK_FAILED, NOW_US + 2, NOW_US + 3);
    count = counts_of(store, NOW_US);
    CHECK_EQ(count.ended[TASK_FAILED], 1, "once");
    REQUIRE_OK(
        store_status_troubled(
            store, contract_arena(),
            &(struct trouble_query){ .source = STR("crossref"), .since_us = NOW_US, .limit = 10 },
            &troubled, &err),
        err);
    REQUIRE(troubled.count == 1, "once");
    CHECK_EQ(troubled.items[0].ended_us, NOW_US + 3, "by its last run");
    contract_end();
}

TEST(what_runs_is_told_by_the_end_of_its_lease)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct task_list list, running;
    struct error err = { 0 };
    bool held;

    rows_add_tasks(store, &plan, 3);
    list = claim(store, NOW_US + 10, 2);
    REQUIRE_OK(store_lease_renew(store, (struct lease){ list.items[0].id, 1 }, NOW_US + US_PER_HOUR,
                                 NOW_US, &held, &err),
               err);
    REQUIRE_OK(store_status_running(store, contract_arena(), STR("crossref"), 10, &running, &err),
               err);
    REQUIRE(running.count == 2, "two of three");
    CHECK_EQ(running.items[0].id, list.items[1].id, "the lease that ends first");
    CHECK_STR(running.items[0].lease_owner, STR("me"), "whose");
    CHECK_EQ(running.items[1].leased_until_us, NOW_US + US_PER_HOUR, "until when");
    REQUIRE_OK(store_status_running(store, contract_arena(), STR("crossref"), 1, &running, &err),
               err);
    CHECK_EQ(running.count, 1, "the limit");
    REQUIRE_OK(store_status_running(store, contract_arena(), STR("pubmed"), 9, &running, &err),
               err);
    CHECK_EQ(running.count, 0, "another source");
    contract_end();
}

TEST(what_failed_is_told_with_its_reason_the_latest_first)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct ended_task_list troubled;
    struct task_list list;
    struct error err = { 0 };
    bool is_new;

    rows_add_tasks(store, &plan, 4);
    list = claim(store, NOW_US + 100, 3);
    run_task(store, &list.items[0], TASK_FAILED, NOW_US, NOW_US + 10);
    run_task(store, &list.items[1], TASK_SUCCEEDED, NOW_US, NOW_US + 20);
    run_task(store, &list.items[2], TASK_PARTIAL, NOW_US, NOW_US + 30);
    REQUIRE_OK(store_reslice_add(store,
                                 &(struct reslice_ticket){ .task_id = list.items[2].id,
                                                           .slice_id = list.items[2].slice_id,
                                                           .detail = STR("{}"),
                                                           .created_us = NOW_US },
                                 &is_new, &err),
               err);
    REQUIRE_OK(
        store_status_troubled(
            store, contract_arena(),
            &(struct trouble_query){ .source = STR("crossref"), .since_us = NOW_US, .limit = 10 },
            &troubled, &err),
        err);
    REQUIRE(troubled.count == 2, "two of three");
    CHECK_EQ(troubled.items[0].task.id, list.items[2].id, "the latest");
    CHECK_EQ(troubled.items[0].task.status, TASK_PARTIAL, "its state");
    CHECK(troubled.items[0].has_reason, "its reason");
    CHECK_EQ(troubled.items[0].reason, PARTIAL_CUT_SHORT, "its reason");
    CHECK_STR(troubled.items[0].task.last_error, STR("it broke"), "its words");
    CHECK_EQ(troubled.items[0].task.window.from_us, list.items[2].window.from_us, "its window");
    CHECK(troubled.items[0].is_resliced && !troubled.items[1].is_resliced,
          "whether it is re-sliced");
    CHECK(!troubled.items[1].has_reason, "a failure has none");
    REQUIRE_OK(
        store_status_troubled(
            store, contract_arena(),
            &(struct trouble_query){ .source = STR("crossref"), .since_us = NOW_US, .limit = 1 },
            &troubled, &err),
        err);
    CHECK_EQ(troubled.count, 1, "the limit");
    REQUIRE_OK(store_status_troubled(store, contract_arena(),
                                     &(struct trouble_query){ .source = STR("crossref"),
                                                              .since_us = NOW_US + 11,
                                                              .limit = 9 },
                                     &troubled, &err),
               err);
    CHECK_EQ(troubled.count, 1, "since");
    contract_end();
}

TEST(what_is_open_is_counted_by_source)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct quarantined bad[] = {
        { .source = STR("crossref"),
          .endpoint = STR("works"),
          .reason = STR("record.no_id"),
          .created_us = NOW_US },
        { .source = STR("pubmed"),
          .endpoint = STR("fetch"),
          .reason = STR("record.no_id"),
          .created_us = NOW_US },
    };
    const struct signal signals[] = {
        { .source = STR("crossref"),
          .endpoint = STR("works"),
          .provider_id = STR("a"),
          .created_us = NOW_US },
        { .source = STR("crossref"),
          .endpoint = STR("works"),
          .provider_id = STR("b"),
          .created_us = NOW_US },
    };
    struct reslice_ticket_list claimed;
    struct quarantined_list open;
    struct open_count count;
    struct task_list list;
    struct error err = { 0 };
    int64_t added;
    bool is_new;

    REQUIRE_OK(store_status_open(store, STR("crossref"), &count, &err), err);
    CHECK_EQ(count.quarantined + count.signals + count.tickets, 0, "nothing yet");
    rows_add_tasks(store, &plan, 1);
    list = claim(store, NOW_US + 10, 1);
    REQUIRE_OK(store_reslice_add(store,
                                 &(struct reslice_ticket){ .task_id = list.items[0].id,
                                                           .slice_id = list.items[0].slice_id,
                                                           .detail = STR("{}"),
                                                           .created_us = NOW_US },
                                 &is_new, &err),
               err);
    REQUIRE_OK(store_quarantine_add(store, bad, 2, &added, &err), err);
    REQUIRE_OK(store_signal_add(store, signals, 2, &added, &err), err);
    REQUIRE_OK(store_status_open(store, STR("crossref"), &count, &err), err);
    CHECK_EQ(count.quarantined, 1, "its own");
    CHECK_EQ(count.signals, 2, "signals");
    CHECK_EQ(count.tickets, 1, "tickets");
    REQUIRE_OK(
        store_quarantine_list(store, contract_arena(),
                              &(struct quarantine_filter){ .source = STR("crossref"), .limit = 9 },
                              &open, &err),
        err);
    REQUIRE_OK(
        store_quarantine_resolve(store,
                                 &(struct quarantine_resolve){ open.items[0].id, QUARANTINE_DROPPED,
                                                               STR("me"), STR(""), NOW_US },
                                 &is_new, &err),
        err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_reslice_claim(
                   store, contract_arena(),
                   &(struct reslice_claim){ .owner = STR("me"), .now_us = NOW_US, .limit = 9 },
                   &claimed, &err),
               err);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_status_open(store, STR("crossref"), &count, &err), err);
    CHECK_EQ(count.quarantined, 0, "resolved");
    CHECK_EQ(count.tickets, 0, "claimed");
    contract_end();
}

TEST(rate_gates_are_told_as_they_were_saved)
{
    static const struct bucket_config config = {
        .rate_max = 3 * MICRO, .rate_min = MICRO, .burst = MICRO, .demote_permille = 2000
    };
    struct store *store = contract_store();
    struct rate_gate gate = { .bucket = bucket_start(&config, NOW_US),
                              .parked_until_us = NOW_US + US_PER_HOUR };
    struct gate_row_list list;
    struct error err = { 0 };
    bool saved;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_rate_save(store, STR("pubmed"), &gate, NOW_US, &saved, &err), err);
    gate.parked_until_us = INT64_MIN;
    gate.bucket.cooldown_until_us = NOW_US + 7;
    REQUIRE_OK(store_rate_save(store, STR("crossref/works"), &gate, NOW_US, &saved, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_status_gates(store, contract_arena(), &list, &err), err);
    REQUIRE(list.count == 2, "two");
    CHECK_STR(list.items[0].key, STR("crossref/works"), "by key");
    CHECK_EQ(list.items[0].gate.bucket.cooldown_until_us, NOW_US + 7, "cool-down");
    CHECK_EQ(list.items[0].gate.bucket.rate, 3 * MICRO, "rate");
    CHECK_EQ(list.items[0].gate.parked_until_us, INT64_MIN, "not parked");
    CHECK_EQ(list.items[1].gate.parked_until_us, NOW_US + US_PER_HOUR, "parked");
    contract_end();
}
