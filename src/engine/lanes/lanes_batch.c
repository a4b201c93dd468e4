/* Events of the stream: which lanes they are read from, and what is known of each before it is
 * delivered. */
#include <inttypes.h>
#include <string.h>

#include "engine/lanes/lanes_internal.h"

/* Events that go one by one after crashes. */
enum { CAREFUL = 100 };

/* ---- which lanes ---- */

static bool is_pending(const struct held_lane *lane)
{
    return lane->is_held && lane->pos < lane->last_pos;
}

static bool is_careful(const struct held_lane *lane)
{
    return lane->careful > 0 || lane->crashes >= LANES_CRASHES;
}

static bool look(struct lanes *l, struct error *err)
{
    int64_t ends[OUTBOX_LANES] = { 0 };

    if (!store_stream_ends(l->parts.stream, ends, err))
        return false;
    for (int i = 0; i < OUTBOX_LANES; i++)
        l->items[i].last_pos = ends[i];
    return true;
}

struct choice {
    struct stream_place places[OUTBOX_LANES];
    size_t count;
    bool is_careful; /* one lane, one event */
};

static void choose_from(const struct lanes *l, bool careful, struct choice *choice)
{
    *choice = (struct choice){ .is_careful = careful };
    for (int i = 0; i < OUTBOX_LANES && !(careful && choice->count > 0); i++) {
        const int number = (l->first + i) % OUTBOX_LANES;
        const struct held_lane *lane = &l->items[number];

        if (is_pending(lane) && is_careful(lane) == careful)
            choice->places[choice->count++] = (struct stream_place){ number, lane->pos };
    }
}

/* Lanes where readers died go alone; the others have every second turn. */
static void choose(struct lanes *l, struct choice *choice)
{
    l->is_careful_turn = !l->is_careful_turn;
    choose_from(l, l->is_careful_turn, choice);
    if (choice->count == 0)
        choose_from(l, !l->is_careful_turn, choice);
    l->first = (l->first + 1) % OUTBOX_LANES;
}

static struct stream_read request_of(const struct lanes *l, const struct choice *choice)
{
    const int64_t many = l->settings.batch_max / (int64_t)choice->count;

    return (struct stream_read){
        .places = choice->places,
        .count = choice->count,
        .lane_max = choice->is_careful || many < 1 ? 1 : many,
        .bytes_max = l->settings.bytes_max,
    };
}

static bool read(struct lanes *l, const struct choice *choice, struct stream_event_list *events,
                 struct error *err)
{
    const struct stream_read request = request_of(l, choice);

    return store_stream_read(l->parts.stream, &l->arena, &request, events, err);
}

/* What is missing was removed before it was delivered: going on would hide that. */
static bool check_whole(const struct lanes *l, const struct choice *choice,
                        const struct stream_event_list *events, struct error *err)
{
    int64_t next[OUTBOX_LANES];

    for (int i = 0; i < OUTBOX_LANES; i++)
        next[i] = l->items[i].pos + 1;
    for (size_t i = 0; i < events->count; i++) {
        const struct stream_event *event = &events->items[i];

        if (event->lane >= 0 && event->lane < OUTBOX_LANES && event->pos == next[event->lane]) {
            next[event->lane]++;
            continue;
        }
        return error_set(err, ERROR_FATAL, "lanes.gap",
                         "position %" PRId64 " of lane %" PRId64
                         " is not in the stream any more: patra offset reset moves it",
                         next[event->lane], event->lane);
    }
    return events->count > 0 ||
           error_set(err, ERROR_FATAL, "lanes.gap",
                     "position %" PRId64 " of lane %" PRId64
                     " is not in the stream any more: patra offset reset moves it",
                     choice->places[0].pos + 1, choice->places[0].lane);
}

/* ---- after crashes ---- */

/* Whoever dies at this event leaves a lease that counts for this lane alone. */
static bool blame(struct lanes *l, int64_t careful_lane, bool *held, struct error *err)
{
    struct offset_held lanes[OUTBOX_LANES];
    size_t count = 0;

    for (int i = 0; i < OUTBOX_LANES; i++) {
        if (l->items[i].is_held)
            lanes[count++] = (struct offset_held){ i, l->items[i].epoch, i != careful_lane };
    }
    return store_offset_renew(
        l->parts.store,
        &(struct offset_renew){ l->key, lanes_now_us(l) + l->settings.lease_us, lanes, count },
        held, err);
}

static bool prepare_careful(struct lanes *l, const struct choice *choice, struct delivery *d,
                            struct error *err)
{
    const int64_t number = choice->places[0].lane;
    struct held_lane *lane = &l->items[number];
    struct item *item = d->count > 0 ? &d->items[0] : NULL;
    bool held;

    if (lane->careful == 0)
        lane->careful = CAREFUL;
    if (item == NULL || item->state != ITEM_OPEN)
        return true;
    if (lane->crashes > LANES_CRASHES) {
        item_fail(item,
                  arena_printf(&l->arena, "its reader died here %" PRId64 " times", lane->crashes),
                  true);
        return !l->arena.failed || arena_error(&l->arena, err);
    }
    if (!blame(l, number, &held, err))
        return false;
    d->is_lost = !held;
    return true;
}

/* ---- the batch ---- */

struct aggregate lanes_aggregate(struct arena *arena, const struct stream_event *event)
{
    const struct stored_event *stored = &event->stored;

    if (event->record_id == 0)
        return (struct aggregate){ stored->aggregate_type, stored->aggregate_id };
    return (struct aggregate){ arena_printf(arena, "%.*s/%.*s", STR_ARG(stored->source),
                                            STR_ARG(stored->endpoint)),
                               stored->provider_id };
}

bool lanes_items(struct lanes *l, const struct lanes_filter *filter,
                 const struct stream_event_list *events, struct delivery *d, struct error *err)
{
    *d = (struct delivery){ .items = ARENA_ARRAY(&l->arena, struct item, events->count),
                            .count = events->count };
    for (size_t i = 0; i < events->count && !l->arena.failed; i++) {
        const struct stream_event *event = &events->items[i];

        d->items[i] = (struct item){ .event = event,
                                     .aggregate = lanes_aggregate(&l->arena, event),
                                     .state = ITEM_OPEN };
        if (filter->takes != NULL && !filter->takes(filter->context, event))
            d->items[i].state = ITEM_UNWANTED;
    }
    return !l->arena.failed || arena_error(&l->arena, err);
}

void lanes_mark_parked(struct lanes *l, struct delivery *d)
{
    for (size_t i = 0; i < d->count; i++) {
        struct item *item = &d->items[i];

        if (item->state == ITEM_OPEN &&
            park_find(&l->park, item->aggregate.type, item->aggregate.id) != NULL)
            item->state = ITEM_PASSED;
    }
}

bool lanes_has_more(const struct lanes *l)
{
    for (int i = 0; i < OUTBOX_LANES; i++) {
        if (is_pending(&l->items[i]))
            return true;
    }
    return false;
}

/* ---- reading ahead ----
 *
 * What a position of a lane has never changes; what may change meanwhile is where a lane goes on (a
 * seek, another owner, an event that was not delivered), so that is compared. */

static bool has_careful(const struct lanes *l)
{
    bool has = false;

    for (int i = 0; i < OUTBOX_LANES; i++)
        has |= is_pending(&l->items[i]) && is_careful(&l->items[i]);
    return has;
}

bool lanes_read_ahead(struct lanes *l, const struct delivery *d, struct error *err)
{
    struct choice next = { 0 };
    int64_t ends[OUTBOX_LANES];
    struct stream_read request;

    l->ahead.count = 0;
    for (int i = 0; i < OUTBOX_LANES; i++)
        ends[i] = l->items[i].pos;
    for (size_t i = 0; i < d->count; i++)
        ends[d->items[i].event->lane] = d->items[i].event->pos;
    for (int i = 0; i < OUTBOX_LANES && d->count > 0; i++) {
        const int number = (l->first + i) % OUTBOX_LANES;

        if (l->items[number].is_held && ends[number] < l->items[number].last_pos)
            next.places[next.count++] = (struct stream_place){ number, ends[number] };
    }
    if (next.count == 0 || has_careful(l))
        return true;
    request = request_of(l, &next);
    if (!store_stream_read_ahead(l->parts.stream, &request, err))
        return false;
    memcpy(l->ahead.places, next.places, sizeof(l->ahead.places));
    l->ahead.count = next.count;
    return true;
}

/* The lanes that were read ahead, if all of them go on there. */
static bool choose_ahead(struct lanes *l, struct choice *choice)
{
    bool fits = l->ahead.count > 0 && !has_careful(l);

    *choice = (struct choice){ .count = l->ahead.count };
    l->ahead.count = 0;
    for (size_t i = 0; i < choice->count && fits; i++) {
        const struct stream_place *place = &l->ahead.places[i];
        const struct held_lane *lane = &l->items[place->lane];

        choice->places[i] = *place;
        fits = lane->is_held && lane->pos == place->pos;
    }
    if (fits)
        l->first = (l->first + 1) % OUTBOX_LANES;
    return fits;
}

bool lanes_next(struct lanes *l, const struct lanes_filter *filter, struct delivery *d,
                struct error *err)
{
    struct stream_event_list events;
    struct choice choice;

    *d = (struct delivery){ 0 };
    if (!look(l, err))
        return false;
    if (!choose_ahead(l, &choice))
        choose(l, &choice);
    if (choice.count == 0)
        return true;
    if (!read(l, &choice, &events, err) || !check_whole(l, &choice, &events, err) ||
        !lanes_items(l, filter, &events, d, err))
        return false;
    lanes_mark_parked(l, d);
    return !choice.is_careful || prepare_careful(l, &choice, d, err);
}
