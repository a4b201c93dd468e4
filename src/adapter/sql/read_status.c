#include "adapter/sql/read.h"

bool read_partition_counts(struct rows *rows, struct arena *arena, struct str source,
                           struct partition_count_list *list, struct error *err)
{
    *list = (struct partition_count_list){ 0 };
    while (rows_next(rows)) {
        struct task_partition partition = { .source = source };
        enum task_status status;
        int64_t count, first_us;

        partition.endpoint = rows_text(rows, arena);
        partition.operation = (enum operation)rows_code(rows, &OPERATION_CODES);
        status = (enum task_status)rows_code(rows, &TASK_STATUS_CODES);
        count = rows_i64(rows);
        first_us = rows_i64(rows);
        if (!partition_count_add(arena, &partition, status, count, first_us, list))
            rows->full = arena;
    }
    return rows_finish(rows, err);
}

bool read_ended_tasks(struct rows *rows, struct arena *arena, struct ended_task_list *list,
                      struct error *err)
{
    struct ended_task *ended;

    *list = (struct ended_task_list){ 0 };
    while ((ended = ROWS_NEXT(rows, arena, list)) != NULL) {
        read_task(rows, arena, &ended->task);
        ended->reason =
            (enum partial_reason)rows_code_opt(rows, &PARTIAL_REASON_CODES, &ended->has_reason);
        ended->is_cut = rows_bool(rows);
        ended->ended_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

bool read_open(struct rows *rows, struct open_count *count, struct error *err)
{
    if (rows_next(rows)) {
        count->quarantined = rows_i64(rows);
        count->signals = rows_i64(rows);
        count->tickets = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

void read_gate(struct rows *rows, struct rate_gate *gate)
{
    gate->bucket.tokens = rows_i64(rows);
    gate->bucket.carry = rows_i64(rows);
    gate->bucket.refilled_at_us = rows_i64(rows);
    gate->bucket.rate = rows_i64(rows);
    gate->bucket.provider_rate = rows_i64(rows);
    gate->bucket.raised_at_us = rows_i64(rows);
    gate->bucket.demoted_at_us = rows_i64(rows);
    gate->bucket.cooldown_until_us = rows_i64(rows);
    gate->bucket.line_until_us = rows_i64(rows);
    gate->bucket.started_at_us = rows_i64(rows);
    gate->parked_until_us = rows_i64(rows);
    gate->version = rows_i64(rows);
}

bool read_gates(struct rows *rows, struct arena *arena, struct gate_row_list *list,
                struct error *err)
{
    struct gate_row *row;

    *list = (struct gate_row_list){ 0 };
    while ((row = ROWS_NEXT(rows, arena, list)) != NULL) {
        row->key = rows_text(rows, arena);
        read_gate(rows, &row->gate);
    }
    return rows_finish(rows, err);
}

bool read_quota(struct rows *rows, struct quota_count *count, struct error *err)
{
    *count = (struct quota_count){ 0 };
    while (rows_next(rows)) {
        const struct str word = rows_view(rows);
        int rank = 0;

        while (rank < QUOTA_CLASSES && !str_eq(word, quota_class_word((enum quota_class)rank)))
            rank++;
        if (rank == QUOTA_CLASSES) {
            rows->bad_value = "class_code";
            rank = 0;
        }
        count->used[rank] = rows_i64(rows);
        count->booked[rank] = rows_i64(rows);
    }
    return rows_finish(rows, err);
}
