/* outbox_repo: the statement that adds events; the rest is behind port/store_outbox.h. */
#ifndef PATRA_ADAPTER_POSTGRES_OUTBOX_REPO_H
#define PATRA_ADAPTER_POSTGRES_OUTBOX_REPO_H

#include "adapter/postgres/query.h"
#include "port/store_record.h"

/* Adds the events of these changes. */
void outbox_query(struct query *q, struct postgres_store *postgres,
                  const struct record_change *changes, size_t count);

#endif
