/* meters: what the executors of this process do, counted for Prometheus: 004 section 14.4, 003
 * section 12. Other processes count their own; Prometheus adds them up.
 *
 *      executor ─ watch (meter_watch) ─ next watch (the log)
 *                    ╰─ struct meters, shared by all executors and the API
 */
#ifndef PATRA_WORKER_METERS_H
#define PATRA_WORKER_METERS_H

#include "base/meter.h"
#include "engine/execute/executor.h"

struct meter_watch {             /* one per worker */
    struct executor_watch watch; /* first */
    struct executor_watch *next; /* sees every event, too */
    struct meters *meters;
    int64_t since_us; /* when the batch under way began */
    int64_t rest_us;  /* until when the circuit counted last is open */
};

/* Returns its watch. Without meters nothing is counted. */
struct executor_watch *meter_watch_init(struct meter_watch *watch, struct meters *meters,
                                        struct executor_watch *next);

#endif
