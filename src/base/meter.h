/* meter: counters, gauges and histograms, and their text for Prometheus.
 *
 *      static const struct meter_family FAMILIES[] = {
 *          { "patra_ingest_batches_total", "Batches that were stored.", METER_COUNTER,
 *            { "source", "endpoint" } },
 *      };
 *      meters_open(&meters, FAMILIES, ARRAY_LEN(FAMILIES), err);
 *      meters_add(meters, 0, (struct str[]){ source, endpoint }, 1);
 *      meters_write(meters, &text);
 *
 * The series of a family are bounded: values beyond METER_SERIES_MAX of them are counted under
 * "other", so that neither memory nor what a server has to keep grows with what sources are called.
 *
 * Threads: any number may use it at once.
 */
#ifndef PATRA_BASE_METER_H
#define PATRA_BASE_METER_H

#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

enum { METER_LABELS_MAX = 5, METER_BOUNDS_MAX = 16, METER_SERIES_MAX = 200 };

enum meter_type { METER_COUNTER, METER_GAUGE, METER_HISTOGRAM };

struct meter_family {
    const char *name;
    const char *help;
    enum meter_type type;
    const char *labels[METER_LABELS_MAX]; /* ends at the first NULL */
    const double *bounds;                 /* HISTOGRAM: METER_BOUNDS_MAX, ends at the first 0 */
};

struct meters;

/* The table must outlive it. */
bool meters_open(struct meters **meters, const struct meter_family *families, size_t count,
                 struct error *err) MUST_CHECK;
void meters_close(struct meters *meters); /* accepts NULL */

/* Adds to a counter or a gauge; to a histogram, one observation. One value for each label. Where
 * there is no memory for a new series, nothing is counted. Accepts NULL: nobody counts. */
void meters_add(struct meters *meters, size_t family, const struct str *values, double amount);

/* Forgets the series of a gauge, before it is filled again. Accepts NULL. */
void meters_clear(struct meters *meters, size_t family);

/* The text format, version 0.0.4: families that have no series are left out. Accepts NULL. */
void meters_write(struct meters *meters, struct buf *out);

#endif
