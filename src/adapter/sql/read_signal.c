#include "adapter/sql/read.h"

bool read_pauses(struct rows *rows, struct arena *arena, struct pause_list *list, struct error *err)
{
    struct pause *pause;

    *list = (struct pause_list){ 0 };
    while ((pause = ROWS_NEXT(rows, arena, list)) != NULL) {
        pause->source = rows_text(rows, arena);
        pause->endpoint = rows_text(rows, arena);
        pause->kind = (enum pause_kind)rows_code(rows, &PAUSE_KIND_CODES);
        pause->reason = rows_text(rows, arena);
        pause->created_by = rows_text(rows, arena);
        pause->created_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

bool read_signals(struct rows *rows, struct arena *arena, struct signal_list *list,
                  struct error *err)
{
    struct signal *signal;

    *list = (struct signal_list){ 0 };
    while ((signal = ROWS_NEXT(rows, arena, list)) != NULL) {
        signal->id = rows_i64(rows);
        signal->source = rows_text(rows, arena);
        signal->endpoint = rows_text(rows, arena);
        signal->provider_id = rows_text(rows, arena);
        signal->reason = rows_text(rows, arena);
        signal->created_by = rows_text(rows, arena);
        signal->created_us = rows_i64(rows);
        signal->tried = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

bool read_tickets(struct rows *rows, struct arena *arena, struct reslice_ticket_list *list,
                  struct error *err)
{
    struct reslice_ticket *ticket;

    *list = (struct reslice_ticket_list){ 0 };
    while ((ticket = ROWS_NEXT(rows, arena, list)) != NULL) {
        ticket->id = rows_i64(rows);
        ticket->task_id = rows_i64(rows);
        ticket->slice_id = rows_i64(rows);
        ticket->reason = (enum reslice_reason)rows_code(rows, &RESLICE_REASON_CODES);
        ticket->remaining = rows_window(rows);
        ticket->detail = rows_text(rows, arena);
        ticket->created_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}
