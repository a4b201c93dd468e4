/* Gives dead letters back, a page in a transaction. */
#include "engine/lanes/redrive.h"

enum { PAGE = 100, BYTES_MAX = 1 << 30 };

static bool redrive_one(const struct redrive_request *request, const struct letter *letter,
                        struct redriven *redriven, struct error *err)
{
    struct redrive one = {
        .key = request->key, .letter = letter, .by = request->by, .now_us = request->now_us
    };
    bool found, done;

    if (!store_parked_letter_event(request->stream, &one, &found, err))
        return false;
    if (!found) {
        redriven->gone++;
        return true;
    }
    if (!store_parked_redrive(request->store, &one, &done, err))
        return false;
    redriven->events += done;
    return true;
}

static bool redrive_all(const struct redrive_request *request, const struct letter_list *list,
                        struct redriven *redriven, struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!redrive_one(request, &list->items[i], redriven, err))
            return false;
    }
    return true;
}

/* *last is false when there may be more after the query's after_id. */
static bool redrive_page(const struct redrive_request *request, struct arena *arena,
                         struct letter_query *query, struct redriven *redriven, bool *last,
                         struct error *err)
{
    struct store *store = request->store;
    struct redriven page = *redriven;
    struct letter_list list;

    if (!store_parked_letters(store, arena, query, &list, err) || !store_begin(store, err))
        return false;
    if (!redrive_all(request, &list, &page, err) || !store_commit(store, err)) {
        store_rollback(store);
        return false;
    }
    *redriven = page;
    *last = list.count < PAGE;
    if (list.count > 0)
        query->after_id = list.items[list.count - 1].id;
    return true;
}

bool redrive(const struct redrive_request *request, struct redriven *redriven, struct error *err)
{
    struct letter_query query = { .key = request->key,
                                  .aggregate_id = request->aggregate_id,
                                  .limit = PAGE };
    bool ok = true, last = false;
    struct arena arena;

    *redriven = (struct redriven){ 0 };
    arena_init(&arena, BYTES_MAX);
    while (ok && !last) {
        arena_reset(&arena);
        ok = redrive_page(request, &arena, &query, redriven, &last, err);
    }
    arena_release(&arena);
    return ok || error_wrap(err, "redrive %.*s", STR_ARG(request->key.subscription));
}
