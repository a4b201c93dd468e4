/* record_write: changed records and their events, many at a time. */
#ifndef PATRA_ADAPTER_POSTGRES_RECORD_WRITE_H
#define PATRA_ADAPTER_POSTGRES_RECORD_WRITE_H

#include "port/store_record.h"

bool postgres_record_write(struct store *store, const struct record_context *context,
                           struct record_changes *changes, bool *written, struct error *err);

#endif
