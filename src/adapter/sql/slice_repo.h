/* slice_repo: the functions of store_plan_ops for slices. */
#ifndef PATRA_ADAPTER_SQL_SLICE_REPO_H
#define PATRA_ADAPTER_SQL_SLICE_REPO_H

#include "port/store_plan.h"

bool slice_add(struct store *store, const struct plan_slice *slices, size_t count, int64_t *ids,
               int64_t *added, struct error *err);
bool slice_move(struct store *store, int64_t id, enum slice_status to, int64_t now_us,
                struct error *err);
bool slice_get(struct store *store, struct arena *arena, int64_t id, struct plan_slice *slice,
               bool *found, struct error *err);
bool slice_list(struct store *store, struct arena *arena, int64_t plan_id, int64_t after_number,
                int64_t limit, struct plan_slice_list *list, struct error *err);

#endif
