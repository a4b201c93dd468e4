#include "adapter/sql/read.h"

void read_quarantined(struct rows *rows, struct arena *arena, struct quarantined *record)
{
    *record = (struct quarantined){ .id = rows_i64(rows) };
    record->source = rows_text(rows, arena);
    record->endpoint = rows_text(rows, arena);
    record->provider_id = rows_text(rows, arena);
    record->reason = rows_text(rows, arena);
    record->detail = rows_text(rows, arena);
    record->position = rows_i64(rows);
    record->lineage = rows_lineage(rows);
    record->created_us = rows_i64(rows);
    record->resolution = quarantine_resolution_find(rows_view(rows));
    record->resolved_us = rows_i64(rows);
    record->resolved_by = rows_text(rows, arena);
    record->note = rows_text(rows, arena);
    record->bytes = rows_i64(rows);
}

bool read_quarantine(struct rows *rows, struct arena *arena, struct quarantined_list *list,
                     struct error *err)
{
    struct quarantined *record;

    *list = (struct quarantined_list){ 0 };
    while ((record = ROWS_NEXT(rows, arena, list)) != NULL)
        read_quarantined(rows, arena, record);
    return rows_finish(rows, err);
}

bool read_quarantine_sums(struct rows *rows, struct arena *arena, struct quarantine_sum_list *list,
                          struct error *err)
{
    struct quarantine_sum *sum;

    *list = (struct quarantine_sum_list){ 0 };
    while ((sum = ROWS_NEXT(rows, arena, list)) != NULL) {
        sum->source = rows_text(rows, arena);
        sum->endpoint = rows_text(rows, arena);
        sum->reason = rows_text(rows, arena);
        sum->count = rows_i64(rows);
        sum->first_us = rows_i64(rows);
        sum->last_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}
