/* The home of a subscription, by the session of a command. */
#include "cmd/subscription_home.h"

#include "worker/session_sinks.h"

bool command_home_open(struct session *session, const char *name, struct subscription_home *home,
                       struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct session_sinks sinks = session_sinks(session);

    return subscription_home_open(&reader, &sinks.sinks, str_of(name), home, err);
}

bool command_home_do(const struct invocation *invocation, struct session *session,
                     command_home_work *work, struct error *err)
{
    struct subscription_home home = { 0 };
    const bool ok = command_home_open(session, invocation->operands[0], &home, err) &&
                    work(invocation, session, &home, err);

    subscription_home_close(&home);
    return ok;
}
