/* subscription_home: the database that has the offsets, parked keys and dead letters of a
 * subscription: the store, or the one where its projection's tables are. */
#ifndef PATRA_CMD_SUBSCRIPTION_HOME_H
#define PATRA_CMD_SUBSCRIPTION_HOME_H

#include "base/attr.h"
#include "cli/session.h"
#include "port/store_offset.h"
#include "port/store_subscription.h"

struct subscription_home {
    struct subscription subscription;
    struct offset_key key;
    struct store *stream; /* the session's store */
    struct store *store;  /* may be the same */
    int64_t now_us;       /* by its clock */
};

/* "subscription.unknown" (L2) when there is none of this name. */
bool subscription_home_open(struct session *session, const char *name,
                            struct subscription_home *home, struct error *err) MUST_CHECK;
void subscription_home_close(struct subscription_home *home); /* accepts the zero value */

#endif
