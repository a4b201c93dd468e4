/* tracing: sends the spans of this process to an OpenTelemetry collector, as OTLP/HTTP (JSON), in a
 * thread of its own with an http handle of its own.
 *
 *      executors, requests, readers ─ tracer (a bounded queue) ─ this thread ─ POST /v1/traces
 *
 * Nobody waits for it. A collector that is away or slow costs spans, never work: what does not fit
 * into the queue is dropped, what was not taken after TRACING_TRIES is given up; both are counted
 * (patra_trace_spans_total). Its end waits for at most one more request.
 */
#ifndef PATRA_WORKER_TRACING_H
#define PATRA_WORKER_TRACING_H

#include <stdio.h>

#include "base/log.h"
#include "base/meter.h"
#include "base/span.h"
#include "cli/session.h"

enum { TRACING_BATCH = 256, TRACING_TRIES = 4 };

struct tracing;

/* *tracing is NULL where no variable asks for it (tracing_settings.h). `log`, `meters` may be NULL.
 */
bool tracing_start(struct tracing **tracing, struct session *session, struct log *log,
                   struct meters *meters, struct error *err) MUST_CHECK;

/* NULL for NULL. */
struct tracer *tracing_tracer(struct tracing *tracing);

/* When those who add spans have ended. Accepts NULL. */
void tracing_join(struct tracing *tracing);

/* The same for a command without a log: says on `talk` how many spans were lost, and why. */
void tracing_join_told(struct tracing *tracing, FILE *talk);

#endif
