/* Delivers the newest events of keys again, exactly those that differ. */
#include "core/lane.h"
#include "engine/audit/audit_internal.h"
#include "engine/message/envelope.h"
#include "port/store_outbox.h"

#define KEY_BYTES_MAX ((size_t)256 << 20)

struct repair {
    const struct audit_request *request;
    const struct projector *projector;
    struct arena *result;
    struct arena arena; /* of one key */
};

/* The newest event; *found is false when it was removed. */
static bool find_event(struct repair *repair, const struct audit_state *state,
                       const struct sink_key *key, struct project_event *event, bool *found,
                       struct error *err)
{
    const struct outbox_query query = { .record_id = state->record_id,
                                        .after_version = state->wanted - 1,
                                        .limit = 1 };
    struct stored_event_list list;
    const struct outbox_event *stored;

    *found = false;
    if (!store_outbox_of(repair->request->store, &repair->arena, &query, &list, err))
        return false;
    if (list.count == 0 || list.items[0].event.version != state->wanted)
        return true;
    *found = true;
    stored = &list.items[0].event;
    *event = (struct project_event){ .aggregate_type = key->aggregate_type,
                                     .aggregate_id = key->aggregate_id,
                                     .event_id = stored->event_id,
                                     .event_type = stored->event_type,
                                     .version = stored->version,
                                     .occurred_us = stored->occurred_us };
    return envelope_make(&repair->arena, &list.items[0], &event->body, err);
}

/* Only the steps of one table: the others have what they should. */
static bool write_event(struct repair *repair, size_t table, const struct project_event *event,
                        struct error *err)
{
    struct sink_written written = { 0 };
    struct sink_batch batch;
    size_t failed;

    if (!project_batch(repair->projector, &repair->arena, event, 1, &batch, &failed, err))
        return false;
    for (size_t i = 0; i < batch.count; i++) {
        const struct sink_batch one = { &batch.steps[i], 1 };

        if (batch.steps[i].table == table &&
            !store_sink_write(repair->request->sink, &repair->arena, repair->request->tables, &one,
                              &written, err))
            return false;
    }
    return true;
}

/* In the transaction, with the lane held: nothing of the key changes meanwhile. */
static bool repair_held(struct repair *repair, struct audit_difference *difference,
                        struct error *err)
{
    const struct audit_request *request = repair->request;
    struct project_event event;
    struct audit_state state;
    enum audit_kind kind;
    bool found = true;

    if (!audit_look(request, &repair->arena, difference->table, &difference->key, &state, err))
        return false;
    if (!audit_is_wrong(request, difference->table, &state, &kind) || state.is_behind) {
        difference->is_repaired = true;
        return true;
    }
    if (state.wanted > 0 && !find_event(repair, &state, &difference->key, &event, &found, err))
        return false;
    difference->is_event_gone = !found;
    if (!found)
        return true;
    if ((kind == AUDIT_EXTRA || kind == AUDIT_REVIVED) &&
        !store_sink_forget(request->sink, request->tables, difference->table, &difference->key,
                           err))
        return false;
    difference->is_repaired = true;
    return state.wanted == 0 || write_event(repair, difference->table, &event, err);
}

static bool repair_one(struct repair *repair, struct audit_difference *difference,
                       struct error *err)
{
    struct store *sink = repair->request->sink;
    const int64_t lane = lane_of(difference->key.aggregate_type, difference->key.aggregate_id);

    arena_reset(&repair->arena);
    if (!store_begin(sink, err))
        return false;
    if ((repair->request->offsets != sink ||
         store_offset_hold(sink, &repair->request->key, lane, err)) &&
        repair_held(repair, difference, err) && store_commit(sink, err))
        return true;
    difference->is_repaired = false;
    store_rollback(sink);
    if (err->level != ERROR_DATA && err->level != ERROR_REQUEST)
        return error_wrap(err, "repair %.*s", STR_ARG(difference->key.aggregate_id));
    difference->refused = arena_copy(repair->result, str_of(err->text));
    return !repair->result->failed || arena_error(repair->result, err);
}

bool audit_repair(const struct audit_request *request, const struct projector *projector,
                  struct arena *arena, struct audit_difference_list *differences, struct error *err)
{
    struct repair repair = { .request = request, .projector = projector, .result = arena };
    bool ok = true;

    arena_init(&repair.arena, KEY_BYTES_MAX);
    for (size_t i = 0; i < differences->count && ok; i++)
        ok = repair_one(&repair, &differences->items[i], err);
    arena_release(&repair.arena);
    return ok;
}
