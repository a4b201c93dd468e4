/* Which parts of a window must be fetched, and how they are cut. */
#include <assert.h>
#include <inttypes.h>

#include "core/coverage.h"
#include "core/limits.h"
#include "engine/coverage/coverage.h"
#include "engine/plan/draft.h"
#include "engine/slice/slicing.h"

/* ---- what is to be fetched ---- */

static bool subtract(struct arena *arena, struct plan_draft *draft,
                     const struct coverage_list *list, struct error *err)
{
    const struct window wanted = draft->decision.window;
    const struct maybe_instant cursor = draft->decision.request.cursor;
    /* Without a lookback only alignment moves the window before the cursor (a cursor within a day,
     * say), and nothing there needs to be read again. */
    const bool looks_back = draft->plan.operation == OPERATION_HARVEST && cursor.is_set &&
                            draft->decision.request.lookback_us > 0;
    /* What was read before late records could have arrived is read again, on either side of the
     * cursor: while a slice holds the cursor back, the slices after it grow old as well. */
    const struct coverage_request request = {
        .wanted = wanted,
        .cursor_us = wanted.from_us,
        .covered = looks_back ? list->settled : list->covered,
        .live = list->live,
    };

    return coverage_plan(arena, &request, &draft->pieces, err) &&
           coverage_ended(arena, list, &draft->ended, err);
}

static bool cover_once(struct store *store, struct arena *arena, struct plan_draft *draft,
                       struct coverage_list *list, struct error *err)
{
    struct coverage_query query = { plan_namespace(&draft->plan), draft->spec->operation.slice_by,
                                    draft->decision.window.from_us };

    query.of.late_us = spec_late_us(draft->spec);
    return coverage_load(store, arena, &query, list, err) &&
           draft_hold(store, arena, draft, &list->live, err) && subtract(arena, draft, list, err);
}

static bool is_under_way(const struct coverage_list *list, struct window wanted)
{
    for (size_t i = 0; i < list->live.count; i++) {
        if (window_is_valid(window_intersect(list->live.items[i], wanted)))
            return true;
    }
    return false;
}

/* A replay that is under way or was cut short is continued. One that is complete starts again in a
 * namespace of its own: coverage of the first must not count for the second. */
static bool name_round(struct arena *arena, struct plan_draft *draft, int64_t round,
                       struct error *err)
{
    char *hex = ARENA_ARRAY(arena, char, HASH_HEX_MAX);
    const struct str text = arena_printf(arena, "%.*s#%" PRId64, STR_ARG(draft->campaign), round);
    struct hash_sum sum;

    if (hex == NULL || text.data == NULL)
        return arena_error(arena, err);
    if (!hash_of(text, &sum, err))
        return false;
    hash_hex(&sum, hex);
    draft->plan.namespace_key = str_of(hex);
    return true;
}

static bool cover_replay(struct store *store, struct arena *arena, struct plan_draft *draft,
                         struct error *err)
{
    struct coverage_list list;

    for (int64_t round = 0; round < REPLAY_ROUNDS_MAX; round++) {
        if (round > 0 && !name_round(arena, draft, round, err))
            return false;
        if (!cover_once(store, arena, draft, &list, err))
            return false;
        if (draft->pieces.count > 0 || is_under_way(&list, draft->decision.window))
            return true;
    }
    return error_set(err, ERROR_REQUEST, "plan.request",
                     "this window has been replayed %d times; --campaign NAME begins a new count",
                     REPLAY_ROUNDS_MAX);
}

bool draft_cover(struct store *store, struct arena *arena, struct plan_draft *draft,
                 struct error *err)
{
    const bool is_replay = draft->plan.operation == OPERATION_REPLAY;
    struct coverage_list list;

    assert(draft->decision.empty == WINDOW_EMPTY_NOT);
    if (is_replay ? !cover_replay(store, arena, draft, err)
                  : !cover_once(store, arena, draft, &list, err))
        return false;
    /* Pages are walked for all that is missing: they have no dates. */
    if (draft->spec->operation.slice_by == SLICE_PAGE && draft->pieces.count > 0)
        draft->plan.window = (struct window){ draft->pieces.items[0].from_us,
                                              draft->pieces.items[draft->pieces.count - 1].to_us };
    return true;
}

/* ---- how it is cut ---- */

static int64_t least(int64_t cap, int64_t other)
{
    return cap == 0 || (other > 0 && other < cap) ? other : cap;
}

/* How many records one slice by time may be expected to have, by the source's cap and by the
 * budget of a slice; 0: any number. */
static int64_t records_most(const struct spec *spec)
{
    const struct spec_operation *operation = &spec->operation;
    const int64_t page = spec->endpoint.page.size;
    const int64_t batch = spec->is_two_phase ? spec->detail.batch.id_batch_size : 0;
    int64_t most = least(spec->endpoint.page.cap, operation->budget_records);

    if (spec_is_open_ended(spec))
        return 0;
    if (operation->budget_requests > 0 && page > 0 && batch > 0)
        most = least(most, operation->budget_requests * page / (page + batch) * batch);
    else if (operation->budget_requests > 0 && page > 0)
        most = least(most, operation->budget_requests * page);
    return most;
}

struct slice_request draft_slices(const struct plan_draft *draft)
{
    const struct spec *spec = draft->spec;
    const struct spec_page *page = &spec->endpoint.page;
    const int64_t pages = page->max_pages > 0 ? page->max_pages : PLAN_PAGES_OPEN;

    return (struct slice_request){
        .operation = draft->plan.operation,
        .dimension = spec->operation.slice_by,
        .pieces = draft->pieces,
        .window = draft->plan.window,
        .cut = slicing_cut(spec),
        .density = draft->density,
        .cost = slicing_cost(spec),
        .record_cap = records_most(spec),
        .pages = { page->base, page->base + pages },
        /* Without a last page one slice walks to the end. */
        .pages_per_slice = page->max_pages > 0 ? spec->operation.slice_pages : pages,
        .ids_total = SLICE_UNKNOWN,
    };
}
