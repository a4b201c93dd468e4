/* tracing_settings: where spans are sent, by the variables that OpenTelemetry has for that.
 *
 *      OTEL_EXPORTER_OTLP_ENDPOINT          http://127.0.0.1:4318; /v1/traces is added
 *      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT   the whole URL; goes before it
 *      OTEL_EXPORTER_OTLP_HEADERS           name=value,name=value; values percent-encoded
 *      OTEL_EXPORTER_OTLP_PROTOCOL          grpc is refused: spans are sent as http/json
 *      OTEL_SERVICE_NAME                    patra
 *      OTEL_SDK_DISABLED                    true: nothing is sent
 *
 * Values of headers are secrets.
 */
#ifndef PATRA_WORKER_TRACING_SETTINGS_H
#define PATRA_WORKER_TRACING_SETTINGS_H

#include "base/arena.h"
#include "data/http_message.h"

enum { TRACING_HEADERS_MAX = 16 };

struct tracing_settings {
    bool is_on;
    struct str url;
    struct str service;
    struct http_header headers[TRACING_HEADERS_MAX];
    size_t header_count;
};

/* `get` has the value of a variable, or NULL. L2 "tracing.setting" for one that cannot be obeyed.
 */
bool tracing_settings_read(struct arena *arena, const char *(*get)(const char *name),
                           struct tracing_settings *settings, struct error *err) MUST_CHECK;

#endif
