/* batch_commit over every store: that a batch is written once and by whom it may be, and what its
 * run adds up. */
#include "commit_worker.h"
#include "contract.h"
#include "data/json.h"
#include "rows.h"

/* ---- once ---- */

TEST(a_batch_that_is_there_is_read_and_not_written)
{
    struct store *store = contract_store();
    struct commit_result first, again;
    struct worker worker;
    struct str stats;

    worker_open(&worker, store, "dated");
    worker_fetch(&worker, "{\"items\":[{\"id\":\"a\"," AT("01") "},{\"id\":\"b\"," AT(
                              "02") ",\"deleted\":true},{\"id\":\"c\"}]}");
    first = worker_commit(&worker, NOW_US);
    stats = arena_copy(contract_arena(), worker.run.stats);
    again = worker_commit(&worker, NOW_US + 1);
    CHECK(!first.is_known && first.is_held, "new");
    CHECK(again.is_known && again.is_held, "known");
    again.is_known = false;
    CHECK(memcmp(&first, &again, sizeof(first)) == 0, "the same numbers");
    CHECK_STR(worker.run.stats, stats, "counted once");
    CHECK_EQ(commit_record(store, "dated", "a").checked_us, NOW_US, "not touched");
    CHECK_EQ(commit_events(store, "dated", "a").count, 1, "one event");
    worker_close(&worker);
    contract_end();
}

TEST(each_of_the_three_keys_makes_a_batch_known)
{
    struct store *store = contract_store();
    struct fetch_batch batch;
    struct worker worker;

    worker_open(&worker, store, "tokens");
    worker_fetch(&worker, "{\"items\":[{\"id\":\"a\"," AT("01") "}],\"next\":\"t1\"}");
    (void)worker_commit(&worker, NOW_US);
    REQUIRE_OK(worker_next(&worker, "{\"items\":[{\"id\":\"b\"," AT("01") "}],\"next\":\"t2\"}",
                           &(struct error){ 0 }),
               ((struct error){ 0 }));
    batch = worker.batch;
    CHECK(batch.before.data != NULL, "asked with a token");
    (void)worker_commit(&worker, NOW_US);
    worker.batch.batch_no = 77;
    worker.batch.before = (struct str){ NULL, 0 };
    CHECK(worker_commit(&worker, NOW_US).is_known, "by the idempotent key");
    worker.batch.idempotent_key = STR("other");
    worker.batch.before = batch.before;
    CHECK(worker_commit(&worker, NOW_US).is_known, "by the token");
    worker.batch.before = (struct str){ NULL, 0 };
    worker.batch.batch_no = batch.batch_no;
    CHECK(worker_commit(&worker, NOW_US).is_known, "by the number");
    worker.batch.batch_no = 78;
    CHECK(!worker_commit(&worker, NOW_US).is_known, "by none of them");
    worker_close(&worker);
    contract_end();
}

TEST(an_overtaken_worker_writes_nothing)
{
    struct store *store = contract_store();
    struct commit_result result = { 0 };
    struct run_list runs;
    struct batch_list batches;
    struct worker worker;
    struct error err = { 0 };
    struct error cause = { .level = ERROR_TRANSIENT, .code = "http.timeout", .text = "late" };
    int64_t reclaimed = 0;

    worker_open(&worker, store, "dated");
    worker_fetch(&worker, commit_page("a", AT("01")));
    REQUIRE_OK(store_lease_reclaim(store, NOW_US + 3 * US_PER_DAY, 9, &reclaimed, &err), err);
    CHECK_EQ(reclaimed, 1, "the lease has run out");
    result = worker_commit(&worker, NOW_US);
    CHECK(!result.is_held, "overtaken");
    CHECK_EQ(result.created, 0, "and nothing to tell");
    CHECK_EQ(commit_record(store, "dated", "a").id, 0, "no record");
    CHECK_EQ(commit_events(store, "dated", "a").count, 0, "no event");
    REQUIRE_OK(batch_commit_failed(&worker.context, &worker.batch, &cause, NOW_US, &result, &err),
               err);
    CHECK(!result.is_held, "not even a failure");
    REQUIRE_OK(store_batch_list(store, contract_arena(), worker.run.id,
                                (struct store_page){ .limit = 9 }, &batches, &err),
               err);
    CHECK_EQ(batches.count, 0, "no batch");
    REQUIRE_OK(store_run_list(store, contract_arena(), worker.task.id, &runs, &err), err);
    CHECK_STR(runs.items[0].checkpoint, STR(""), "no checkpoint");
    worker_close(&worker);
    contract_end();
}

TEST(a_run_that_has_ended_takes_no_more_batches)
{
    struct store *store = contract_store();
    struct worker worker;
    struct run ended;
    struct error err = { 0 };
    bool saved = false;

    worker_open(&worker, store, "dated");
    worker_fetch(&worker, commit_page("a", AT("01")));
    ended = worker.run;
    ended.status = RUN_CANCELLED;
    ended.finished_us = NOW_US;
    REQUIRE_OK(store_run_save(store, &ended, NOW_US, &saved, &err), err);
    CHECK(!worker_commit(&worker, NOW_US).is_held, "not held");
    CHECK_EQ(commit_record(store, "dated", "a").id, 0, "no record");
    worker_close(&worker);
    contract_end();
}

/* ---- the books ---- */

static int64_t stat(struct str stats, const char *name)
{
    struct json_doc doc;
    struct error err = { 0 };
    int64_t value = -1;

    REQUIRE_OK(json_parse(&doc, contract_arena(), stats, &err), err);
    (void)json_i64(&doc, json_get(&doc, json_root(&doc), str_of(name)), &value);
    return value;
}

TEST(a_run_adds_up_its_batches_and_remembers_the_last)
{
    struct store *store = contract_store();
    struct batch_list batches;
    struct run_list runs;
    struct worker worker;
    struct error err = { 0 };

    worker_open(&worker, store, "tokens");
    worker_fetch(&worker, "{\"items\":[{\"id\":\"a\"," AT("01") "},{\"id\":\"b\"," AT(
                              "01") "}],\"next\":\"t1\"}");
    (void)worker_commit(&worker, NOW_US);
    REQUIRE_OK(worker_next(&worker,
                           "{\"items\":[{\"id\":\"b\"," AT("02") "},{\"id\":\"a\"," AT(
                               "01") "},{\"id\":\"c\"}],\"next\":null}",
                           &err),
               err);
    (void)worker_commit(&worker, NOW_US);
    REQUIRE_OK(store_run_list(store, contract_arena(), worker.task.id, &runs, &err), err);
    CHECK_EQ(stat(runs.items[0].stats, "inserted"), 2, "a and b");
    CHECK_EQ(stat(runs.items[0].stats, "updated"), 1, "b");
    CHECK_EQ(stat(runs.items[0].stats, "skipped"), 1, "a");
    CHECK_EQ(stat(runs.items[0].stats, "failed"), 1, "c");
    CHECK_EQ(stat(runs.items[0].stats, "signals"), 1, "c");
    CHECK_EQ(stat(runs.items[0].stats, "retCount"), 5, "items");
    CHECK_EQ(stat(runs.items[0].stats, "pagesVisited"), 2, "pages");
    CHECK(str_find(runs.items[0].stats, STR("\"hasNextLast\"")) < runs.items[0].stats.len, "next");
    CHECK_STR(runs.items[0].checkpoint, worker.batch.checkpoint, "where to go on");
    CHECK_STR(worker.run.checkpoint, worker.batch.checkpoint, "the same here");
    REQUIRE_OK(store_batch_list(store, contract_arena(), worker.run.id,
                                (struct store_page){ .limit = 9 }, &batches, &err),
               err);
    REQUIRE(batches.count == 2, "two batches");
    CHECK_EQ(stat(batches.items[1].stats, "updated"), 1, "only of the batch");
    CHECK_EQ(stat(batches.items[1].stats, "itemsCount"), 3, "only of the batch");
    worker_close(&worker);
    contract_end();
}

TEST(a_failed_batch_is_a_row_and_keeps_the_checkpoint)
{
    struct store *store = contract_store();
    struct batch_list batches;
    struct run_list runs;
    struct commit_result result = { 0 };
    struct worker worker;
    struct str checkpoint;
    struct error err = { 0 }, cause = { 0 };

    worker_open(&worker, store, "tokens");
    worker_fetch(&worker, "{\"items\":[{\"id\":\"a\"," AT("01") "}],\"next\":\"t1\"}");
    (void)worker_commit(&worker, NOW_US);
    checkpoint = arena_copy(contract_arena(), worker.run.checkpoint);
    worker.status = 400;
    CHECK(!worker_next(&worker, "{\"message\":\"no\"}", &cause), "refused");
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(
            batch_commit_failed(&worker.context, &worker.batch, &cause, NOW_US, &result, &err),
            err);
        CHECK(result.is_held, "held");
        CHECK_EQ(result.is_known, i == 1, "a second time it is known");
    }
    REQUIRE_OK(store_run_list(store, contract_arena(), worker.task.id, &runs, &err), err);
    CHECK_STR(runs.items[0].checkpoint, checkpoint, "of the batch before");
    CHECK_EQ(stat(runs.items[0].stats, "errorCount"), 1, "one error");
    CHECK(str_find(runs.items[0].stats, str_of(cause.code)) < runs.items[0].stats.len, "its code");
    REQUIRE_OK(store_batch_list(store, contract_arena(), worker.run.id,
                                (struct store_page){ .limit = 9 }, &batches, &err),
               err);
    REQUIRE(batches.count == 2, "two batches");
    CHECK_EQ(batches.items[1].status, BATCH_FAILED, "failed");
    CHECK(str_find(batches.items[1].request_digest, STR("t1")) <
              batches.items[1].request_digest.len,
          "what was asked for");
    CHECK(str_find(batches.items[1].stats, str_of(cause.code)) < batches.items[1].stats.len, "why");

    /* The run goes on from its checkpoint, with the same token and the next number. */
    worker.status = 200;
    worker.rig.order.checkpoint = checkpoint;
    worker.next_no = 2;
    worker_fetch(&worker, "{\"items\":[{\"id\":\"b\"," AT("01") "}],\"next\":null}");
    CHECK(!worker_try(&worker, NOW_US, &result, &err), "not with the number of the failure");
    CHECK_STR(str_of(err.code), STR("commit.number"), "code");
    worker.next_no = 3;
    worker_fetch(&worker, "{\"items\":[{\"id\":\"b\"," AT("01") "}],\"next\":null}");
    result = worker_commit(&worker, NOW_US);
    CHECK(!result.is_known && result.created == 1, "with the next");
    worker_close(&worker);
    contract_end();
}
