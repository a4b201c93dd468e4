/* record_event_cells: how the events and fields of records become rows; for the repositories that
 * change records. */
#ifndef PATRA_ADAPTER_SQL_RECORD_EVENT_CELLS_H
#define PATRA_ADAPTER_SQL_RECORD_EVENT_CELLS_H

#include "adapter/sql/session.h"
#include "port/store_record.h"

extern const char RECORD_EVENT_ADD[]; /* the statement */
void record_event_cells(struct statement *st, int64_t record_id, const struct outbox_event *event);

extern const char RECORD_FIELDS_SET[]; /* replaces those that the records had */
/* A row, and one more in send->expected, where the record has fields. */
void record_fields_cells(struct statement *st, int64_t record_id, const struct record_write *record,
                         struct statement_send *send);

/* What the server copies for a statement stays in its caches, and what fits into the socket (some
 * 200 KB) is there when the server comes for it: so few records at a time. */
enum { RECORD_CHUNK_MAX = 32 };

#endif
