/* record_rows: the parts of the repository of records (record_repo.c) that write their rows.
 *
 *      record_write.c   new and changed ones, with their events
 *      record_look.c    ones that were looked at: when, and by which expression
 */
#ifndef PATRA_ADAPTER_SQL_RECORD_ROWS_H
#define PATRA_ADAPTER_SQL_RECORD_ROWS_H

#include "adapter/sql/session.h"
#include "port/store_record.h"

/* As in struct store_record_ops. */
bool record_rows_write(struct store *store, const struct record_context *context,
                       const struct record_change *changes, size_t count, bool *written,
                       struct error *err);
bool record_rows_lock(struct store *store, const struct record_version *records, size_t count,
                      struct error *err);
bool record_rows_confirm(struct store *store, const struct record_context *context,
                         const struct record_version *records, size_t count, bool *confirmed,
                         struct error *err);
bool record_rows_touch(struct store *store, const struct record_context *context,
                       const int64_t *ids, size_t count, struct error *err);

/* As checked_week has it. */
int64_t record_rows_week(int64_t at_us);

/* :expr, and the time of the look as :now and :week. */
void record_rows_bind_check(struct statement *st, const struct record_context *context,
                            int64_t expr);

#endif
