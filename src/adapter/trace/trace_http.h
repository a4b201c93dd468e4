/* trace_http: an http handle that passes requests on and makes a span of each.
 *
 * The span is the one that the request itself names (its traceparent), so that the server's spans
 * are below it; its parent is the batch, by its correlation id (base/span.h, span_id_named). A
 * request without a traceparent has none. Of the URL it has server and path, redacted, and no
 * query.
 */
#ifndef PATRA_ADAPTER_TRACE_TRACE_HTTP_H
#define PATRA_ADAPTER_TRACE_TRACE_HTTP_H

#include "base/span.h"
#include "port/clock.h"
#include "port/http.h"

struct trace_http_parts { /* clock and tracer must outlive it */
    struct http *inner;   /* closed with it */
    struct clock *clock;
    struct tracer *tracer;
};

bool trace_http_open(const struct trace_http_parts *parts, struct http **http,
                     struct error *err) MUST_CHECK;

#endif
