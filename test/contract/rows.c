/* Valid triggers, plans, slices, tasks, cursors and records, and what adds them to a store. */
#include "rows.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"
#include "core/lane.h"

struct schedule_instance rows_schedule(void)
{
    return (struct schedule_instance){ .scheduler = STR("patra"),
                                       .job_id = STR("job"),
                                       .log_id = STR("log"),
                                       .trigger = TRIGGER_MANUAL,
                                       .source = STR("crossref"),
                                       .endpoint = STR("works"),
                                       .operation = OPERATION_HARVEST,
                                       .params = STR("{}"),
                                       .expr_proto_hash = STR(""),
                                       .remarks = STR("{}"),
                                       .triggered_us = NOW_US };
}

struct plan rows_plan(int64_t schedule_instance_id)
{
    return (struct plan){ .schedule_instance_id = schedule_instance_id,
                          .source = STR("crossref"),
                          .endpoint = STR("works"),
                          .operation = OPERATION_HARVEST,
                          .cursor_key = STR("indexed"),
                          .scope = NAMESPACE_EXPR,
                          .namespace_key = STR(HASH_A),
                          .window = { NOW_US, NOW_US + US_PER_DAY },
                          .expr_proto_hash = STR(HASH_A),
                          .expr_proto_snapshot = STR("{\"b\":1,\"a\":1.0}"),
                          .spec_fingerprint = STR(HASH_B),
                          .status = PLAN_DRAFT,
                          .remarks = STR("{}"),
                          .created_us = NOW_US };
}

static struct str numbered(const char *word, int64_t number)
{
    return arena_printf(contract_arena(), "%s-%" PRId64, word, number);
}

struct plan_slice rows_slice(int64_t plan_id, int64_t number)
{
    const int64_t from_us = NOW_US + (number - 1) * US_PER_HOUR;

    return (struct plan_slice){ .plan_id = plan_id,
                                .source = STR("crossref"),
                                .number = number,
                                .dimension = SLICE_TIME,
                                .window = { from_us, from_us + US_PER_HOUR },
                                .spec = STR("{\"dimension\":\"TIME\"}"),
                                .signature_hash = numbered("signature", number),
                                .expr_hash = STR(HASH_B),
                                .expr_snapshot = STR("{}"),
                                .status = SLICE_READY,
                                .created_us = NOW_US };
}

struct task rows_task(const struct plan *plan, int64_t slice_id, int64_t number)
{
    const int64_t from_us = NOW_US + (number - 1) * US_PER_HOUR;

    return (struct task){ .schedule_instance_id = plan->schedule_instance_id,
                          .plan_id = plan->id,
                          .slice_id = slice_id,
                          .source = plan->source,
                          .endpoint = plan->endpoint,
                          .operation = plan->operation,
                          .credential = STR("key"),
                          .cursor_key = plan->cursor_key,
                          .scope = plan->scope,
                          .namespace_key = plan->namespace_key,
                          .window = { from_us, from_us + US_PER_HOUR },
                          .params = STR("{\"z\":1,\"a\":1.0}"),
                          .expr_hash = STR(HASH_B),
                          .idempotent_key = numbered("task", number),
                          .priority = 10,
                          .scheduled_us = NOW_US + number,
                          .created_us = NOW_US };
}

struct plan rows_add_plan(struct store *store)
{
    const struct schedule_instance schedule = rows_schedule();
    struct error err = { 0 };
    struct plan plan;
    int64_t id = 0;

    REQUIRE_OK(store_schedule_add(store, &schedule, &id, &err), err);
    plan = rows_plan(id);
    REQUIRE_OK(store_plan_add(store, &plan, &plan.id, &err), err);
    return plan;
}

void rows_add_tasks(struct store *store, const struct plan *plan, int64_t count)
{
    struct plan_slice *slices = ARENA_ARRAY(contract_arena(), struct plan_slice, (size_t)count);
    struct task *tasks = ARENA_ARRAY(contract_arena(), struct task, (size_t)count);
    int64_t *ids = ARENA_ARRAY(contract_arena(), int64_t, (size_t)count);
    struct error err = { 0 };
    int64_t added = 0;

    for (int64_t i = 0; i < count; i++)
        slices[i] = rows_slice(plan->id, i + 1);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_slice_add(store, slices, (size_t)count, ids, &added, &err), err);
    CHECK_EQ(added, count, "all slices are new");
    for (int64_t i = 0; i < count; i++)
        tasks[i] = rows_task(plan, ids[i], i + 1);
    REQUIRE_OK(store_task_add(store, tasks, (size_t)count, &added, &err), err);
    CHECK_EQ(added, count, "all tasks are new");
    REQUIRE_OK(store_commit(store, &err), err);
}

struct cursor_name rows_cursor_name(void)
{
    return (struct cursor_name){ .source = STR("crossref"),
                                 .operation = OPERATION_HARVEST,
                                 .cursor_key = STR("indexed"),
                                 .scope = NAMESPACE_EXPR,
                                 .namespace_key = STR(HASH_A) };
}

/* Two processes that tell of the same version do so by different ids. */
static struct str event_id(struct str endpoint, struct str provider_id, int64_t version)
{
    const struct str key =
        arena_printf(contract_arena(), "%.*s/%.*s", STR_ARG(endpoint), STR_ARG(provider_id));
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < key.len; i++)
        hash = (hash ^ (unsigned char)key.data[i]) * UINT64_C(0x100000001b3);
    return arena_printf(contract_arena(), "%08x-%04x-7000-8000-%012llx", (unsigned)version,
                        (unsigned)getpid() & 0xffff, (unsigned long long)(hash >> 16));
}

struct outbox_event rows_event(const struct record_context *context,
                               const struct record_write *record)
{
    return (struct outbox_event){ .event_id = event_id(context->endpoint, record->provider_id,
                                                       record->version),
                                  .event_type = STR("RecordUpdated"),
                                  .batch_id = context->lineage.batch_id,
                                  .version = record->version,
                                  .schema_version = 1,
                                  .lane = lane_of(context->endpoint, record->provider_id),
                                  .occurred_us = context->now_us,
                                  .body = STR("{}") };
}

bool rows_write(struct store *store, const struct record_context *context,
                const struct record_write *records, size_t count, bool *written, struct error *err)
{
    struct record_change *changes = ARENA_ARRAY(contract_arena(), struct record_change, count);

    REQUIRE(changes != NULL, "memory");
    for (size_t i = 0; i < count; i++)
        changes[i] = (struct record_change){ records[i], rows_event(context, &records[i]) };
    return store_record_write(store, context, changes, count, written, err);
}
