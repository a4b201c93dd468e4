/* relays: the relays of this process, a thread and a session for each.
 *
 * A thread looks every two seconds which subscriptions of kind RELAY are ACTIVE: it starts a relay
 * for each, ends it when the subscription is paused, stopped or removed, and starts it again when
 * it was changed. A relay that fails for good is logged and started again later; it ends neither
 * the others nor the process.
 */
#ifndef PATRA_WORKER_RELAYS_H
#define PATRA_WORKER_RELAYS_H

#include "base/log.h"
#include "cli/session.h"
#include "engine/relay/relay_run.h"
#include "worker/stop.h"

struct relays_settings { /* all must outlive them */
    struct log *log;
    struct stop *stop;
    const char *only; /* the name of one subscription; NULL: all */
    bool (*open)(void *context, const struct subscription *subscription,
                 struct relay_target *target, struct error *err);
    void *context; /* used by several threads */
    /* Sizes and times; may be NULL. */
    void (*configure)(const struct subscription *subscription, struct relay_settings *settings);
};

struct relays;

/* They end when settings.stop is requested. */
bool relays_start(struct relays **relays, struct session *session,
                  const struct relays_settings *settings, struct error *err) MUST_CHECK;
void relays_join(struct relays *relays); /* accepts NULL */

/* In this thread, one after the other: until nothing is left for any of them. What one of them
 * fails for is told when all had their turn. L2 "subscription.missing" when `only` names none. */
bool relays_drain(struct session *session, const struct relays_settings *settings,
                  struct lanes_total *total, struct error *err) MUST_CHECK;

#endif
