/* store_outbox: how an event is added; the rest is behind port/store_outbox.h. */
#ifndef PATRA_ADAPTER_MEMORY_STORE_OUTBOX_H
#define PATRA_ADAPTER_MEMORY_STORE_OUTBOX_H

#include "adapter/memory/store_base.h"
#include "port/store_outbox.h"

bool memory_outbox_add(struct memory_db *db, const struct outbox_event *event,
                       struct error *err) MUST_CHECK;

#endif
