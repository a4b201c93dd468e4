/* listed_repo: the functions of store_run_ops for the ids that phase one lists. */
#ifndef PATRA_ADAPTER_SQL_LISTED_REPO_H
#define PATRA_ADAPTER_SQL_LISTED_REPO_H

#include "port/store_run.h"

bool listed_add(struct store *store, int64_t task_id, const struct str *ids, size_t count,
                struct error *err);
bool listed_list(struct store *store, struct arena *arena, int64_t task_id, int64_t after,
                 int64_t limit, struct listed_list *list, struct error *err);

#endif
