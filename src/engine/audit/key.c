/* One key, as it is now: its record, its newest event, and what the table has. */
#include "engine/audit/audit_internal.h"
#include "port/store_record.h"
#include "port/store_trace.h"

bool audit_has_filter(const struct projection_table *table)
{
    for (size_t i = 0; i < table->source_count; i++) {
        if (table->sources[i].where.len > 0)
            return true;
    }
    return false;
}

/* "crossref/works" is the type of the records of an endpoint. */
static bool record_key_of(const struct sink_key *key, struct record_key *record)
{
    struct str rest = key->aggregate_type;

    record->source = str_cut(&rest, '/');
    record->endpoint = rest;
    record->provider_id = key->aggregate_id;
    return record->endpoint.len > 0;
}

/* Its event is not in the stream, not consumed, or waits. */
static bool find_behind(const struct audit_request *request, struct arena *arena,
                        const struct sink_key *key, struct audit_state *state, struct error *err)
{
    const struct trace_key parked_key = { request->key, key->aggregate_type, key->aggregate_id };
    struct trace_event_list events;
    struct trace_parked parked;
    int64_t pos;

    if (!store_trace_events(request->store, arena, state->record_id, 1, &events, err) ||
        !store_trace_parked(request->offsets, arena, &parked_key, &parked, &state->is_behind, err))
        return false;
    if (events.count == 0 || state->is_behind)
        return true;
    if (!store_trace_offset(request->offsets, &request->key, events.items[0].event.lane, &pos, err))
        return false;
    state->is_behind = events.items[0].pos == 0 || pos < events.items[0].pos;
    return true;
}

bool audit_look(const struct audit_request *request, struct arena *arena, size_t table,
                const struct sink_key *key, struct audit_state *state, struct error *err)
{
    struct stored_record record = { 0 };
    struct record_key record_key;
    struct sink_seen seen;
    bool found = false;

    *state = (struct audit_state){ 0 };
    if (record_key_of(key, &record_key) &&
        !store_record_get(request->store, arena, &record_key, &record, &found, err))
        return false;
    if (found) {
        state->record_id = record.id;
        state->wanted = record.version;
        state->is_deleted = record.is_deleted;
        if (!find_behind(request, arena, key, state, err))
            return false;
    }
    /* Last: what was applied meanwhile is there. */
    if (!store_sink_row(request->sink, request->tables, table, key, &seen, &found, err))
        return false;
    state->found = found ? seen.version : 0;
    state->is_gone = found && seen.is_gone;
    return true;
}

bool audit_is_wrong(const struct audit_request *request, size_t table,
                    const struct audit_state *state, enum audit_kind *kind)
{
    if (state->found == 0) {
        *kind = AUDIT_MISSING;
        return state->wanted > 0 && request->spec->start != PROJECTION_LATEST;
    }
    if (state->found < state->wanted) {
        *kind = AUDIT_STALE;
        return true;
    }
    if (state->found == state->wanted && state->is_gone == state->is_deleted)
        return false;
    if (state->found == state->wanted && state->is_deleted) {
        *kind = AUDIT_REVIVED;
        return true;
    }
    *kind = AUDIT_EXTRA;
    return state->found > state->wanted || !audit_has_filter(&request->spec->tables[table]);
}
