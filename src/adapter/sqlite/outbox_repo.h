/* outbox_repo: how an event is added; the rest is behind port/store_outbox.h. */
#ifndef PATRA_ADAPTER_SQLITE_OUTBOX_REPO_H
#define PATRA_ADAPTER_SQLITE_OUTBOX_REPO_H

#include "adapter/sqlite/sqlite.h"
#include "port/store_outbox.h"

bool outbox_add(struct sqlite_store *sqlite, const struct outbox_event *event,
                struct error *err) MUST_CHECK;

#endif
