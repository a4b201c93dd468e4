/* subscription_home: act/subscription.h for commands, whose session opens the databases. */
#ifndef PATRA_CMD_SUBSCRIPTION_HOME_H
#define PATRA_CMD_SUBSCRIPTION_HOME_H

#include "act/subscription.h"
#include "cli/session.h"

/* "subscription.unknown" (L2) when there is none of this name. Ended by subscription_home_close().
 */
bool command_home_open(struct session *session, const char *name, struct subscription_home *home,
                       struct error *err) MUST_CHECK;

/* Does `work` in the home of the subscription that the first operand names. */
typedef bool command_home_work(const struct invocation *invocation, struct session *session,
                               const struct subscription_home *home, struct error *err);
bool command_home_do(const struct invocation *invocation, struct session *session,
                     command_home_work *work, struct error *err) MUST_CHECK;

#endif
