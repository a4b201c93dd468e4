/* A worker that fetches pages of a fake source and commits them as batches. */
#include "commit_worker.h"

#include "contract.h"
#include "rows.h"

enum { TASKS = 8 };

static void answer(void *context, struct arena *arena, const struct http_request *request,
                   struct scripted_reply *reply)
{
    static const struct http_header JSON = { STR_INIT("Content-Type"),
                                             STR_INIT("application/json") };
    const struct worker *worker = context;

    (void)arena;
    (void)request;
    reply->status = worker->status;
    reply->headers = &JSON;
    reply->header_count = 1;
    reply->body = str_of(worker->body);
}

static struct task take_task(struct store *store)
{
    const struct task_claim claim = { .owner = STR("worker"),
                                      .now_us = NOW_US + US_PER_DAY,
                                      .until_us = NOW_US + 2 * US_PER_DAY,
                                      .limit = 1 };
    struct task_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_task_claim(store, contract_arena(), &claim, &list, &err), err);
    if (list.count == 0) {
        const struct plan plan = rows_add_plan(store);

        rows_add_tasks(store, &plan, TASKS);
        REQUIRE_OK(store_task_claim(store, contract_arena(), &claim, &list, &err), err);
    }
    REQUIRE(list.count == 1, "a task");
    return list.items[0];
}

static void start_run(struct worker *worker)
{
    const struct lease lease = { worker->task.id, worker->task.lease_epoch };
    struct error err = { 0 };
    bool held = false;

    worker->run = (struct run){ .task_id = worker->task.id,
                                .source = worker->task.source,
                                .operation = worker->task.operation,
                                .lease_owner = STR("worker"),
                                .lease_epoch = worker->task.lease_epoch,
                                .status = RUN_RUNNING,
                                .window = worker->task.window,
                                .stats = STR("{}"),
                                .started_us = NOW_US };
    REQUIRE_OK(store_begin(worker->store, &err), err);
    REQUIRE_OK(store_lease_start(worker->store, lease, NOW_US, &held, &err), err);
    REQUIRE(held, "the lease");
    REQUIRE_OK(store_run_add(worker->store, &worker->run, &err), err);
    REQUIRE_OK(store_commit(worker->store, &err), err);
}

void worker_open(struct worker *worker, struct store *store, const char *operation)
{
    *worker = (struct worker){ .store = store, .operation = operation, .status = 200 };
    worker->next_no = 1;
    rig_init(&worker->rig, "test/data/commit/source.yaml", operation, NULL);
    rig_window(&worker->rig, "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    scripted_http_reply(&worker->rig.http,
                        &(struct scripted_reply){ .make = answer, .context = worker, .times = -1 });
    worker->task = take_task(store);
    start_run(worker);
    seeded_random_init(&worker->rig.random, (uint64_t)worker->run.id); /* no two draw alike */
    arena_init(&worker->arena, (size_t)1 << 30);
    worker->context =
        (struct commit_context){ .store = store,
                                 .random = &worker->rig.random.source,
                                 .lease = { worker->task.id, worker->task.lease_epoch },
                                 .lease_us = US_PER_DAY,
                                 .task = &worker->task,
                                 .run = &worker->run,
                                 .endpoint = worker->rig.spec.endpoint.name,
                                 .expr_proto_hash = STR(HASH_A),
                                 .arena = &worker->arena };
}

void worker_close(struct worker *worker)
{
    fetch_close(worker->fetch);
    commit_context_release(&worker->context);
    arena_release(&worker->arena);
    rig_release(&worker->rig);
}

bool worker_next(struct worker *worker, const char *body, struct error *err)
{
    bool ok;

    if (body != NULL)
        worker->body = body;
    ok = fetch_next(worker->fetch, &worker->batch, err);
    worker->next_no = worker->batch.batch_no + 1;
    return ok;
}

void worker_fetch(struct worker *worker, const char *body)
{
    struct error err = { 0 };

    fetch_close(worker->fetch);
    worker->fetch = NULL;
    worker->rig.order.run_id = worker->run.id;
    worker->rig.order.batch_no = worker->next_no;
    REQUIRE_OK(fetch_open(&worker->fetch, &worker->rig.parts, &worker->rig.order, &err), err);
    REQUIRE_OK(worker_next(worker, body, &err), err);
}

bool worker_try(struct worker *worker, int64_t now_us, struct commit_result *result,
                struct error *err)
{
    return batch_commit(&worker->context, worker->fetch, &worker->batch,
                        (struct commit_times){ now_us, now_us }, result, err);
}

struct commit_result worker_commit(struct worker *worker, int64_t now_us)
{
    struct commit_result result = { 0 };
    struct error err = { 0 };

    REQUIRE_OK(worker_try(worker, now_us, &result, &err), err);
    return result;
}

struct commit_result worker_commit_at(struct worker *worker, struct commit_times times)
{
    struct commit_result result = { 0 };
    struct error err = { 0 };

    REQUIRE_OK(batch_commit(&worker->context, worker->fetch, &worker->batch, times, &result, &err),
               err);
    return result;
}

struct stored_record commit_record(struct store *store, const char *endpoint, const char *id)
{
    struct stored_record record = { 0 };
    struct error err = { 0 };
    bool found = false;

    REQUIRE_OK(
        store_record_get(store, contract_arena(),
                         &(struct record_key){ STR("crossref"), str_of(endpoint), str_of(id) },
                         &record, &found, &err),
        err);
    if (!found)
        record = (struct stored_record){ 0 };
    return record;
}

struct stored_event_list commit_events(struct store *store, const char *endpoint, const char *id)
{
    const struct stored_record record = commit_record(store, endpoint, id);
    struct stored_event_list list = { 0 };
    struct error err = { 0 };

    REQUIRE_OK(store_outbox_of(store, contract_arena(),
                               &(struct outbox_query){ record.id, 0, 1000 }, &list, &err),
               err);
    return list;
}

struct str commit_wire(const struct stored_event *stored)
{
    struct str json = { 0 };
    struct error err = { 0 };

    REQUIRE_OK(envelope_make(contract_arena(), stored, &json, &err), err);
    return json;
}

const char *commit_page(const char *id, const char *members)
{
    return arena_printf(contract_arena(), "{\"items\":[{\"id\":\"%s\",%s}]}", id, members).data;
}
