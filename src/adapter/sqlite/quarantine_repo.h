/* quarantine_repo: the part of store_record_ops that is about records that could not be judged. */
#ifndef PATRA_ADAPTER_SQLITE_QUARANTINE_REPO_H
#define PATRA_ADAPTER_SQLITE_QUARANTINE_REPO_H

#include "port/store_record.h"

bool sqlite_quarantine_add(struct store *store, const struct quarantined *records, size_t count,
                           int64_t *added, struct error *err);
bool sqlite_quarantine_list(struct store *store, struct arena *arena, struct str source,
                            int64_t after_id, int64_t limit, struct quarantined_list *list,
                            struct error *err);
bool sqlite_quarantine_resolve(struct store *store, int64_t id, int64_t now_us, bool *resolved,
                               struct error *err);

#endif
