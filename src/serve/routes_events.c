/* The outbox, and who reads it. */
#include "act/subscription.h"
#include "serve/call.h"
#include "view/outbox.h"
#include "view/projection.h"

enum { LIST_MAX = 1000 };

static bool show_outbox(struct call *call, struct error *err)
{
    struct view_outbox outbox;

    if (!view_outbox(&call->reader, &outbox, err))
        return false;
    view_outbox_write(&call->w, &outbox);
    return true;
}

static bool list_parked(struct call *call, struct error *err)
{
    struct view_parked_list list;

    if (!view_parked(&call->reader, call_number(call, "limit"), &list, err))
        return false;
    view_parked_write(&call->w, &list);
    return true;
}

static bool open_home(struct call *call, struct subscription_home *home, struct error *err)
{
    return subscription_home_open(&call->reader, api_settings(call->api)->sinks,
                                  call_text(call, "name"), home, err);
}

static bool list_parked_of(struct call *call, struct error *err)
{
    struct view_parked parked = { .subscription = call_text(call, "name") };
    const struct parked_query query = { .key = { SUBSCRIPTION_GROUP, parked.subscription },
                                        .limit = call_number(call, "limit") };
    struct subscription_home home = { 0 };
    const bool ok = open_home(call, &home, err) &&
                    store_parked_list(home.store, call->reader.arena, &query, &parked.keys, err);

    subscription_home_close(&home);
    if (!ok)
        return false;
    parked.is_full = (int64_t)parked.keys.count == query.limit;
    view_parked_write(&call->w, &(struct view_parked_list){ &parked, parked.keys.count > 0 });
    return true;
}

static bool list_dead(struct call *call, struct error *err)
{
    const struct letter_query query = { .key = { SUBSCRIPTION_GROUP, call_text(call, "name") },
                                        .has_redriven = call_flag(call, "all"),
                                        .limit = call_number(call, "limit") };
    struct subscription_home home = { 0 };
    struct letter_list list;
    const bool ok = open_home(call, &home, err) &&
                    store_parked_letters(home.store, call->reader.arena, &query, &list, err);

    subscription_home_close(&home);
    if (!ok)
        return false;
    view_letter_list_write(&call->w, &list);
    return true;
}

static bool list_projections(struct call *call, struct error *err)
{
    struct subscription_list list;

    if (!store_subscription_list(call->reader.store, call->reader.arena, &list, err))
        return false;
    view_projection_list_write(&call->w, &list);
    return true;
}

static const struct route ROUTES[] = {
    { .method = "GET",
      .path = "/v1/outbox",
      .name = "showOutbox",
      .summary = "How far events were published, and each subscription: state, lag, what waits",
      .command = "patra outbox status --json",
      .access = ROUTE_READS,
      .run = show_outbox },
    { .method = "GET",
      .path = "/v1/parked",
      .name = "listParked",
      .summary = "Parked keys of all subscriptions whose offsets are in the store itself",
      .command = "patra outbox parked --json",
      .access = ROUTE_READS,
      .params = { PARAM_LIMIT(LIST_MAX, 100) },
      .run = list_parked },
    { .method = "GET",
      .path = "/v1/subscriptions/{name}/parked",
      .name = "listParkedOf",
      .summary = "Parked keys of one subscription",
      .command = "patra outbox parked NAME --json",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("name", IN_PATH, "The subscription."), PARAM_LIMIT(LIST_MAX, 100) },
      .run = list_parked_of },
    { .method = "GET",
      .path = "/v1/subscriptions/{name}/dead",
      .name = "listDead",
      .summary = "Events of one subscription that were given up",
      .command = "patra outbox dead NAME --json",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("name", IN_PATH, "The subscription."),
                  PARAM_SWITCH("all", IN_QUERY, "Also those that were redriven."),
                  PARAM_LIMIT(LIST_MAX, 100) },
      .run = list_dead },
    { .method = "GET",
      .path = "/v1/projections",
      .name = "listProjections",
      .summary = "The projections that are applied",
      .command = "patra projection list --json",
      .access = ROUTE_READS,
      .run = list_projections },
};

const struct route_group ROUTES_EVENTS = { "Events", ROUTES, ARRAY_LEN(ROUTES) };
