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

bool read_listed(struct rows *rows, struct arena *arena, struct listed_list *list,
                 struct error *err)
{
    struct str *id;

    *list = (struct listed_list){ 0 };
    while ((id = ROWS_NEXT(rows, arena, list)) != NULL)
        *id = rows_text(rows, arena);
    return rows_finish(rows, err);
}
