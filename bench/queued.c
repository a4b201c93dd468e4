/* Creates a store, and writes the rows of one queued task through the store port. */
#include "queued.h"

#include <stdio.h>
#include <stdlib.h>

#include "adapter/store_open.h"
#include "port/store_plan.h"
#include "port/store_schedule.h"
#include "port/store_task.h"

void must(bool ok, const struct error *err)
{
    if (ok)
        return;
    (void)fprintf(stderr, "bench: %s\n", err->text);
    exit(1);
}

struct store *queued_store(const char *dsn)
{
    struct store *store = NULL;
    struct error err = { 0 };
    int64_t taken;

    must(store_open(str_of(dsn), &(struct store_options){ .create = true }, &store, &err), &err);
    must(store_migrate(store, QUEUED_NOW_US, &taken, &err), &err);
    return store;
}

void queued_add(struct store *store, struct window window)
{
    const struct schedule_instance schedule = { .scheduler = STR("bench"),
                                                .trigger = TRIGGER_MANUAL,
                                                .source = STR("bench"),
                                                .endpoint = STR("works"),
                                                .operation = OPERATION_HARVEST,
                                                .params = STR("{}"),
                                                .remarks = STR("{}"),
                                                .triggered_us = QUEUED_NOW_US };
    struct plan plan = { .source = STR("bench"),
                         .endpoint = STR("works"),
                         .operation = OPERATION_HARVEST,
                         .cursor_key = STR("at"),
                         .scope = NAMESPACE_EXPR,
                         .namespace_key = STR(QUEUED_HASH),
                         .window = window,
                         .expr_proto_hash = STR(QUEUED_HASH),
                         .expr_proto_snapshot = STR("{}"),
                         .spec_fingerprint = STR(QUEUED_HASH),
                         .status = PLAN_DRAFT,
                         .remarks = STR("{}"),
                         .created_us = QUEUED_NOW_US };
    struct plan_slice slice = { .source = STR("bench"),
                                .number = 1,
                                .dimension = window_is_valid(window) ? SLICE_TIME : SLICE_PAGE,
                                .window = window,
                                .spec = STR("{}"),
                                .signature_hash = STR(QUEUED_HASH),
                                .expr_hash = STR(QUEUED_HASH),
                                .expr_snapshot = STR("{}"),
                                .status = SLICE_READY,
                                .created_us = QUEUED_NOW_US };
    struct task task = { .source = STR("bench"),
                         .endpoint = STR("works"),
                         .operation = OPERATION_HARVEST,
                         .cursor_key = STR("at"),
                         .scope = NAMESPACE_EXPR,
                         .namespace_key = STR(QUEUED_HASH),
                         .window = window,
                         .params = STR("{}"),
                         .expr_hash = STR(QUEUED_HASH),
                         .idempotent_key = STR(QUEUED_HASH),
                         .scheduled_us = QUEUED_NOW_US,
                         .created_us = QUEUED_NOW_US };
    struct error err = { 0 };
    int64_t added;

    must(store_schedule_add(store, &schedule, &plan.schedule_instance_id, &err), &err);
    must(store_plan_add(store, &plan, &plan.id, &err), &err);
    slice.plan_id = task.plan_id = plan.id;
    task.schedule_instance_id = plan.schedule_instance_id;
    must(store_begin(store, &err), &err);
    must(store_slice_add(store, &slice, 1, &task.slice_id, &added, &err), &err);
    must(store_task_add(store, &task, 1, &added, &err), &err);
    must(store_commit(store, &err), &err);
}
