/* settle: findings become alerts, and alerts notices.
 *
 *      found ──▶ pending ──(it held for hold_us)──▶ fired ──(not found for clear_us)──▶ resolved
 *                   ╰──(not found)──▶ forgotten
 *
 * Whoever wants an alert that has fired is notified once that it did, and once that it is over.
 * What a silence covers is notified when the silence ends, if it is still wrong. A receiver that is
 * applied later is notified what is open then.
 *
 * Any number of processes may settle at once, with findings that are a little older or newer: there
 * is one open alert per rule and subject, and one notice of each kind per alert and receiver.
 */
#ifndef PATRA_ENGINE_ALERT_SETTLE_H
#define PATRA_ENGINE_ALERT_SETTLE_H

#include "base/instant.h"
#include "port/store_alert.h"

/* More open alerts than these, the most severe and oldest first, are not looked at: whoever has so
 * many knows that something is wrong. */
enum { ALERT_OPEN_MAX = 2000 };

struct alert_round {
    const struct alert_finding_list *findings;
    const struct alert_limits *limits;
    int64_t now_us;
    int64_t clear_us; /* what comes and goes within this is one alert */
};

struct alert_settled {
    int64_t fired; /* in this round */
    int64_t resolved;
    int64_t notices; /* to be sent */
};

bool alert_settle(struct store *store, struct arena *arena, const struct alert_round *round,
                  struct alert_settled *settled, struct error *err) MUST_CHECK;

#endif
