/* Gives up what waits for a key: a dead letter for each event, and the row that held them goes. */
#include "engine/lanes/give_up.h"

#include "engine/message/envelope.h"

enum { KEYS_MAX = 100, PAGE = 100, BYTES_MAX = 1 << 30 };

/* As JSON; one that cannot be made into an envelope, or is not ours, as it is stored. */
static bool envelope_of(struct arena *arena, const struct stream_event *event, struct str *envelope,
                        struct error *err)
{
    struct error unmade;

    *envelope = event->stored.event.body;
    if (event->record_id == 0 || envelope_make(arena, &event->stored, envelope, &unmade))
        return true;
    *envelope = event->stored.event.body;
    return !arena->failed || arena_error(arena, err);
}

bool bury_event(struct store *store, struct arena *arena, const struct burial *burial,
                struct error *err)
{
    const struct outbox_event *event = &burial->event->stored.event;
    struct dead_letter letter = { .event_id = event->event_id,
                                  .aggregate_type = burial->parked->aggregate_type,
                                  .aggregate_id = burial->parked->aggregate_id,
                                  .version = event->version,
                                  .reason = burial->reason,
                                  .attempts = burial->parked->attempts_begun,
                                  .dead_us = burial->now_us };

    return envelope_of(arena, burial->event, &letter.envelope, err) &&
           store_parked_bury(store, &burial->key, &letter, err);
}

static bool bury_page(struct arena *arena, const struct give_up *request,
                      const struct parked *parked, struct parked_events *page, struct error *err)
{
    struct stream_event_list list;

    if (!store_parked_events(request->stream, arena, page, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        const struct burial burial = { request->key, parked, &list.items[i], request->reason,
                                       request->now_us };

        if (!bury_event(request->store, arena, &burial, err))
            return false;
        page->from_version = list.items[i].stored.event.version + 1;
    }
    page->limit = list.count < PAGE ? 0 : PAGE; /* 0: that was the last page */
    return true;
}

static bool bury(const struct give_up *request, const struct parked *parked, struct error *err)
{
    struct parked_events page = { parked, parked->head_version, parked->seen_version, PAGE };
    struct arena arena;
    bool ok = true;

    arena_init(&arena, BYTES_MAX);
    while (ok && page.limit > 0) {
        arena_reset(&arena);
        ok = bury_page(&arena, request, parked, &page, err);
    }
    arena_release(&arena);
    return ok;
}

static bool give_up_one(const struct give_up *request, const struct parked *parked,
                        struct given_up *given, struct error *err)
{
    bool removed;

    if (!bury(request, parked, err) ||
        !store_parked_remove(request->store, &request->key, parked, &removed, err))
        return false;
    if (!removed)
        return error_set(err, ERROR_TRANSIENT, "parked.changed",
                         "%.*s has gone on meanwhile: try again", STR_ARG(parked->aggregate_id));
    given->keys++;
    given->events += parked->seen_version - parked->head_version + 1;
    given->from_version = parked->head_version;
    given->to_version = parked->seen_version;
    return true;
}

static bool give_up_all(struct arena *arena, const struct give_up *request, struct given_up *given,
                        struct error *err)
{
    struct parked_list list;

    if (!store_parked_list(request->store, arena,
                           &(struct parked_query){ request->key, request->aggregate_id, KEYS_MAX },
                           &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!give_up_one(request, &list.items[i], given, err))
            return false;
    }
    return true;
}

bool give_up(const struct give_up *request, struct given_up *given, struct error *err)
{
    struct arena arena;
    bool ok;

    *given = (struct given_up){ 0 };
    arena_init(&arena, BYTES_MAX);
    ok = store_begin(request->store, err);
    if (ok && !(give_up_all(&arena, request, given, err) && store_commit(request->store, err))) {
        store_rollback(request->store);
        ok = false;
    }
    arena_release(&arena);
    return ok || error_wrap(err, "give up %.*s", STR_ARG(request->aggregate_id));
}
