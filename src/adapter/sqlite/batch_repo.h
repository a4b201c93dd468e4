/* batch_repo: the third of store_run_ops that is about batches. */
#ifndef PATRA_ADAPTER_SQLITE_BATCH_REPO_H
#define PATRA_ADAPTER_SQLITE_BATCH_REPO_H

#include "port/store_run.h"

bool sqlite_batch_add(struct store *store, struct arena *arena, const struct batch *batch,
                      int64_t *id, bool *added, struct batch *old, struct error *err);
bool sqlite_batch_last(struct store *store, struct arena *arena, int64_t task_id,
                       struct batch *batch, bool *found, struct error *err);
bool sqlite_batch_list(struct store *store, struct arena *arena, int64_t run_id,
                       int64_t after_number, int64_t limit, struct batch_list *list,
                       struct error *err);

#endif
