/* Who reads the newest event of the record, and how far each one is. */
#include "core/bus_spec.h"
#include "spec/bus.h"
#include "view/why_internal.h"

static const struct trace_event *newest_event(const struct view_why *why)
{
    const struct trace_event *event =
        why->versions.count > 0 ? &why->versions.items[0].event : NULL;

    return event != NULL && event->event.version == why->record.version ? event : NULL;
}

/* ---- its settings ---- */

static bool read_settings(const struct view_reader *reader, const struct view_why *why,
                          const struct subscription *subscription, bool *takes, bool *from_latest,
                          struct error *err)
{
    const struct trace_event *event = newest_event(why);
    struct bus_spec spec;

    *takes = true;
    *from_latest = false;
    if (subscription->kind != SUBSCRIPTION_RELAY)
        return true;
    if (!bus_load(reader->arena, subscription->spec, &spec, err))
        return error_wrap(err, "subscription %.*s", STR_ARG(subscription->name));
    *from_latest = spec.start == BUS_START_LATEST;
    *takes = event == NULL || bus_events_take(&spec.events, why->key.source, why->key.endpoint,
                                              event->event.event_type);
    return true;
}

/* ---- how far it is ---- */

static const struct offset_state *lane_of_event(const struct offset_state_list *lanes, int64_t lane)
{
    for (size_t i = 0; i < lanes->count; i++) {
        if (lanes->items[i].lane == lane)
            return &lanes->items[i];
    }
    return NULL;
}

static void see_readers(const struct reader_state_list *readers, int64_t now_us,
                        struct why_delivery *delivery)
{
    for (size_t i = 0; i < readers->count; i++) {
        const struct reader_state *reader = &readers->items[i];

        if (reader->alive_until_us < now_us)
            continue;
        delivery->readers++;
        if (delivery->error.len == 0)
            delivery->error = reader->error;
    }
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

struct passing {
    const struct offset_key *key;
    const struct trace_letter_list *letters;
    bool from_latest;
};

static bool find_seek(const struct view_reader *reader, const struct trace_event *event,
                      const struct passing *passing, struct trace_seek *seek, bool *found,
                      struct error *err)
{
    *found = false;
    return event == NULL || event->pos == 0 ||
           store_trace_seek(reader->store, reader->arena,
                            &(struct trace_place){ *passing->key, event->event.lane, event->pos },
                            seek, found, err);
}

/* The subscription is past the event, or the event is gone. */
static bool judge_passed(const struct view_reader *reader, const struct view_why *why,
                         const struct passing *passing, struct why_delivery *delivery,
                         struct error *err)
{
    const struct trace_event *event = newest_event(why);
    const struct trace_key key = { *passing->key, why->aggregate_type, why->key.provider_id };
    bool is_sought, is_parked;

    if (!find_seek(reader, event, passing, &delivery->seek, &is_sought, err) ||
        !store_trace_parked(reader->store, reader->arena, &key, &delivery->parked, &is_parked, err))
        return false;
    if (is_parked)
        delivery->state = WHY_PARKED;
    else if (is_sought && delivery->seek.is_past)
        delivery->state = WHY_SKIPPED;
    else if (find_letter(passing->letters, why, delivery->seek.at_us, delivery))
        delivery->state = WHY_DEAD;
    else if (!is_sought && passing->from_latest && event != NULL && event->pos > 0 &&
             event->sequenced_us < delivery->subscription.created_us)
        delivery->state = WHY_EARLIER;
    else
        delivery->state = WHY_DELIVERED;
    return true;
}

static bool judge_place(const struct view_reader *reader, const struct view_why *why,
                        const struct passing *passing, struct why_delivery *delivery,
                        struct error *err)
{
    const struct trace_event *event = newest_event(why);
    struct offset_state_list lanes;
    const struct offset_state *lane;

    if (!why->is_sequenced) {
        delivery->state = WHY_NOT_PLACED;
        return true;
    }
    if (event == NULL)
        return judge_passed(reader, why, passing, delivery, err);
    if (!store_offset_states(reader->store, reader->arena, passing->key, &lanes, err))
        return false;
    lane = lane_of_event(&lanes, event->event.lane);
    if (lane != NULL && lane->pos >= event->pos)
        return judge_passed(reader, why, passing, delivery, err);
    delivery->state = WHY_WAITING;
    delivery->behind = event->pos - (lane != NULL ? lane->pos : 0);
    return true;
}

static bool read_delivery(const struct view_reader *reader, const struct view_why *why,
                          const struct trace_letter_list *letters, struct why_delivery *delivery,
                          struct error *err)
{
    const struct offset_key key = { SUBSCRIPTION_GROUP, delivery->subscription.name };
    struct passing passing = { .key = &key, .letters = letters };
    struct reader_state_list readers;
    bool takes;

    if (!read_settings(reader, why, &delivery->subscription, &takes, &passing.from_latest, err) ||
        !store_offset_readers(reader->store, reader->arena, &key, &readers, err))
        return false;
    see_readers(&readers, why->now_us, delivery);
    if (!takes) {
        delivery->state = WHY_FILTERED;
        return true;
    }
    return judge_place(reader, why, &passing, delivery, err);
}

bool why_deliveries_read(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    const struct trace_key key = { { SUBSCRIPTION_GROUP, STR("") },
                                   why->aggregate_type,
                                   why->key.provider_id };
    struct subscription_list subscriptions;
    struct trace_letter_list letters;

    if (!store_trace_sequencer(reader->store, reader->arena, &why->sequencer, err) ||
        !store_trace_letters(reader->store, reader->arena, &key, &letters, err) ||
        !store_subscription_list(reader->store, reader->arena, &subscriptions, err))
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
        if (!read_delivery(reader, why, &letters, delivery, err))
            return false;
    }
    return true;
}
