/* Which records are candidates, in which order they are taken. */
#include "engine/update/candidates.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "engine/slice/slice_expr.h"
#include "engine/update/children.h"
#include "engine/update/current.h"
#include "engine/update/id_batch.h"
#include "engine/update/id_filter.h"
#include "port/store_record.h"
#include "port/store_signal.h"
#include "spec/record_home.h"

enum {
    PAGE_IDS = 500, /* read, or signalled, at once */
    PAGE_ARENA_MAX = 64 << 20,
};

#define LAST_ID (INT64_MAX - 1) /* after every record; stores continue from it */

struct search {
    struct store *store;
    const struct update_request *request;
    struct id_batch *batch;
    struct id_filter *seen;
    struct arena page;
    bool is_over; /* the budget has ended */
    struct current_queries current;
};

/* ---- what is live already ---- */

static bool see_task(struct search *search, const struct task *task, struct error *err)
{
    struct plan_slice slice;
    struct str_list ids;
    bool found;

    if (!store_slice_get(search->store, &search->page, task->slice_id, &slice, &found, err))
        return false;
    if (!found)
        return true;
    if (!slice_expr_ids(&search->page, slice.expr_snapshot, &ids, err))
        return false;
    for (size_t i = 0; i < ids.count; i++)
        id_filter_add(search->seen, ids.items[i]);
    return true;
}

static bool see_live(struct search *search, struct error *err)
{
    const struct plan *plan = search->request->plan;
    const struct task_partition of = { plan->source, plan->endpoint, plan->operation };
    struct store_page page = { .limit = PAGE_IDS };
    struct task_list tasks;

    do {
        arena_reset(&search->page);
        if (!store_task_live(search->store, &search->page, &of, page, &tasks, err))
            return false;
        for (size_t i = 0; i < tasks.count; i++) {
            if (!see_task(search, &tasks.items[i], err))
                return false;
            page.after = tasks.items[i].id;
        }
    } while (tasks.count == PAGE_IDS);
    return true;
}

/* ---- taking ---- */

static bool cut_batch(struct search *search, struct error *err)
{
    return id_batch_cut(search->batch, search->request, &search->is_over, err);
}

/* signal_id 0: it was not a signal. */
static bool take(struct search *search, struct str id, int64_t signal_id, struct error *err)
{
    if (search->is_over || id_filter_has(search->seen, id))
        return true;
    id_filter_add(search->seen, id);
    return id_batch_add(search->batch, id, signal_id, err) &&
           (!id_batch_is_full(search->batch) || cut_batch(search, err));
}

/* ---- signals ---- */

static bool take_signals(struct search *search, struct error *err)
{
    struct candidate_query query = { .reason = CANDIDATE_SIGNAL,
                                     .source = search->request->plan->source,
                                     .endpoint = search->request->target,
                                     .limit = PAGE_IDS };
    struct candidate last = { 0 };
    struct candidate_list list;

    do {
        arena_reset(&search->page);
        if (!store_candidate_list(search->store, &search->page, &query, &list, err))
            return false;
        for (size_t i = 0; i < list.count; i++) {
            if (!take(search, list.items[i].provider_id, list.items[i].id, err))
                return false;
            last.id = list.items[i].id;
        }
        query.after = &last;
    } while (list.count == PAGE_IDS && !search->is_over);
    return true;
}

/* ---- ids of the trigger ---- */

static bool has_lower_ids(const struct update_request *request)
{
    const struct spec_endpoint *endpoint = &request->spec->endpoint;

    return endpoint->parent.len > 0 ? record_ids_are_lower(request->source, endpoint->parent)
                                    : endpoint->response.id_case == LETTER_CASE_LOWER;
}

static bool normal_id(struct search *search, struct str id, struct str *normal, struct error *err)
{
    struct str copy;

    if (id.len == 0 || id.len > PROVIDER_ID_MAX || !store_text_ok(id))
        return error_set(err, ERROR_REQUEST, "plan.request",
                         "'%.*s' is not an id: 1 to %d bytes of UTF-8",
                         STR_ARG(str_slice(id, 0, 100)), PROVIDER_ID_MAX);
    copy = arena_copy(&search->page, id);
    if (copy.data == NULL)
        return arena_error(&search->page, err);
    if (has_lower_ids(search->request)) {
        char *bytes = (char *)copy.data;

        for (size_t i = 0; i < copy.len; i++)
            bytes[i] = bytes[i] >= 'A' && bytes[i] <= 'Z' ? (char)(bytes[i] + 32) : bytes[i];
    }
    *normal = copy;
    return true;
}

static bool add_signals(struct search *search, const struct signal *signals, size_t count,
                        struct error *err)
{
    int64_t added;

    if (!search->request->is_preview)
        return store_signal_add(search->store, signals, count, &added, err);
    for (size_t i = 0; i < count; i++) { /* a preview keeps none */
        if (!take(search, signals[i].provider_id, 0, err))
            return false;
    }
    return true;
}

static bool signal_ids(struct search *search, struct id_reader *ids, struct error *err)
{
    struct signal signals[PAGE_IDS];
    struct str id;
    size_t count;
    bool has;

    do {
        arena_reset(&search->page);
        for (count = 0; count < PAGE_IDS; count++) {
            signals[count] = (struct signal){ .source = search->request->plan->source,
                                              .endpoint = search->request->target,
                                              .reason = STR("asked for by a trigger"),
                                              .created_by = STR("patra"),
                                              .created_us = search->request->now_us };
            if (!ids->next(ids, &id, &has, err))
                return false;
            if (!has)
                break;
            if (!normal_id(search, id, &signals[count].provider_id, err))
                return false;
        }
        if (count > 0 && !add_signals(search, signals, count, err))
            return false;
    } while (count == PAGE_IDS);
    return true;
}

/* ---- old expressions ---- */

/* Whether the query of an expression is in force. If not, its records are about to be requested. */
static bool judge_expr(struct search *search, struct str hash, bool *is_good, struct error *err)
{
    const struct update_request *request = search->request;

    if (!current_queries_have(&search->current, search->store, &search->page, hash, is_good, err))
        return false;
    return *is_good || request->is_preview ||
           current_queries_renew(search->store, &search->page, hash, request->plan->expr_proto_hash,
                                 request->now_us, err);
}

static bool take_old(struct search *search, struct error *err)
{
    char hash[HASH_HEX_MAX];
    struct candidate last = { .expr_hash = { hash, 0 } };
    struct candidate_query query = { .reason = CANDIDATE_EXPR_CHANGE,
                                     .source = search->request->plan->source,
                                     .endpoint = search->request->target,
                                     .expr_hash = search->request->plan->expr_proto_hash,
                                     .limit = PAGE_IDS };
    struct candidate_list list;
    bool has_more = true;

    while (has_more && !search->is_over) {
        arena_reset(&search->page);
        if (!store_candidate_list(search->store, &search->page, &query, &list, err))
            return false;
        has_more = list.count == PAGE_IDS;
        for (size_t i = 0; i < list.count; i++) {
            const struct candidate *found = &list.items[i];
            bool is_good = false;

            if (found->expr_hash.len >= sizeof(hash))
                return error_set(err, ERROR_FATAL, "plan.record", "a record has no expr_hash");
            if (!str_eq(last.expr_hash, found->expr_hash) &&
                !judge_expr(search, found->expr_hash, &is_good, err))
                return false;
            memcpy(hash, found->expr_hash.data, found->expr_hash.len);
            last = (struct candidate){ .id = is_good ? LAST_ID : found->id,
                                       .expr_hash = { hash, found->expr_hash.len } };
            query.after = &last;
            if (is_good) { /* so are all others of this hash, which follow: skip them */
                has_more = true;
                break;
            }
            if (!take(search, found->provider_id, 0, err))
                return false;
        }
    }
    return true;
}

/* ---- staleness ---- */

static int64_t stale_before(const struct update_request *request)
{
    const int64_t after_us =
        request->stale_us > 0 ? request->stale_us : request->spec->operation.stale_after_us;

    return request->now_us - after_us;
}

/* One Nth of the records is checked each day. */
static bool has_turn(const struct update_request *request, struct str id)
{
    const int64_t buckets = request->spec->operation.stale_buckets;
    const int64_t day = instant_day_number(request->now_us);

    if (buckets <= 1 || request->stale_us > 0)
        return true;
    return (int64_t)slice_turn(id, (uint32_t)buckets) == ((day % buckets) + buckets) % buckets;
}

/* METRICS: whether a record's own numbers are missing or stale. */
static bool are_stale(struct search *search, const struct candidate_list *list, bool *stale,
                      struct error *err)
{
    const struct update_request *request = search->request;
    const struct record_context context = { .source = request->plan->source,
                                            .endpoint = request->target };
    struct record_state states[PAGE_IDS];
    struct str ids[PAGE_IDS];

    for (size_t i = 0; i < list->count; i++)
        ids[i] = list->items[i].provider_id;
    if (!store_record_check(search->store, &search->page, &context,
                            (struct record_ids){ ids, list->count }, states, err))
        return false;
    for (size_t i = 0; i < list->count; i++)
        stale[i] = states[i].id == 0 || states[i].checked_us < stale_before(request);
    return true;
}

static bool take_page(struct search *search, const struct candidate_list *list, struct error *err)
{
    const struct update_request *request = search->request;
    const bool has_own = !str_eq(request->base, request->target);
    bool stale[PAGE_IDS];

    if (has_own && list->count > 0 && !are_stale(search, list, stale, err))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct str id = list->items[i].provider_id;

        if ((!has_own || stale[i]) && has_turn(request, id) && !take(search, id, 0, err))
            return false;
    }
    return true;
}

static bool take_stale(struct search *search, struct error *err)
{
    const struct update_request *request = search->request;
    const bool has_own = !str_eq(request->base, request->target);
    struct candidate_query query = { .reason = CANDIDATE_STALENESS,
                                     .source = request->plan->source,
                                     .endpoint = request->base,
                                     .checked_before_us =
                                         has_own ? INSTANT_MAX : stale_before(request),
                                     .limit = PAGE_IDS };
    struct candidate last;
    struct candidate_list list;

    do {
        arena_reset(&search->page);
        if (!store_candidate_list(search->store, &search->page, &query, &list, err) ||
            !take_page(search, &list, err))
            return false;
        if (list.count > 0)
            last = (struct candidate){ .id = list.items[list.count - 1].id,
                                       .checked_us = list.items[list.count - 1].checked_us };
        query.after = &last;
    } while (list.count == PAGE_IDS && !search->is_over);
    return true;
}

/* ---- children ---- */

static bool is_of_children(const struct update_request *request)
{
    return request->spec->endpoint.parent.len > 0;
}

static bool take_parents(struct search *search, const struct candidate_list *parents,
                         const struct children_order *order, struct error *err)
{
    enum child_due due[PAGE_IDS];

    if (!children_find_due(search->store, &search->page, order, parents, due, err))
        return false;
    for (size_t i = 0; i < parents->count; i++) {
        const struct str id = parents->items[i].provider_id;

        if (due[i] == CHILD_FETCHED || (due[i] == CHILD_STALE && !has_turn(search->request, id)))
            continue;
        if (!take(search, id, 0, err))
            return false;
    }
    return true;
}

/* Of all records of the parent endpoint. */
static bool take_children(struct search *search, bool has_stale, bool has_old, struct error *err)
{
    const struct update_request *request = search->request;
    const struct children_order order = {
        .source = request->plan->source,
        .endpoint = request->target,
        .fetched_before_us = has_stale ? stale_before(request) : INT64_MIN,
        .current = has_old ? &search->current : NULL,
    };
    struct candidate_query query = { .reason = CANDIDATE_STALENESS,
                                     .source = request->plan->source,
                                     .endpoint = request->base,
                                     .checked_before_us = INSTANT_MAX,
                                     .limit = PAGE_IDS };
    struct candidate last;
    struct candidate_list list;

    if (has_old && !current_queries_find(&search->current, &search->page, request->source, err))
        return false;
    do {
        arena_reset(&search->page);
        if (!store_candidate_list(search->store, &search->page, &query, &list, err) ||
            !take_parents(search, &list, &order, err))
            return false;
        if (list.count > 0)
            last = (struct candidate){ .id = list.items[list.count - 1].id,
                                       .checked_us = list.items[list.count - 1].checked_us };
        query.after = &last;
    } while (list.count == PAGE_IDS && !search->is_over);
    return true;
}

/* ---- all of them ---- */

/* A trigger that names records gets only those; otherwise the source says which candidates count.
 */
static bool search_all(struct search *search, struct error *err)
{
    const struct update_request *request = search->request;
    const bool *wanted = request->spec->operation.candidates;
    const bool is_named = request->ids != NULL || request->stale_us > 0;
    const bool has_stale = request->stale_us > 0 || (!is_named && wanted[CANDIDATE_STALENESS] &&
                                                     request->spec->operation.stale_after_us > 0);
    const bool has_old = !is_named && wanted[CANDIDATE_EXPR_CHANGE];

    if (!see_live(search, err))
        return false;
    if (request->ids != NULL && !signal_ids(search, request->ids, err))
        return false;
    if ((request->ids != NULL || (!is_named && wanted[CANDIDATE_SIGNAL])) &&
        !take_signals(search, err))
        return false;
    if (is_of_children(request))
        return (request->ids != NULL || take_children(search, has_stale, has_old, err)) &&
               cut_batch(search, err);
    if (has_old && (!current_queries_find(&search->current, &search->page, request->source, err) ||
                    !take_old(search, err)))
        return false;
    if (has_stale && !take_stale(search, err))
        return false;
    return cut_batch(search, err);
}

bool update_candidates_cut(struct store *store, struct arena *arena,
                           const struct update_request *request, struct error *err)
{
    struct search *search = ARENA_NEW(arena, struct search);
    struct id_filter *seen = ARENA_NEW(arena, struct id_filter);
    struct id_batch *batch = ARENA_NEW(arena, struct id_batch);
    bool ok;

    if (search == NULL || seen == NULL || batch == NULL)
        return arena_error(arena, err);
    *search = (struct search){ .store = store, .request = request, .batch = batch, .seen = seen };
    arena_init(&search->page, PAGE_ARENA_MAX);
    id_batch_init(batch, store);
    ok = search_all(search, err);
    id_batch_release(batch);
    arena_release(&search->page);
    return ok;
}
