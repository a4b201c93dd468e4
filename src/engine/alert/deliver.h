/* deliver: sends the notices that are due.
 *
 * A notice is claimed, sent, and noted as sent. Who dies between the last two has it sent again
 * when the claim ends: the receiver knows it by its id. What was not taken is tried again, after
 * ALERT_RETRY_FIRST_US, then twice as long each time up to ALERT_RETRY_MAX_US, and given up after
 * ALERT_GIVE_UP_US.
 */
#ifndef PATRA_ENGINE_ALERT_DELIVER_H
#define PATRA_ENGINE_ALERT_DELIVER_H

#include "base/instant.h"
#include "base/log.h"
#include "port/alert_sender.h"
#include "port/clock.h"
#include "port/store_alert.h"

#define ALERT_RETRY_FIRST_US (10 * US_PER_SECOND)
#define ALERT_RETRY_MAX_US (5 * US_PER_MINUTE)
#define ALERT_GIVE_UP_US (7 * US_PER_DAY)
/* More than a receiver's longest timeout. */
#define ALERT_CLAIM_US (2 * US_PER_MINUTE)

enum { ALERT_DUE_MAX = 50 };

struct alert_delivery {
    struct store *store;
    struct arena *arena;
    struct alert_sender *sender;
    int64_t now_us;  /* the store's clock */
    struct log *log; /* NULL: none */
    int stop_fd;     /* nothing more is sent when it is readable; CLOCK_NO_WAKE: never */
    struct clock *clock;
};

struct alert_delivered {
    int64_t sent;
    int64_t failed;
};

/* A notice that is not sent is no failure of the call. */
bool alert_deliver(const struct alert_delivery *delivery, struct alert_delivered *delivered,
                   struct error *err) MUST_CHECK;

#endif
