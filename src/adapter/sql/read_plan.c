#include "adapter/sql/read.h"

void read_schedule(struct rows *rows, struct arena *arena, struct schedule_instance *instance)
{
    instance->id = rows_i64(rows);
    instance->scheduler = rows_text(rows, arena);
    instance->job_id = rows_text(rows, arena);
    instance->log_id = rows_text(rows, arena);
    instance->trigger = (enum trigger_type)rows_code(rows, &TRIGGER_TYPE_CODES);
    instance->source = rows_text(rows, arena);
    instance->endpoint = rows_text(rows, arena);
    instance->operation = (enum operation)rows_code(rows, &OPERATION_CODES);
    instance->params = rows_text(rows, arena);
    instance->expr_proto_hash = rows_text(rows, arena);
    instance->remarks = rows_text(rows, arena);
    instance->triggered_us = rows_i64(rows);
}

void read_plan(struct rows *rows, struct arena *arena, struct plan *plan)
{
    *plan = (struct plan){ .id = rows_i64(rows) };
    plan->schedule_instance_id = rows_i64(rows);
    plan->source = rows_text(rows, arena);
    plan->endpoint = rows_text(rows, arena);
    plan->operation = (enum operation)rows_code(rows, &OPERATION_CODES);
    plan->cursor_key = rows_text(rows, arena);
    plan->scope = (enum namespace_scope)rows_code(rows, &NAMESPACE_SCOPE_CODES);
    plan->namespace_key = rows_text(rows, arena);
    plan->window = rows_window(rows);
    plan->expr_proto_hash = rows_text(rows, arena);
    plan->spec_fingerprint = rows_text(rows, arena);
    plan->status = (enum plan_status)rows_code(rows, &PLAN_STATUS_CODES);
    plan->remarks = rows_text(rows, arena);
    plan->created_us = rows_i64(rows);
    plan->updated_us = rows_i64(rows);
}

bool read_plans(struct rows *rows, struct arena *arena, struct plan_list *list, struct error *err)
{
    struct plan *plan;

    *list = (struct plan_list){ 0 };
    while ((plan = ROWS_NEXT(rows, arena, list)) != NULL)
        read_plan(rows, arena, plan);
    return rows_finish(rows, err);
}

bool read_progress(struct rows *rows, struct plan_progress *progress, struct error *err)
{
    while (rows_next(rows)) {
        const int status = rows_code(rows, &TASK_STATUS_CODES);

        progress->tasks[status] = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

void read_slice(struct rows *rows, struct arena *arena, struct plan_slice *slice)
{
    slice->id = rows_i64(rows);
    slice->plan_id = rows_i64(rows);
    slice->parent_id = rows_i64(rows);
    slice->source = rows_text(rows, arena);
    slice->number = rows_i64(rows);
    slice->dimension = (enum slice_dimension)rows_code(rows, &SLICE_DIMENSION_CODES);
    slice->window = rows_window(rows);
    slice->spec = rows_text(rows, arena);
    slice->signature_hash = rows_text(rows, arena);
    slice->expr_hash = rows_text(rows, arena);
    slice->expr_snapshot = rows_text(rows, arena);
    slice->status = (enum slice_status)rows_code(rows, &SLICE_STATUS_CODES);
    slice->created_us = rows_i64(rows);
}

bool read_slices(struct rows *rows, struct arena *arena, struct plan_slice_list *list,
                 struct error *err)
{
    struct plan_slice *slice;

    *list = (struct plan_slice_list){ 0 };
    while ((slice = ROWS_NEXT(rows, arena, list)) != NULL)
        read_slice(rows, arena, slice);
    return rows_finish(rows, err);
}
