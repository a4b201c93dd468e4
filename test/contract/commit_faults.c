/* Every call to the store fails once, at every place of a batch: whoever repeats the batch finds
 * the rows as if nothing had happened. */
#include <stdlib.h>
#include <string.h>

#include "commit_worker.h"
#include "contract.h"
#include "port/store_quarantine.h"
#include "port/store_signal.h"

/* ---- a store in front of another, which loses its connection at the n-th call ---- */

struct failing {
    struct store store; /* first */
    struct store *inner;
    int64_t calls;
    int64_t strike_at; /* 0: never */
    bool after_commit; /* where the call is a commit: it is done, the answer is lost */
    bool struck;
    struct store_ops ops;
    struct store_record_ops record;
    struct store_quarantine_ops quarantine;
    struct store_lease_ops lease;
    struct store_run_ops run;
    struct store_signal_ops signal;
};

static struct store *inner_of(struct store *store)
{
    return ((struct failing *)store)->inner;
}

/* True: the call goes through. */
static bool passes(struct store *store, struct error *err)
{
    struct failing *failing = (struct failing *)store;

    if (++failing->calls != failing->strike_at)
        return true;
    failing->struck = true;
    return error_set(err, ERROR_TRANSIENT, "store.lost", "struck at call %lld",
                     (long long)failing->calls);
}

static bool failing_begin(struct store *store, bool for_write, struct error *err)
{
    (void)for_write;
    return passes(store, err) && store_begin(inner_of(store), err);
}

static bool failing_commit(struct store *store, struct error *err)
{
    struct failing *failing = (struct failing *)store;

    if (passes(store, err))
        return store_commit(failing->inner, err);
    if (!failing->after_commit) {
        store_rollback(failing->inner);
        return false;
    }
    REQUIRE_OK(store_commit(failing->inner, err), *err);
    return error_set(err, ERROR_TRANSIENT, "store.commit_unknown", "the answer was lost");
}

static void failing_rollback(struct store *store)
{
    store_rollback(inner_of(store));
}

static bool failing_reconnect(struct store *store, struct error *err)
{
    store_rollback(inner_of(store));
    return store_reconnect(inner_of(store), err);
}

static bool failing_renew(struct store *store, struct lease lease, int64_t until_us, int64_t now_us,
                          bool *held, struct error *err)
{
    return passes(store, err) &&
           store_lease_renew(inner_of(store), lease, until_us, now_us, held, err);
}

static bool failing_check(struct store *store, struct arena *arena,
                          const struct record_context *context, const struct str *ids, size_t count,
                          struct record_state *states, struct error *err)
{
    return passes(store, err) &&
           store_record_check(inner_of(store), arena, context, ids, count, states, err);
}

static bool failing_write(struct store *store, const struct record_context *context,
                          struct record_changes *changes, bool *written, struct error *err)
{
    return passes(store, err) &&
           store_record_write(inner_of(store), context, changes, written, err);
}

static bool failing_touch(struct store *store, const struct record_context *context,
                          const int64_t *ids, size_t count, struct error *err)
{
    return passes(store, err) && store_record_touch(inner_of(store), context, ids, count, err);
}

static bool failing_quarantine(struct store *store, const struct quarantined *records, size_t count,
                               int64_t *added, struct error *err)
{
    return passes(store, err) && store_quarantine_add(inner_of(store), records, count, added, err);
}

static bool failing_replace(struct store *store, const struct quarantine_replace *replace,
                            int64_t *resolved, struct error *err)
{
    return passes(store, err) && store_quarantine_replace(inner_of(store), replace, resolved, err);
}

static bool failing_batch(struct store *store, struct arena *arena, const struct batch *batch,
                          int64_t *id, bool *added, struct batch *old, struct error *err)
{
    return passes(store, err) &&
           store_batch_add(inner_of(store), arena, batch, id, added, old, err);
}

static bool failing_save(struct store *store, const struct run *run, int64_t now_us, bool *saved,
                         struct error *err)
{
    return passes(store, err) && store_run_save(inner_of(store), run, now_us, saved, err);
}

static bool failing_listed(struct store *store, int64_t task_id, const struct str *ids,
                           size_t count, struct error *err)
{
    return passes(store, err) && store_listed_add(inner_of(store), task_id, ids, count, err);
}

static bool failing_signal(struct store *store, const struct signal *signals, size_t count,
                           int64_t *added, struct error *err)
{
    return passes(store, err) && store_signal_add(inner_of(store), signals, count, added, err);
}

static void failing_init(struct failing *failing, struct store *inner)
{
    *failing = (struct failing){
        .inner = inner,
        .ops = { .begin = failing_begin,
                 .commit = failing_commit,
                 .rollback = failing_rollback,
                 .reconnect = failing_reconnect },
        .record = { .check = failing_check, .write = failing_write, .touch = failing_touch },
        .quarantine = { .add = failing_quarantine, .replace = failing_replace },
        .lease = { .renew = failing_renew },
        .run = { .save = failing_save, .batch_add = failing_batch, .listed_add = failing_listed },
        .signal = { .add = failing_signal }
    };
    failing->store = (struct store){ .ops = &failing->ops,
                                     .record = &failing->record,
                                     .quarantine = &failing->quarantine,
                                     .lease = &failing->lease,
                                     .run = &failing->run,
                                     .signal = &failing->signal };
}

/* ---- the batches, and all they leave behind as one text ---- */

static const char *const PAGES[] = {
    "{\"items\":[{\"id\":\"a\"," AT("01") "},{\"id\":\"b\"," AT("01") "},{\"id\":\"bad\"}]}",
    "{\"items\":[{\"id\":\"b\"," AT("02") "},{\"id\":\"a\"," AT("01") "},{\"id\":\"c\"," AT(
        "01") "}]}",
    "{\"items\":[{\"id\":\"a\"," AT("02") ",\"deleted\":true}]}",
};

static void dump_record(struct store *store, const char *endpoint, const char *id, struct buf *out)
{
    const struct stored_record record = commit_record(store, endpoint, id);
    const struct outbox_event_list events = commit_events(store, endpoint, id);

    buf_printf(out, "%s v%lld %s %.*s checked %lld:", id, (long long)record.version,
               record.is_deleted ? "deleted" : "alive", STR_ARG(record.payload),
               (long long)(record.checked_us - NOW_US));
    for (size_t i = 0; i < events.count; i++)
        buf_printf(out, " %.*s %lld", STR_ARG(events.items[i].event_type),
                   (long long)events.items[i].version);
    buf_add_char(out, '\n');
}

static struct str dump(struct worker *worker, struct store *store)
{
    static const char *const IDS[] = { "a", "b", "c", "bad" };
    struct error err = { 0 };
    struct batch_list batches;
    struct quarantined_list bad;
    struct signal_list signals;
    struct listed_list listed;
    struct run_list runs;
    struct buf out;

    buf_init(&out, contract_arena(), 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(IDS); i++)
        dump_record(store, worker->operation, IDS[i], &out);
    REQUIRE_OK(store_batch_list(store, contract_arena(), worker->run.id, 0, 99, &batches, &err),
               err);
    for (size_t i = 0; i < batches.count; i++)
        buf_printf(&out, "batch %lld %.*s\n", (long long)batches.items[i].number,
                   STR_ARG(batches.items[i].stats));
    REQUIRE_OK(store_quarantine_list(store, contract_arena(),
                                     &(struct quarantine_filter){ .limit = 99 }, &bad, &err),
               err);
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"), .limit = 99 },
                                 &signals, &err),
               err);
    REQUIRE_OK(store_listed_list(store, contract_arena(), worker->task.id, 0, 99, &listed, &err),
               err);
    REQUIRE_OK(store_run_list(store, contract_arena(), worker->task.id, &runs, &err), err);
    buf_printf(&out, "bad %zu signals %zu listed %zu\nrun %.*s %.*s\n", bad.count, signals.count,
               listed.count, STR_ARG(runs.items[0].stats), STR_ARG(runs.items[0].checkpoint));
    return buf_str(&out);
}

/* Commits one batch, again and again as a caller does; returns how often it failed. */
static int commit_through(struct worker *worker, struct failing *failing, int64_t now_us)
{
    struct commit_result result;
    struct error err = { 0 };
    int failures = 0;

    while (!worker_try(worker, now_us, &result, &err)) {
        REQUIRE(failures++ < 3, err.text);
        REQUIRE_OK(store_reconnect(&failing->store, &err), err);
    }
    CHECK(result.is_held, "held");
    CHECK_EQ(result.is_known,
             failures > 0 && failing->after_commit && strcmp(err.code, "store.commit_unknown") == 0,
             "known where the commit was done");
    return failures;
}

/* The whole story with a strike at the n-th call; *struck is false when there were fewer. */
static struct str play(int64_t strike_at, bool after_commit, bool *struck)
{
    struct store *store = contract_store();
    struct failing failing;
    struct worker worker;
    struct str text;
    struct str copy;

    failing_init(&failing, store);
    failing.strike_at = strike_at;
    failing.after_commit = after_commit;
    worker_open(&worker, store, "dated");
    worker.context.store = &failing.store;
    for (size_t i = 0; i < ARRAY_LEN(PAGES); i++) {
        worker_fetch(&worker, PAGES[i]);
        (void)commit_through(&worker, &failing, NOW_US + (int64_t)i);
    }
    text = dump(&worker, store);
    worker_close(&worker);
    worker_open(&worker, store, "ids");
    worker.context.store = &failing.store;
    worker_fetch(&worker, "{\"ids\":[\"a\",\"b\"]}");
    (void)commit_through(&worker, &failing, NOW_US);
    copy = arena_printf(contract_arena(), "%.*s%.*s", STR_ARG(text), STR_ARG(dump(&worker, store)));
    worker_close(&worker);
    *struck = failing.struck;
    text = (struct str){ strndup(copy.data, copy.len), copy.len };
    REQUIRE(text.data != NULL, "memory");
    contract_end();
    return text;
}

TEST(a_strike_at_any_call_changes_nothing_in_the_end)
{
    bool struck = false;
    const struct str truth = play(0, false, &struck);
    int strikes = 0;

    for (int after_commit = 0; after_commit < 2; after_commit++) {
        struck = true;
        for (int64_t n = 1; struck; n++) {
            const struct str text = play(n, after_commit != 0, &struck);

            CHECK_STR(text, truth, "as if nothing had happened");
            free((char *)text.data);
            strikes += struck;
        }
    }
    CHECK(strikes >= 60, "every call of four batches, twice");
    test_note("%d strikes", strikes);
    free((char *)truth.data);
}
