/* Every call of the database fails once, at every place of a batch. After the batch is repeated,
 * the rows are as if nothing had happened. */
#include <stdlib.h>
#include <string.h>

#include "commit_worker.h"
#include "contract.h"
#include "fault_store.h"
#include "port/store_quarantine.h"
#include "port/store_signal.h"

/* ---- the batches, and all their rows as one text ---- */

static const char *const PAGES[] = {
    "{\"items\":[{\"id\":\"a\"," AT("01") "},{\"id\":\"b\"," AT("01") "},{\"id\":\"bad\"}]}",
    "{\"items\":[{\"id\":\"b\"," AT("02") "},{\"id\":\"a\"," AT("01") "},{\"id\":\"c\"," AT(
        "01") "}]}",
    "{\"items\":[{\"id\":\"a\"," AT("02") ",\"deleted\":true}]}",
};

static void dump_record(struct store *store, const char *endpoint, const char *id, struct buf *out)
{
    const struct stored_record record = commit_record(store, endpoint, id);
    const struct stored_event_list events = commit_events(store, endpoint, id);

    buf_printf(out, "%s v%lld %s %.*s checked %lld:", id, (long long)record.version,
               record.is_deleted ? "deleted" : "alive", STR_ARG(record.payload),
               (long long)(record.checked_us - NOW_US));
    for (size_t i = 0; i < events.count; i++)
        buf_printf(out, " %.*s %lld", STR_ARG(events.items[i].event.event_type),
                   (long long)events.items[i].event.version);
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
    REQUIRE_OK(store_batch_list(store, contract_arena(), worker->run.id,
                                (struct store_page){ .limit = 99 }, &batches, &err),
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
    REQUIRE_OK(store_listed_list(store, contract_arena(), worker->task.id,
                                 (struct store_page){ .limit = 99 }, &listed, &err),
               err);
    REQUIRE_OK(store_run_list(store, contract_arena(), worker->task.id, &runs, &err), err);
    buf_printf(&out, "bad %zu signals %zu listed %zu\nrun %.*s %.*s\n", bad.count, signals.count,
               listed.count, STR_ARG(runs.items[0].stats), STR_ARG(runs.items[0].checkpoint));
    return buf_str(&out);
}

/* Commits one batch, again and again as a caller does. */
static void commit_through(struct worker *worker, const struct store_fault *fault, int64_t now_us)
{
    struct commit_result result;
    struct error err = { 0 };
    int failures = 0;

    while (!worker_try(worker, now_us, &result, &err)) {
        REQUIRE(failures++ < 3, err.text);
        REQUIRE_OK(store_reconnect(worker->context.store, &err), err);
    }
    CHECK(result.is_held, "held");
    CHECK_EQ(result.is_known, failures > 0 && fault->effect == FAULT_AFTER,
             "known where the commit was done");
}

/* The whole story under one fault, as text. *has_happened is false when there were too few calls.
 */
static struct str run_story(const struct store_fault *fault, bool *has_happened)
{
    struct store *store = contract_store();
    struct store *failing = contract_another(store);
    struct worker worker;
    struct str text;
    struct str copy;

    fault_store_wrap(failing);
    fault_store_arm(failing, fault);
    worker_open(&worker, store, "dated");
    worker.context.store = failing;
    for (size_t i = 0; i < ARRAY_LEN(PAGES); i++) {
        worker_fetch(&worker, PAGES[i]);
        commit_through(&worker, fault, NOW_US + (int64_t)i);
    }
    text = dump(&worker, store);
    worker_close(&worker);
    worker_open(&worker, store, "ids");
    worker.context.store = failing;
    worker_fetch(&worker, "{\"ids\":[\"a\",\"b\"]}");
    commit_through(&worker, fault, NOW_US);
    copy = arena_printf(contract_arena(), "%.*s%.*s", STR_ARG(text), STR_ARG(dump(&worker, store)));
    worker_close(&worker);
    *has_happened = fault_store_disarm(failing);
    text = (struct str){ strndup(copy.data, copy.len), copy.len };
    REQUIRE(text.data != NULL, "memory");
    contract_end();
    return text;
}

TEST(a_fault_at_any_call_changes_nothing_in_the_end)
{
    static const struct store_fault kinds[] = {
        { .effect = FAULT_BEFORE },
        { .effect = FAULT_BEFORE, .call = FAULT_COMMIT },
        { .effect = FAULT_AFTER, .call = FAULT_COMMIT },
    };
    struct store_fault fault = { .number = INT64_MAX };
    bool has_happened = false;
    const struct str truth = run_story(&fault, &has_happened);
    int faults = 0;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        has_happened = true;
        for (int64_t n = 1; has_happened; n++) {
            struct str text;

            fault = kinds[i];
            fault.number = n;
            text = run_story(&fault, &has_happened);
            CHECK_STR(text, truth, "as if nothing had happened");
            free((char *)text.data);
            faults += has_happened;
        }
    }
    CHECK(faults >= 30 + 4 + 4, "every call of four batches, and every commit twice more");
    test_note("%d faults", faults);
    free((char *)truth.data);
}
