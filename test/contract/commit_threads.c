/* Workers at once, over the same records: every version once, in order, and nobody waits for ever.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "commit_worker.h"
#include "contract.h"
#include "random.h"

enum { WORKERS = 4, BATCHES = 25, PAGE = 24, IDS = 40, SECONDS = 50 };

struct hand {
    struct worker worker;
    struct random random;
    bool failed;
    struct error err;
    int64_t written;
    int64_t latest[IDS]; /* second of the furthest state sent */
};

/* A page of random records at random seconds; later batches have later ones on the whole. */
static struct str make_page(struct hand *hand, struct arena *arena, int batch)
{
    struct buf out;

    buf_init(&out, arena, 1 << 20);
    buf_add(&out, STR("{\"items\":["));
    for (int i = 0; i < PAGE; i++) {
        const int id = (int)random_between(&hand->random, 0, IDS);
        const int second = batch + (int)random_between(&hand->random, 0, SECONDS - BATCHES);

        if (second > hand->latest[id])
            hand->latest[id] = second;
        buf_printf(&out, "%s{\"id\":\"r%02d\",\"at\":\"2026-01-05T00:00:%02dZ\",\"n\":%d%s}",
                   i > 0 ? "," : "", id, second, (int)random_between(&hand->random, 0, 1000),
                   random_between(&hand->random, 0, 10) == 0 ? ",\"deleted\":true" : "");
    }
    buf_add(&out, STR("]}"));
    buf_add_char(&out, '\0');
    return buf_str(&out);
}

static bool one_batch(struct hand *hand, struct arena *arena, int batch)
{
    struct worker *worker = &hand->worker;
    struct commit_result result;

    worker->body = make_page(hand, arena, batch).data;
    worker->rig.order.run_id = worker->run.id;
    worker->rig.order.batch_no = batch + 1;
    fetch_close(worker->fetch);
    worker->fetch = NULL;
    if (!fetch_open(&worker->fetch, &worker->rig.parts, &worker->rig.order, &hand->err) ||
        !fetch_next(worker->fetch, &worker->batch, &hand->err) ||
        !worker_try(worker, NOW_US, &result, &hand->err))
        return false;
    hand->written += result.created + result.updated + result.deleted;
    return result.is_held || error_set(&hand->err, ERROR_FATAL, "test.held", "not held");
}

static void *work(void *context)
{
    struct hand *hand = context;
    struct arena arena;

    arena_init(&arena, (size_t)64 << 20);
    for (int i = 0; i < BATCHES && !hand->failed; i++)
        hand->failed = !one_batch(hand, &arena, i);
    arena_release(&arena);
    return NULL;
}

static int64_t check_history(struct store *store, int id, int64_t latest)
{
    const char *name = arena_printf(contract_arena(), "r%02d", id).data;
    const struct stored_record record = commit_record(store, "dated", name);
    const struct stored_event_list events = commit_events(store, "dated", name);
    struct str before = STR("");

    CHECK_EQ(events.count, record.version, name);
    CHECK_EQ(record.has_updated ? record.updated_us : -1,
             latest < 0 ? -1 : INT64_C(1767571200000000) + latest * 1000000, name);
    for (size_t i = 0; i < events.count; i++) {
        const struct str payload = events.items[i].event.body;
        const size_t at = str_find(payload, STR("\"updatedAt\""));
        const struct str date = str_slice(payload, at, at + 34);

        CHECK_EQ(events.items[i].event.version, (int64_t)i + 1, "no version left out, none twice");
        CHECK(str_cmp(before, date) <= 0, "never back in time");
        before = date;
    }
    return (int64_t)events.count;
}

TEST(workers_at_once_make_each_version_once)
{
    struct store *store = contract_store();
    struct hand *hands = calloc(WORKERS, sizeof(*hands));
    pthread_t threads[WORKERS];
    int64_t written = 0;
    int64_t events = 0;

    REQUIRE(hands != NULL, "memory");
    for (int i = 0; i < WORKERS; i++) {
        memset(hands[i].latest, -1, sizeof(hands[i].latest));
        hands[i].random = (struct random){ (uint64_t)i + 1 };
        worker_open(&hands[i].worker, contract_another(store), "dated");
    }
    for (int i = 0; i < WORKERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, &hands[i]) == 0, "a thread");
    for (int i = 0; i < WORKERS; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < WORKERS; i++) {
        CHECK(!hands[i].failed, hands[i].err.text);
        written += hands[i].written;
    }
    for (int id = 0; id < IDS; id++) {
        int64_t latest = -1;

        for (int i = 0; i < WORKERS; i++)
            latest = hands[i].latest[id] > latest ? hands[i].latest[id] : latest;
        events += check_history(store, id, latest);
    }
    CHECK_EQ(events, written, "an event for each change that was counted");
    test_note("%lld changes by %d workers", (long long)written, WORKERS);
    for (int i = 0; i < WORKERS; i++)
        worker_close(&hands[i].worker);
    free(hands);
    contract_end();
}
