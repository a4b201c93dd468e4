/* sink_plan: how the tables of a projection differ from its spec, and making them fit. */
#ifndef PATRA_ADAPTER_SQL_SINK_PLAN_H
#define PATRA_ADAPTER_SQL_SINK_PLAN_H

#include "adapter/sql/sink_table.h"

bool sink_plan(struct store *sink, struct arena *arena, const struct projection_spec *spec,
               struct sink_plan *plan, struct error *err) MUST_CHECK;

bool sink_set_up(struct store *sink, struct arena *arena, const struct sink_set_up *set_up,
                 struct sink_plan *done, struct error *err) MUST_CHECK;

/* Whether there is a table (or an index) of this name. */
bool sink_has_table(struct store *sink, const struct projection_spec *spec, struct str name,
                    bool *found, struct error *err) MUST_CHECK;

/* CREATE INDEX statements for the indexes of a table of this name, each under a name that is free.
 */
bool sink_put_indexes(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                      const struct sink_object *object, struct str name, struct buf *out,
                      struct error *err) MUST_CHECK;

/* Runs what was put together. */
bool sink_run(struct store *sink, struct buf *script, struct error *err) MUST_CHECK;

#endif
