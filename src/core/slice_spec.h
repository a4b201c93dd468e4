/* slice_spec: a slice as it is stored, and the identities of a slice and its task.
 *
 * slice_spec is the JSON of a slice's row: everything an executor needs to know about the slice.
 * Keys that do not apply are left out; the form is canonical, so equal specs are equal bytes.
 *
 *      {"bounds":{"time":{"from":"2026-03-01T00:00:00Z","to":"2026-03-02T00:00:00Z"}},
 *       "budget":{"maxDurationSec":900,"maxRequests":800,"priority":10},
 *       "dimension":"TIME",
 *       "pagination":{"initial":{"token":"*"},"type":"TOKEN"},
 *       "phase":{"idBatchSize":200,"twoPhase":true},
 *       "query":{"clientFilter":false,"from":"...","keepFrom":"...","keepTo":"...","to":"..."},
 *       "telemetry":{"comment":"...","requestsExpected":48,"totalEstimated":42000},
 *       "window":{"safetyLag":"PT10M","watermarkKey":"updated_at"}}
 *
 * bounds.page is {"base1":true,"fromPage":1,"pageSize":100,"toPage":201}, half-open like all
 * ranges; bounds.id is {"hashBucket":37,"hashBuckets":128} or {"from":"1000","to":"2000"}. A slice
 * by time that was divided by ids has both bounds.time and bounds.id; an open end is left out.
 *
 * The signature covers source, endpoint, operation, expression and the parts of the spec that
 * change what is fetched (not budget, telemetry and lag). Equal signatures mean the same slice.
 */
#ifndef PATRA_CORE_SLICE_SPEC_H
#define PATRA_CORE_SLICE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "core/codes.h"
#include "core/slice.h"

struct slice_spec {
    const struct slice *slice;
    enum pagination_type pagination;
    int64_t initial_offset; /* OFFSET */
    int64_t initial_page;   /* PAGE */
    struct str initial;     /* TOKEN, URL; empty: the first request has none */
    int64_t page_size;      /* 0: the source has none */
    bool is_base1;          /* PAGE */
    bool is_two_phase;
    int64_t id_batch_size; /* with two phases */
    int64_t lag_us;
    struct str watermark_key; /* empty: none */
    int64_t requests_max;     /* 0: no budget */
    int64_t duration_max_us;  /* 0: none */
    int priority;
    struct str comment; /* for people; may be empty */
};

void slice_spec_write(const struct slice_spec *spec, struct buf *out);

struct slice_identity {
    struct str source;
    struct str endpoint;
    enum operation operation;
    struct str expr_hash;
};
/* Canonical JSON; its SHA-256 is slice_signature_hash. */
void slice_signature_write(const struct slice_identity *identity, const struct slice_spec *spec,
                           struct buf *out);

/* What identifies a task. `purpose` is the namespace key of the cursor, so that a replay differs
 * from the harvest it repeats. `generation` counts the tasks with this signature and purpose that
 * have ended: a slice that failed and is planned again, or is read again by a lookback, is a new
 * task. Two planners that see the same past count the same, and one of them wins. */
struct task_identity {
    struct str slice_signature;
    struct str expr_hash;
    enum operation operation;
    struct str purpose;
    int64_t generation;
    struct str params_hash; /* of the normalised parameters; empty if there are none */
};
/* Canonical JSON; its SHA-256 is the task's idempotent_key. */
void task_identity_write(const struct task_identity *identity, struct buf *out);

#endif
