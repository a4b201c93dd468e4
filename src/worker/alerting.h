/* alerting: the thread that looks for what is wrong and tells the receivers of alerts.
 *
 * One process of a store does this at a time, by a lease; another takes over when it dies. It looks
 * once per period, and sends what is due in between. A store that is out of reach is tried again.
 */
#ifndef PATRA_WORKER_ALERTING_H
#define PATRA_WORKER_ALERTING_H

#include "base/log.h"
#include "base/meter.h"
#include "cli/session.h"
#include "worker/stop.h"

#define ALERTING_OPTION                                                              \
    {                                                                                \
        "alerts", "DURATION",                                                        \
            "How often the planner looks for what is wrong: 1s to 1h, or off (1m). " \
            "docs/alerts.md."                                                        \
    }

/* 0: off. */
bool alerting_period(const struct invocation *invocation, int64_t *period_us,
                     struct error *err) MUST_CHECK;

struct alerting_parts { /* all must outlive it */
    struct session *session;
    struct log *log;
    struct stop *stop;
    int64_t period_us;
    struct meters *meters; /* NULL: nothing is counted */
};

struct alerting;

bool alerting_start(struct alerting **alerting, const struct alerting_parts *parts,
                    struct error *err) MUST_CHECK;
void alerting_join(struct alerting *alerting); /* accepts NULL */

#endif
