#include "adapter/sql/read.h"

static void read_run(struct rows *rows, struct arena *arena, struct run *run)
{
    run->id = rows_i64(rows);
    run->task_id = rows_i64(rows);
    run->attempt = rows_i64(rows);
    run->source = rows_text(rows, arena);
    run->operation = (enum operation)rows_code(rows, &OPERATION_CODES);
    run->lease_owner = rows_text(rows, arena);
    run->lease_epoch = rows_i64(rows);
    run->status = (enum run_status)rows_code(rows, &RUN_STATUS_CODES);
    run->reason = (enum partial_reason)rows_code_opt(rows, &PARTIAL_REASON_CODES, &run->has_reason);
    run->window = rows_window(rows);
    run->checkpoint = rows_text(rows, arena);
    run->stats = rows_text(rows, arena);
    run->error = rows_text(rows, arena);
    run->started_us = rows_i64(rows);
    run->finished_us = rows_i64(rows);
}

bool read_runs(struct rows *rows, struct arena *arena, struct run_list *list, struct error *err)
{
    struct run *run;

    *list = (struct run_list){ 0 };
    while ((run = ROWS_NEXT(rows, arena, list)) != NULL)
        read_run(rows, arena, run);
    return rows_finish(rows, err);
}

void read_batch(struct rows *rows, struct arena *arena, struct batch *batch)
{
    batch->id = rows_i64(rows);
    batch->run_id = rows_i64(rows);
    batch->task_id = rows_i64(rows);
    batch->slice_id = rows_i64(rows);
    batch->plan_id = rows_i64(rows);
    batch->number = rows_i64(rows);
    batch->has_page = !rows_is_null(rows);
    batch->page_no = rows_i64(rows);
    batch->page_size = rows_i64(rows);
    batch->has_before = !rows_is_null(rows);
    batch->before_token = rows_text(rows, arena);
    batch->has_after = !rows_is_null(rows);
    batch->after_token = rows_text(rows, arena);
    batch->expr_hash = rows_text(rows, arena);
    batch->idempotent_key = rows_text(rows, arena);
    batch->status = (enum batch_status)rows_code(rows, &BATCH_STATUS_CODES);
    batch->request_digest = rows_text(rows, arena);
    batch->response_digest = rows_text(rows, arena);
    batch->stats = rows_text(rows, arena);
    batch->has_next = rows_bool(rows);
    batch->created_us = rows_i64(rows);
}

bool read_batches(struct rows *rows, struct arena *arena, struct batch_list *list,
                  struct error *err)
{
    struct batch *batch;

    *list = (struct batch_list){ 0 };
    while ((batch = ROWS_NEXT(rows, arena, list)) != NULL)
        read_batch(rows, arena, batch);
    return rows_finish(rows, err);
}

bool read_listed(struct rows *rows, struct arena *arena, struct listed_list *list,
                 struct error *err)
{
    struct str *id;

    *list = (struct listed_list){ 0 };
    while ((id = ROWS_NEXT(rows, arena, list)) != NULL)
        *id = rows_text(rows, arena);
    return rows_finish(rows, err);
}
