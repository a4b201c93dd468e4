/* A spec, what it was compiled into, and its tables. */
#include "engine/consume/projection.h"

#include "spec/projection.h"

enum { BYTES_MAX = 64 << 20, FIND_BYTES_MAX = 4 << 20 };

bool projection_open(struct projection *projection, struct str json, struct error *err)
{
    *projection = (struct projection){ 0 };
    arena_init(&projection->arena, BYTES_MAX);
    if (projection_load(&projection->arena, json, &projection->spec, err) &&
        project_compile(&projection->arena, &projection->spec, &projection->projector, err))
        return true;
    projection_close(projection);
    return false;
}

void projection_close(struct projection *projection)
{
    arena_release(&projection->arena);
    *projection = (struct projection){ 0 };
}

void projection_configure(const struct projection *projection, struct lanes_settings *settings)
{
    const struct projection_spec *spec = &projection->spec;

    settings->batch_max = spec->batch_events;
    settings->bytes_max = spec->batch_bytes;
    settings->attempts_max = spec->attempts_max;
    settings->retry = retry_default();
    settings->retry.delay_min_us = spec->retry_first_us;
    settings->retry.delay_max_us = spec->retry_max_us;
}

/* ---- its tables ---- */

static bool check_set_up(const struct projection *projection, struct store *sink, struct str hash,
                         struct error *err)
{
    struct sink_projection known = { 0 };
    struct arena arena;
    bool found, ok;

    arena_init(&arena, FIND_BYTES_MAX);
    ok = store_sink_find(sink, &arena, projection->spec.name, &known, &found, err);
    if (ok && (!found || !str_eq(known.hash, hash)))
        ok = error_set(err, ERROR_FATAL, "projection.tables",
                       "the tables of %.*s are not those of its spec: patra projection apply",
                       STR_ARG(projection->spec.name));
    arena_release(&arena);
    return ok;
}

bool projection_tables_open(struct projection_tables *tables, const struct projection *projection,
                            struct store *sink, struct str hash, struct error *err)
{
    *tables = (struct projection_tables){ .projection = projection, .sink = sink };
    return check_set_up(projection, sink, hash, err) &&
           store_sink_tables(sink, &projection->spec, SINK_LIVE, &tables->tables, err);
}

static bool takes(void *context, struct str aggregate_type, struct str event_type)
{
    const struct projection_tables *tables = context;
    const struct projection_spec *spec = &tables->projection->spec;

    for (size_t i = 0; i < spec->table_count; i++) {
        if (projection_source_of(&spec->tables[i], aggregate_type, event_type) != NULL)
            return true;
    }
    return false;
}

static bool make(void *context, struct arena *arena, const struct project_event *events,
                 size_t count, const void **made, size_t *failed, struct error *err)
{
    const struct projection_tables *tables = context;
    struct sink_batch *batch = ARENA_NEW(arena, struct sink_batch);

    if (batch == NULL)
        return arena_error(arena, err);
    *made = batch;
    return project_batch(tables->projection->projector, arena, events, count, batch, failed, err);
}

static bool write(void *context, struct arena *arena, const void *made, struct error *err)
{
    struct projection_tables *tables = context;

    return store_sink_write(tables->sink, arena, tables->tables, made, &tables->written, err);
}

struct consume_target projection_target(struct projection_tables *tables)
{
    return (struct consume_target){ tables, takes, make, write };
}
