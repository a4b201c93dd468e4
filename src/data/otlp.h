/* otlp: spans as OTLP/JSON, the body of a POST to /v1/traces of an OpenTelemetry collector. */
#ifndef PATRA_DATA_OTLP_H
#define PATRA_DATA_OTLP_H

#include "base/buf.h"
#include "base/span.h"

struct otlp_resource { /* who sends them */
    struct str service;
    struct str version;
    struct str instance;
};

void otlp_write(struct buf *out, const struct otlp_resource *resource, const struct span *spans,
                size_t count);

#endif
