/* Subscriptions. A projection's spec says where its tables are. */
#include "act/subscription.h"

#include "port/store_rate.h"
#include "spec/projection.h"
#include "view/outbox.h"

/* A key may go on while it is given up. */
enum { SKIP_TRIES = 5 };

/* ---- where it is ---- */

static bool open_sink(const struct view_reader *reader, struct view_sinks *sinks,
                      struct subscription_home *home, struct error *err)
{
    struct projection_spec spec;

    if (home->subscription.kind != SUBSCRIPTION_PROJECTION)
        return true;
    return projection_load(reader->arena, home->subscription.spec, &spec, err) &&
           (str_eq(spec.database, PROJECTION_OWN_DATABASE) ||
            sinks->open(sinks, &spec, &home->store, err));
}

bool subscription_home_open(const struct view_reader *reader, struct view_sinks *sinks,
                            struct str name, struct subscription_home *home, struct error *err)
{
    bool found;

    *home = (struct subscription_home){ .key = { SUBSCRIPTION_GROUP, name },
                                        .stream = reader->store,
                                        .store = reader->store };
    if (view_subscription_check(reader, name, err) &&
        store_subscription_find(reader->store, reader->arena, name, &home->subscription, &found,
                                err) &&
        open_sink(reader, sinks, home, err) &&
        store_clock(home->store, reader->now_us, &home->now_us, err))
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

/* ---- what waits ---- */

static bool not_parked(const struct subscription_home *home, struct str key, struct error *err)
{
    return error_set(err, ERROR_REQUEST, "parked.unknown", "no key %.*s of %.*s is parked",
                     STR_ARG(key), STR_ARG(home->subscription.name));
}

bool act_parked_retry(const struct subscription_home *home, struct str key, int64_t *count,
                      struct error *err)
{
    const struct parked_query query = { .key = home->key, .aggregate_id = key };

    if (!store_parked_retry(home->store, &query, home->now_us, count, err))
        return false;
    return *count > 0 || key.len == 0 || not_parked(home, key, err);
}

bool act_parked_skip(const struct subscription_home *home, struct arena *arena,
                     const struct act_skip *skip, struct given_up *given, struct error *err)
{
    struct give_up request = { .store = home->store,
                               .stream = home->stream,
                               .key = home->key,
                               .aggregate_id = skip->key,
                               .now_us = home->now_us };
    bool ok = false;

    *given = (struct given_up){ 0 };
    request.reason = arena_printf(arena, "skipped by %.*s%s%.*s", STR_ARG(skip->who),
                                  skip->note.len > 0 ? ": " : "", STR_ARG(skip->note));
    if (request.reason.data == NULL)
        return arena_error(arena, err);
    for (int i = 0; i < SKIP_TRIES && !ok; i++) {
        ok = give_up(&request, given, err);
        if (!ok && err->level != ERROR_TRANSIENT)
            return false;
    }
    return ok && (given->keys > 0 || not_parked(home, skip->key, err));
}

bool act_redrive(const struct subscription_home *home, struct str key, struct str who,
                 struct redriven *redriven, struct error *err)
{
    const struct redrive_request request = { .store = home->store,
                                             .stream = home->stream,
                                             .key = home->key,
                                             .aggregate_id = key,
                                             .by = who,
                                             .now_us = home->now_us };

    if (!redrive(&request, redriven, err))
        return false;
    return redriven->events > 0 || redriven->gone > 0 || key.len == 0 ||
           error_set(err, ERROR_REQUEST, "dead.unknown",
                     "no event of %.*s is a dead letter of %.*s", STR_ARG(key),
                     STR_ARG(home->subscription.name));
}

/* ---- all of it ---- */

bool act_subscription_hold(const struct view_reader *reader, const struct act_hold *hold,
                           bool *changed, struct error *err)
{
    struct subscription_change change = { .name = hold->name,
                                          .state = hold->is_paused ? SUBSCRIPTION_PAUSED
                                                                   : SUBSCRIPTION_ACTIVE,
                                          .reason = STR("") };

    if (hold->is_paused)
        change.reason = arena_printf(reader->arena, "paused by %.*s%s%.*s", STR_ARG(hold->who),
                                     hold->note.len > 0 ? ": " : "", STR_ARG(hold->note));
    if (change.reason.data == NULL)
        return arena_error(reader->arena, err);
    return view_subscription_check(reader, hold->name, err) &&
           store_clock(reader->store, reader->now_us, &change.now_us, err) &&
           store_subscription_set_state(reader->store, &change, changed, err);
}
