/* batch_repo: the functions of store_run_ops for batches. */
#ifndef PATRA_ADAPTER_SQL_BATCH_REPO_H
#define PATRA_ADAPTER_SQL_BATCH_REPO_H

#include "port/store_run.h"

bool batch_add(struct store *store, struct arena *arena, const struct batch *batch, int64_t *id,
               bool *added, struct batch *old, struct error *err);
bool batch_last(struct store *store, struct arena *arena, int64_t task_id, struct batch *batch,
                bool *found, struct error *err);
bool batch_list(struct store *store, struct arena *arena, int64_t run_id, int64_t after_number,
                int64_t limit, struct batch_list *list, struct error *err);

#endif
