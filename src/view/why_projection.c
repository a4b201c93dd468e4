/* What the tables of a projection have of a record. */
#include "base/list.h"
#include "engine/rebuild/state.h"
#include "view/why_internal.h"

bool why_projection_open(const struct view_reader *reader, struct view_sinks *sinks,
                         const struct projection_spec *spec, struct why_delivery *delivery,
                         struct store **sink, struct error *err)
{
    struct error reason = { 0 };

    *sink = NULL;
    if (str_eq(spec->database, PROJECTION_OWN_DATABASE))
        return store_another(reader->store, sink, err);
    if (sinks == NULL) {
        delivery->unreachable = spec->database;
        return true;
    }
    if (sinks->open(sinks, spec, sink, &reason))
        return true;
    delivery->unreachable = arena_copy(reader->arena, str_of(reason.text));
    return !reader->arena->failed || arena_error(reader->arena, err);
}

/* Whether the table is to have the events of the record at all. */
static bool is_taken(const struct projection_table *table, const struct view_why *why)
{
    const struct trace_event *event = why_newest_event(why);

    if (event != NULL)
        return projection_source_of(table, why->aggregate_type, event->event.event_type) != NULL;
    for (size_t i = 0; i < table->source_count; i++) {
        if (projection_source_has(&table->sources[i], why->aggregate_type))
            return true;
    }
    return false;
}

static enum why_row_state state_of(const struct view_why *why, const struct sink_seen *seen,
                                   bool found)
{
    if (!found)
        return WHY_ROW_ABSENT;
    if (seen->version < why->record.version)
        return WHY_ROW_OLDER;
    if (why->record.is_deleted)
        return seen->is_gone ? WHY_ROW_CURRENT : WHY_ROW_REVIVED;
    return seen->is_gone ? WHY_ROW_LEFT_OUT : WHY_ROW_CURRENT;
}

/* A rebuild that has not ended: it runs, or was stopped. */
static bool read_rebuild(const struct view_reader *reader, struct store *sink,
                         const struct projection_spec *spec, struct why_delivery *delivery,
                         struct error *err)
{
    struct sink_projection projection;
    struct rebuild_state state;
    bool found;

    if (!store_sink_find(sink, reader->arena, spec->name, &projection, &found, err))
        return false;
    delivery->is_rebuilding =
        found && rebuild_state_read(reader->arena, projection.rebuild, &state) && !state.is_swapped;
    delivery->rebuilt_us = delivery->is_rebuilding ? state.at_us : 0;
    return true;
}

bool why_projection_rows(const struct view_reader *reader, const struct view_why *why,
                         struct store *sink, const struct projection_spec *spec,
                         struct why_delivery *delivery, struct error *err)
{
    const struct sink_key key = { why->aggregate_type, why->key.provider_id };
    const struct sink_tables *tables;

    if (!read_rebuild(reader, sink, spec, delivery, err))
        return false;
    if (!store_sink_tables(sink, spec, SINK_LIVE, &tables, err))
        return false;
    for (size_t i = 0; i < spec->table_count; i++) {
        struct why_row *row = LIST_ADD(reader->arena, &delivery->rows);
        struct sink_seen seen = { 0 };
        bool found;

        if (row == NULL)
            return arena_error(reader->arena, err);
        row->table = spec->tables[i].name;
        row->state = WHY_ROW_NOT_TAKEN;
        if (!is_taken(&spec->tables[i], why))
            continue;
        if (!store_sink_row(sink, tables, i, &key, &seen, &found, err))
            return error_wrap(err, "table %.*s", STR_ARG(row->table));
        row->version = found ? seen.version : 0;
        row->state = state_of(why, &seen, found);
    }
    return true;
}
