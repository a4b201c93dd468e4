/* history: rows that are archived before they are removed (port/store_prune.h). */
#ifndef PATRA_ADAPTER_SQL_HISTORY_H
#define PATRA_ADAPTER_SQL_HISTORY_H

#include "port/store_prune.h"

bool sql_oldest_event(struct store *store, int64_t *at_us, struct error *err) MUST_CHECK;
bool sql_history(struct store *store, struct arena *arena, const struct retained_query *query,
                 struct retained_page *page, struct error *err) MUST_CHECK;
bool sql_history_remove(struct store *store, enum retained_kind kind,
                        const struct retained_row *rows, size_t count,
                        struct error *err) MUST_CHECK;
bool sql_retained_file_add(struct store *store, const struct retained_file *file,
                           struct error *err) MUST_CHECK;
bool sql_retained_files_of(struct store *store, struct arena *arena, int64_t run_id,
                           struct retained_file_list *files, struct error *err) MUST_CHECK;
bool sql_tidy(struct store *store, int64_t before_us, int64_t limit, int64_t *removed,
              struct error *err) MUST_CHECK;

#endif
