/* sink_copy: the tables of a projection beside the live ones, and exchanging them. */
#ifndef PATRA_ADAPTER_SQL_SINK_COPY_H
#define PATRA_ADAPTER_SQL_SINK_COPY_H

#include "adapter/sql/sink_table.h"

bool sink_copy(struct store *sink, struct arena *arena, const struct projection_spec *spec,
               struct error *err) MUST_CHECK;
bool sink_swap(struct store *sink, struct arena *arena, const struct projection_spec *spec,
               struct error *err) MUST_CHECK;
bool sink_swap_back(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                    struct error *err) MUST_CHECK;
bool sink_remove(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                 struct error *err) MUST_CHECK;

#endif
