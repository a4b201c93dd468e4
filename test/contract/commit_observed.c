/* batch_commit over every store: what was observed last is what is stored. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "commit_worker.h"
#include "contract.h"
#include "port/store_quarantine.h"
#include "random.h"

static struct commit_result commit_at(struct worker *worker, const char *body, int64_t observed_us)
{
    worker_fetch(worker, body);
    return worker_commit_at(worker,
                            (struct commit_times){ NOW_US + observed_us, NOW_US + US_PER_HOUR });
}

TEST(new_content_under_the_same_date_is_a_version_and_is_counted)
{
    struct store *store = contract_store();
    struct commit_result result;
    struct worker worker;

    worker_open(&worker, store, "dated");
    (void)commit_at(&worker, commit_page("a", AT("01") ",\"n\":1"), 1);
    result = commit_at(&worker, commit_page("a", AT("01") ",\"n\":2"), 2);
    CHECK_EQ(result.updated, 1, "changed");
    CHECK_EQ(result.same_date, 1, "without a new date");
    CHECK_EQ(commit_record(store, "dated", "a").version, 2, "a version");
    CHECK_EQ(commit_record(store, "dated", "a").observed_us, NOW_US + 2, "observed");
    CHECK_EQ(commit_events(store, "dated", "a").count, 2, "and its event");
    CHECK(str_find(worker.run.stats, STR("\"changedSameDate\":1")) < worker.run.stats.len,
          "the run counts it");
    result = commit_at(&worker, commit_page("a", AT("02") ",\"n\":3"), 3);
    CHECK_EQ(result.updated, 1, "changed");
    CHECK_EQ(result.same_date, 0, "with a new date");
    worker_close(&worker);
    contract_end();
}

TEST(a_slow_worker_does_not_overwrite_what_was_observed_after_it)
{
    struct store *store = contract_store();
    struct commit_result result;
    struct worker worker;

    worker_open(&worker, store, "dated");
    (void)commit_at(&worker, commit_page("a", AT("01") ",\"n\":1"), 5);
    result = commit_at(&worker, commit_page("a", AT("01") ",\"n\":2"), 4);
    CHECK_EQ(result.older, 1, "observed before");
    CHECK_EQ(commit_record(store, "dated", "a").version, 1, "no version");
    (void)commit_at(&worker, commit_page("a", AT("01") ",\"n\":1"), 9);
    CHECK_EQ(commit_record(store, "dated", "a").observed_us, NOW_US + 9, "confirmed");
    result = commit_at(&worker, commit_page("a", AT("01") ",\"n\":3"), 7);
    CHECK_EQ(result.older, 1, "observed before it was confirmed");
    CHECK_EQ(commit_record(store, "dated", "a").version, 1, "no version");
    CHECK_EQ(commit_record(store, "dated", "a").observed_us, NOW_US + 9, "still");
    worker_close(&worker);
    contract_end();
}

TEST(a_bad_record_that_was_observed_later_stays_in_quarantine)
{
    static const struct quarantine_filter OPEN = { .limit = 10 };
    struct store *store = contract_store();
    struct quarantined_list list;
    struct error err = { 0 };
    struct worker worker;

    worker_open(&worker, store, "dated");
    (void)commit_at(&worker, commit_page("a", "\"at\":\"soon\""), 5);
    (void)commit_at(&worker, commit_page("a", AT("01")), 4);
    REQUIRE_OK(store_quarantine_list(store, contract_arena(), &OPEN, &list, &err), err);
    CHECK_EQ(list.count, 1, "the good one says nothing about what came after it");
    (void)commit_at(&worker, commit_page("a", AT("01")), 6);
    REQUIRE_OK(store_quarantine_list(store, contract_arena(), &OPEN, &list, &err), err);
    CHECK_EQ(list.count, 0, "this one does");
    worker_close(&worker);
    contract_end();
}

TEST(a_run_keeps_the_latest_date_that_it_saw)
{
    struct store *store = contract_store();
    struct run_list runs;
    struct error err = { 0 };
    struct worker worker;

    worker_open(&worker, store, "dated");
    (void)commit_at(&worker, commit_page("a", AT("07")), 1);
    (void)commit_at(&worker, commit_page("b", AT("05")), 2);
    REQUIRE_OK(store_run_list(store, contract_arena(), worker.task.id, &runs, &err), err);
    CHECK(runs.items[0].observed_max.is_set, "it saw dates");
    CHECK_EQ(runs.items[0].observed_max.at_us, INT64_C(1767571207000000), "the latest");
    worker_close(&worker);
    contract_end();
}

/* ---- dates from the future ---- */

#define NEVER "\"at\":\"9999-12-31T00:00:00Z\""

TEST(a_date_from_the_future_does_not_freeze_a_record)
{
    struct store *store = contract_store();
    struct commit_result result;
    struct worker worker;

    worker_open(&worker, store, "dated");
    result = commit_at(&worker, commit_page("a", NEVER ",\"n\":1"), 1);
    CHECK_EQ(result.created, 1, "it is stored");
    CHECK_EQ(result.future, 1, "and counted");
    CHECK(!result.has_latest, "its date says nothing about how far the source is");
    CHECK(!commit_record(store, "dated", "a").has_updated, "its date is not believed");
    result = commit_at(&worker, commit_page("a", NEVER ",\"n\":2"), 2);
    CHECK_EQ(result.updated, 1, "the content decides");
    CHECK_EQ(result.same_date, 0, "it has no date");
    result = commit_at(&worker, commit_page("a", NEVER ",\"n\":2"), 3);
    CHECK_EQ(result.unchanged, 1, "and decides that nothing changed");
    CHECK_EQ(result.future, 1, "which is counted again");
    result = commit_at(&worker, commit_page("a", AT("01") ",\"n\":3"), 4);
    CHECK_EQ(result.updated, 1, "the source has corrected it");
    CHECK(commit_record(store, "dated", "a").has_updated, "and its date");
    result = commit_at(&worker, commit_page("a", NEVER ",\"n\":4"), 5);
    CHECK_EQ(result.updated, 1, "a record with a date, too");
    CHECK(str_find(worker.run.stats, STR("\"futureDates\":4")) < worker.run.stats.len,
          "the run counts them");
    worker_close(&worker);
    contract_end();
}

TEST(a_record_that_was_stored_with_a_date_from_the_future_thaws)
{
    struct store *store = contract_store();
    struct commit_result result;
    struct worker worker;

    worker_open(&worker, store, "dated");
    worker.rig.spec.endpoint.response.future_tolerance_us = INT64_MAX;
    (void)commit_at(&worker, commit_page("a", NEVER ",\"n\":1"), 1);
    CHECK(commit_record(store, "dated", "a").has_updated, "it was believed");
    worker.rig.spec.endpoint.response.future_tolerance_us = 30 * US_PER_DAY;
    result = commit_at(&worker, commit_page("a", AT("01") ",\"n\":2"), 2);
    CHECK_EQ(result.updated, 1, "a date that is believed replaces it");
    CHECK_EQ(commit_record(store, "dated", "a").updated_us, INT64_C(1767571201000000), "the date");
    worker_close(&worker);
    contract_end();
}

/* ---- workers at once ---- */

enum { WORKERS = 2, BATCHES = 40, PAGE = 6, IDS = 9 };

struct hand {
    struct worker worker;
    struct random random;
    struct error err;
    bool failed;
};

/* The content of a record at an instant: it changes often, and its date does not. */
static int64_t content_at(int id, int64_t instant)
{
    return (instant + id) / 3;
}

/* Instant 2k of one worker, 2k + 1 of the other: each commits its own in order. */
static bool one_batch(struct hand *hand, struct arena *arena, int64_t instant)
{
    struct worker *worker = &hand->worker;
    struct commit_result result;
    struct buf out;
    const int first = (int)random_between(&hand->random, 0, IDS);

    buf_init(&out, arena, 1 << 16);
    buf_add(&out, STR("{\"items\":["));
    for (int i = 0; i < PAGE; i++)
        buf_printf(&out, "%s{\"id\":\"r%d\"," AT("00") ",\"n\":%" PRId64 "}", i > 0 ? "," : "",
                   (first + i) % IDS, content_at((first + i) % IDS, instant));
    buf_add(&out, STR("]}"));
    buf_add_char(&out, '\0');
    worker->body = buf_str(&out).data;
    worker->rig.order.run_id = worker->run.id;
    worker->rig.order.batch_no = worker->next_no++;
    fetch_close(worker->fetch);
    worker->fetch = NULL;
    return fetch_open(&worker->fetch, &worker->rig.parts, &worker->rig.order, &hand->err) &&
           fetch_next(worker->fetch, &worker->batch, &hand->err) &&
           batch_commit(&worker->context, worker->fetch, &worker->batch,
                        (struct commit_times){ NOW_US + instant, NOW_US + US_PER_HOUR }, &result,
                        &hand->err);
}

static void *work(void *context)
{
    struct hand *hand = context;
    struct arena arena;
    const int64_t odd = hand->random.state & 1;

    arena_init(&arena, (size_t)64 << 20);
    for (int64_t i = 0; i < BATCHES && !hand->failed; i++)
        hand->failed = !one_batch(hand, &arena, 2 * i + odd);
    arena_release(&arena);
    return NULL;
}

/* The newest observation of each record, from a second run of the same random numbers. */
static void find_newest(int64_t newest[IDS])
{
    for (int id = 0; id < IDS; id++)
        newest[id] = -1;
    for (int i = 0; i < WORKERS; i++) {
        struct random random = { (uint64_t)(2 + i) };

        for (int64_t batch = 0; batch < BATCHES; batch++) {
            const int first = (int)random_between(&random, 0, IDS);

            for (int j = 0; j < PAGE; j++) {
                const int id = (first + j) % IDS;

                if (2 * batch + i > newest[id])
                    newest[id] = 2 * batch + i;
            }
        }
    }
}

TEST(workers_at_once_end_with_what_was_observed_last)
{
    struct store *store = contract_store();
    struct hand *hands = calloc(WORKERS, sizeof(*hands));
    pthread_t threads[WORKERS];
    int64_t newest[IDS];

    REQUIRE(hands != NULL, "memory");
    for (int i = 0; i < WORKERS; i++) {
        hands[i].random = (struct random){ (uint64_t)(2 + i) };
        worker_open(&hands[i].worker, contract_another(store), "dated");
    }
    for (int i = 0; i < WORKERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, &hands[i]) == 0, "a thread");
    for (int i = 0; i < WORKERS; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < WORKERS; i++)
        CHECK(!hands[i].failed, hands[i].err.text);
    find_newest(newest);
    for (int id = 0; id < IDS; id++) {
        const char *name = arena_printf(contract_arena(), "r%d", id).data;
        const struct stored_record record = commit_record(store, "dated", name);
        const struct str wanted =
            arena_printf(contract_arena(), "\"n\":%" PRId64 "}", content_at(id, newest[id]));

        CHECK_EQ(record.observed_us, NOW_US + newest[id], name);
        CHECK(str_find(record.payload, wanted) < record.payload.len, name);
        CHECK_EQ(commit_events(store, "dated", name).count, record.version, name);
    }
    for (int i = 0; i < WORKERS; i++)
        worker_close(&hands[i].worker);
    free(hands);
    contract_end();
}
