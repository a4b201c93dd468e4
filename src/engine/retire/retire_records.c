/* Deletes the records of a source, each with its event. */
#include "core/limits.h"
#include "engine/event/record_event.h"
#include "engine/retire/retire.h"
#include "port/store_child.h"

enum { RECORDS_PER_PAGE = 200, TRIES_MAX = 10 };

struct retiring {
    struct store *store;
    const struct retire_records *request;
    struct str endpoint;
    struct uuid_state event_ids;
    struct arena page; /* reset for each page */
};

static bool make_change(struct retiring *r, const struct record_context *context, struct str id,
                        const struct record_state *state, struct record_change *change,
                        struct error *err)
{
    const struct record_event_cause cause = { .is_later = true };
    const struct record_event_ids ids = { .arena = &r->page,
                                          .random = r->request->random,
                                          .state = &r->event_ids,
                                          .now_us = context->now_us };
    const struct str aggregate = record_event_aggregate(&r->page, context);

    if (aggregate.data == NULL)
        return arena_error(&r->page, err);
    /* Without a date: a source that is applied again may bring it back, whatever its date is. */
    change->record = (struct record_write){ .id = state->id,
                                            .version = state->version + 1,
                                            .provider_id = id,
                                            .is_deleted = true,
                                            .was_deleted = state->is_deleted,
                                            .observed_us = context->now_us,
                                            .provider_version = STR(""),
                                            .content_hash = STR(""),
                                            .payload = STR(""),
                                            .fields = STR("{}") };
    change->event.event_type = STR("RecordDeleted");
    return record_event_gone(change, context, &cause, &r->page, err) &&
           record_event_name(change, &ids, aggregate, err);
}

/* *written is false when another process changed one of them: nothing was done. */
static bool write(struct retiring *r, const struct record_context *context,
                  const struct record_change *changes, size_t count, bool *written,
                  struct error *err)
{
    if (!store_begin(r->store, err))
        return false;
    if (!store_record_write(r->store, context, changes, count, written, err))
        goto rollback;
    if (*written)
        return store_commit(r->store, err);
    store_rollback(r->store);
    return true;
rollback:
    store_rollback(r->store);
    return false;
}

/* What is deleted is not a candidate any more, so the first page is always the next one. */
static bool delete_page(struct retiring *r, int64_t *deleted, bool *is_last, struct error *err)
{
    const struct candidate_query query = { .reason = CANDIDATE_STALENESS,
                                           .source = r->request->source->registry.code,
                                           .endpoint = r->endpoint,
                                           .checked_before_us = INSTANT_MAX,
                                           .limit = RECORDS_PER_PAGE };
    const struct record_context context = { .source = r->request->source->registry.code,
                                            .endpoint = r->endpoint,
                                            .expr_hash = STR(""),
                                            .observed_us = r->request->now_us,
                                            .now_us = r->request->now_us };
    struct record_state states[RECORDS_PER_PAGE];
    struct record_change changes[RECORDS_PER_PAGE] = { 0 };
    struct str ids[RECORDS_PER_PAGE];
    struct candidate_list list;
    bool written = true;

    arena_reset(&r->page);
    if (!store_candidate_list(r->store, &r->page, &query, &list, err))
        return false;
    *is_last = list.count == 0;
    for (size_t i = 0; i < list.count; i++)
        ids[i] = list.items[i].provider_id;
    if (*is_last || !store_record_check(r->store, &r->page, &context,
                                        (struct record_ids){ ids, list.count }, states, err))
        return *is_last;
    for (size_t i = 0; i < list.count; i++) {
        if (!make_change(r, &context, ids[i], &states[i], &changes[i], err))
            return false;
    }
    if (!write(r, &context, changes, list.count, &written, err))
        return false;
    *deleted += written ? (int64_t)list.count : 0;
    return true;
}

static bool delete_all(struct retiring *r, int64_t *deleted, struct error *err)
{
    bool is_last = false;
    int idle = 0;

    while (!is_last) {
        const int64_t before = *deleted;

        if (!delete_page(r, deleted, &is_last, err))
            return false;
        idle = *deleted > before ? 0 : idle + 1;
        if (!is_last && idle == TRIES_MAX)
            return error_set(err, ERROR_TRANSIENT, "record.busy",
                             "other processes change the records of %.*s/%.*s meanwhile",
                             STR_ARG(r->request->source->registry.code), STR_ARG(r->endpoint));
    }
    return true;
}

bool retire_records(struct store *store, const struct retire_records *request, int64_t *deleted,
                    struct error *err)
{
    struct retiring r = { .store = store, .request = request };
    const struct registry_row *endpoint = NULL;
    bool ok = true;

    *deleted = 0;
    arena_init(&r.page, PAGE_BYTES_MAX);
    while (ok && (endpoint = source_next_endpoint(request->source, endpoint)) != NULL) {
        r.endpoint = endpoint->endpoint;
        ok = delete_all(&r, deleted, err) &&
             store_child_forget(store, request->source->registry.code, r.endpoint, err);
    }
    arena_release(&r.page);
    return ok ||
           error_wrap(err, "delete the records of %.*s", STR_ARG(request->source->registry.code));
}
