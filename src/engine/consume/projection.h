/* projection: the target of a projection's spec: events become rows of its tables. */
#ifndef PATRA_ENGINE_CONSUME_PROJECTION_H
#define PATRA_ENGINE_CONSUME_PROJECTION_H

#include "engine/consume/target.h"
#include "engine/lanes/lanes.h"

struct projection {
    struct arena arena; /* of what follows */
    struct projection_spec spec;
    const struct projector *projector;
};

/* The stored form, as a subscription has it. */
bool projection_open(struct projection *projection, struct str json, struct error *err) MUST_CHECK;
void projection_close(struct projection *projection); /* accepts the zero value */

/* Sizes and times of the spec. */
void projection_configure(const struct projection *projection, struct lanes_settings *settings);

/* Its tables in a sink, for one thread; the projection must outlive them. */
struct projection_tables {
    const struct projection *projection;
    struct store *sink;
    const struct sink_tables *tables;
    struct sink_written written; /* so far */
};

/* "projection.tables" (L4) when the sink was not set up for this spec (store_sink_set_up). */
bool projection_tables_open(struct projection_tables *tables, const struct projection *projection,
                            struct store *sink, struct str hash, struct error *err) MUST_CHECK;
struct consume_target projection_target(struct projection_tables *tables);

#endif
