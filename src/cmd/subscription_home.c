/* A projection's spec says where its tables are. */
#include "cmd/subscription_home.h"

#include "cmd/projection/projection.h"
#include "port/store_rate.h"
#include "view/outbox.h"

static bool open_sink(struct session *session, struct subscription_home *home, struct error *err)
{
    struct projection_spec spec;

    if (home->subscription.kind != SUBSCRIPTION_PROJECTION)
        return true;
    return projection_load(&session->arena, home->subscription.spec, &spec, err) &&
           projection_sink_open(session, &spec, &home->store, err);
}

bool subscription_home_open(struct session *session, const char *name,
                            struct subscription_home *home, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    bool found;

    *home = (struct subscription_home){ .key = { SUBSCRIPTION_GROUP, str_of(name) },
                                        .stream = session->store,
                                        .store = session->store };
    if (view_subscription_check(&reader, str_of(name), err) &&
        store_subscription_find(session->store, &session->arena, str_of(name), &home->subscription,
                                &found, err) &&
        open_sink(session, home, err) &&
        store_clock(home->store, clock_now_us(&session->clock), &home->now_us, err))
        return true;
    subscription_home_close(home);
    return false;
}

void subscription_home_close(struct subscription_home *home)
{
    if (home->store != home->stream)
        store_close(home->store);
    *home = (struct subscription_home){ 0 };
}
