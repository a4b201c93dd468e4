/* Who reads the newest event of the record, and how far each one is. */
#include "core/bus_spec.h"
#include "spec/bus.h"
#include "spec/projection.h"
#include "view/why_internal.h"

const struct trace_event *why_newest_event(const struct view_why *why)
{
    const struct trace_event *event =
        why->versions.count > 0 ? &why->versions.items[0].event : NULL;

    return event != NULL && event->event.version == why->record.version ? event : NULL;
}

/* ---- its settings ---- */

/* What the subscription says of the event, and where it keeps its offsets. */
struct home {
    struct store *store; /* NULL: out of reach */
    struct offset_key key;
    const struct projection_spec *projection; /* NULL: a relay */
    bool takes;
    bool from_latest;
};

static bool read_relay(const struct view_reader *reader, const struct view_why *why,
                       const struct subscription *subscription, struct home *home,
                       struct error *err)
{
    const struct trace_event *event = why_newest_event(why);
    struct bus_spec spec;

    if (!bus_load(reader->arena, subscription->spec, &spec, err))
        return false;
    home->store = reader->store;
    home->from_latest = spec.start == BUS_START_LATEST;
    home->takes = event == NULL || bus_events_take(&spec.events, why->key.source, why->key.endpoint,
                                                   event->event.event_type);
    return true;
}

static bool read_projection(const struct view_reader *reader, struct view_sinks *sinks,
                            const struct view_why *why, struct why_delivery *delivery,
                            struct home *home, struct error *err)
{
    struct projection_spec *spec = ARENA_ARRAY(reader->arena, struct projection_spec, 1);

    if (spec == NULL)
        return arena_error(reader->arena, err);
    if (!projection_load(reader->arena, delivery->subscription.spec, spec, err) ||
        !why_projection_open(reader, sinks, spec, delivery, &home->store, err))
        return false;
    home->projection = spec;
    home->from_latest = spec->start == PROJECTION_LATEST;
    home->takes = projection_has(spec, why->aggregate_type);
    return true;
}

/* ---- how far it is ---- */

int64_t why_alive(const struct reader_state_list *readers, int64_t now_us, struct str *error)
{
    int64_t alive = 0;

    for (size_t i = 0; i < readers->count; i++) {
        const struct reader_state *reader = &readers->items[i];

        if (reader->alive_until_us < now_us)
            continue;
        alive++;
        if (error->len == 0)
            *error = reader->error;
    }
    return alive;
}

/* The letter of the newest event, unless it was delivered again since: `back_us` is when the
 * subscription was last moved back to before it. */
static bool find_letter(const struct trace_letter_list *letters, const struct view_why *why,
                        int64_t back_us, struct why_delivery *delivery)
{
    for (size_t i = 0; i < letters->count; i++) {
        const struct trace_letter *letter = &letters->items[i];

        if (!str_eq(letter->subscription, delivery->subscription.name) ||
            letter->version != why->record.version || letter->redriven_us != 0 ||
            letter->dead_us < back_us)
            continue;
        delivery->letter = *letter;
        return true;
    }
    return false;
}

static bool find_seek(const struct view_reader *reader, const struct trace_event *event,
                      const struct home *home, struct trace_seek *seek, bool *found,
                      struct error *err)
{
    *found = false;
    return event == NULL || event->pos == 0 ||
           store_trace_seek(home->store, reader->arena,
                            &(struct trace_place){ home->key, event->event.lane, event->pos }, seek,
                            found, err);
}

/* The subscription is past the event, or the event is gone. */
static bool judge_passed(const struct view_reader *reader, const struct view_why *why,
                         const struct home *home, struct why_delivery *delivery, struct error *err)
{
    const struct trace_event *event = why_newest_event(why);
    const struct trace_key key = { home->key, why->aggregate_type, why->key.provider_id };
    struct trace_letter_list letters;
    bool is_sought, is_parked;

    if (!find_seek(reader, event, home, &delivery->seek, &is_sought, err) ||
        !store_trace_letters(home->store, reader->arena, &key, &letters, err) ||
        !store_trace_parked(home->store, reader->arena, &key, &delivery->parked, &is_parked, err))
        return false;
    if (is_parked)
        delivery->state = WHY_PARKED;
    else if (is_sought && delivery->seek.is_past)
        delivery->state = WHY_SKIPPED;
    else if (find_letter(&letters, why, delivery->seek.at_us, delivery))
        delivery->state = WHY_DEAD;
    else if (!is_sought && home->from_latest && event != NULL && event->pos > 0 &&
             event->sequenced_us < delivery->subscription.created_us)
        delivery->state = WHY_EARLIER;
    else
        delivery->state = WHY_DELIVERED;
    return true;
}

static bool judge_place(const struct view_reader *reader, const struct view_why *why,
                        const struct home *home, struct why_delivery *delivery, struct error *err)
{
    const struct trace_event *event = why_newest_event(why);
    int64_t pos;

    if (!why->is_sequenced) {
        delivery->state = WHY_NOT_PLACED;
        return true;
    }
    if (event == NULL || event->pos == 0)
        return judge_passed(reader, why, home, delivery, err);
    if (!store_trace_offset(home->store, &home->key, event->event.lane, &pos, err))
        return false;
    if (pos >= event->pos)
        return judge_passed(reader, why, home, delivery, err);
    delivery->state = WHY_WAITING;
    delivery->behind = event->pos - pos;
    return true;
}

static bool judge_home(const struct view_reader *reader, const struct view_why *why,
                       const struct home *home, struct why_delivery *delivery, struct error *err)
{
    struct reader_state_list readers;

    if (!home->takes) {
        delivery->state = WHY_FILTERED;
        return true;
    }
    if (home->store == NULL) {
        delivery->state = WHY_UNKNOWN;
        return true;
    }
    if (!store_offset_readers(home->store, reader->arena, &home->key, &readers, err))
        return false;
    delivery->readers = why_alive(&readers, why->now_us, &delivery->error);
    return judge_place(reader, why, home, delivery, err) &&
           (home->projection == NULL ||
            why_projection_rows(reader, why, home->store, home->projection, delivery, err));
}

static bool read_delivery(const struct view_reader *reader, struct view_sinks *sinks,
                          const struct view_why *why, struct why_delivery *delivery,
                          struct error *err)
{
    struct home home = { .key = { SUBSCRIPTION_GROUP, delivery->subscription.name } };
    const bool ok = (delivery->subscription.kind == SUBSCRIPTION_RELAY
                         ? read_relay(reader, why, &delivery->subscription, &home, err)
                         : read_projection(reader, sinks, why, delivery, &home, err)) &&
                    judge_home(reader, why, &home, delivery, err);

    if (home.store != reader->store)
        store_close(home.store);
    return ok || error_wrap(err, "subscription %.*s", STR_ARG(delivery->subscription.name));
}

bool why_deliveries_read(const struct view_reader *reader, struct view_sinks *sinks,
                         struct view_why *why, struct error *err)
{
    struct subscription_list subscriptions;

    if (!store_subscription_list(reader->store, reader->arena, &subscriptions, err))
        return false;
    why->has_sequencer =
        why->sequencer.owner.len > 0 && why->sequencer.leased_until_us > why->now_us;
    for (size_t i = 0; i < subscriptions.count; i++) {
        struct why_delivery *delivery;

        if (subscriptions.items[i].kind == SUBSCRIPTION_IMPORT)
            continue;
        delivery = LIST_ADD(reader->arena, &why->deliveries);
        if (delivery == NULL)
            return arena_error(reader->arena, err);
        delivery->subscription = subscriptions.items[i];
        if (!read_delivery(reader, sinks, why, delivery, err))
            return false;
    }
    return true;
}
