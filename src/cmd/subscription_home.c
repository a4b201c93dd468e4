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
