/* sink_write: applies a batch of rows to the tables of a projection (port/store_sink.h). */
#ifndef PATRA_ADAPTER_SQL_SINK_WRITE_H
#define PATRA_ADAPTER_SQL_SINK_WRITE_H

#include "adapter/sql/sink_table.h"

bool sink_write(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                const struct sink_batch *batch, struct sink_written *written,
                struct error *err) MUST_CHECK;

#endif
