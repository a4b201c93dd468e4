/* Signals for records that a full sync did not have, a page of them at a time. */
#include "engine/cursor/feed_unseen.h"

#include "port/store_record.h"
#include "port/store_signal.h"

enum { UNSEEN_PAGE = 500 };

#define UNSEEN_REASON STR("not in the full sync after an expired token")
#define UNSEEN_BY STR("executor")

static bool add_signals(struct store *store, struct arena *arena,
                        const struct feed_unseen_request *request,
                        const struct candidate_list *unseen, struct error *err)
{
    struct signal *signals = ARENA_ARRAY(arena, struct signal, unseen->count);
    int64_t added;

    if (signals == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < unseen->count; i++)
        signals[i] = (struct signal){ .source = request->source,
                                      .endpoint = request->endpoint,
                                      .provider_id = unseen->items[i].provider_id,
                                      .reason = UNSEEN_REASON,
                                      .created_by = UNSEEN_BY,
                                      .created_us = request->now_us };
    if (!store_begin(store, err))
        return false;
    if (store_signal_add(store, signals, unseen->count, &added, err) && store_commit(store, err))
        return true;
    store_rollback(store);
    return false;
}

bool feed_unseen_signal(struct store *store, struct arena *arena,
                        const struct feed_unseen_request *request, int64_t *count,
                        struct error *err)
{
    struct candidate_query query = { .reason = CANDIDATE_STALENESS,
                                     .source = request->source,
                                     .endpoint = request->endpoint,
                                     .checked_before_us = request->since_us,
                                     .limit = UNSEEN_PAGE };
    struct candidate_list unseen;

    *count = 0;
    do {
        if (!store_candidate_list(store, arena, &query, &unseen, err))
            return false;
        if (unseen.count > 0 && !add_signals(store, arena, request, &unseen, err))
            return false;
        *count += (int64_t)unseen.count;
        if (unseen.count > 0)
            query.after = &unseen.items[unseen.count - 1];
    } while (unseen.count == UNSEEN_PAGE);
    return true;
}
