/* projection_sink: the consumers of this process, each with the tables of its projection. */
#ifndef PATRA_WORKER_PROJECTION_SINK_H
#define PATRA_WORKER_PROJECTION_SINK_H

#include "port/secret.h"
#include "worker/readers.h"

struct projection_sink_parts { /* used by all threads */
    struct secret_source *secrets;
    int64_t lease_us; /* of lanes; 0: LANES_LEASE_US */
};

/* The context is a struct projection_sink_parts. */
extern const struct reader_kind PROJECTION_READERS;

#endif
