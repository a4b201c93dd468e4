/* metrics: the state of the store as gauges for Prometheus: 004 section 14.4, 000 section 7, 002
 * section 6. What a process counts of its own work is worker/meters.h.
 *
 * Read from the same views as `patra status` and `patra outbox status`, so they cannot disagree. A
 * source, a gate or a subscription is a series; how many there may be is bounded (base/meter.h).
 */
#ifndef PATRA_VIEW_METRICS_H
#define PATRA_VIEW_METRICS_H

#include "base/buf.h"
#include "view/reader.h"

/* The text format, version 0.0.4. */
bool view_metrics_write(const struct view_reader *reader, struct buf *out,
                        struct error *err) MUST_CHECK;

#endif
