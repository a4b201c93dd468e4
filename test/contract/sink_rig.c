/* A projection on a new database. */
#include "sink_rig.h"

#include "sql.h"

static void read_file(struct sink_rig *rig, const char *file)
{
    struct fault_list faults;
    struct buf out;

    fault_list_init(&faults, &rig->arena);
    if (!projection_read(&rig->arena, arena_copy(&rig->arena, str_of(file)), &faults, &rig->spec)) {
        buf_init(&out, &rig->arena, 1 << 16);
        for (size_t i = 0; i < faults.count; i++)
            fault_print(&faults.items[i], STR("file"), &out);
        test_fail(__FILE__, __LINE__, "%.*s", STR_ARG(buf_str(&out)));
        test_abort();
    }
    REQUIRE_OK(projection_compile(&rig->arena, &rig->spec, &rig->text, &rig->err), rig->err);
    REQUIRE_OK(projection_load(&rig->arena, rig->text.json, &rig->spec, &rig->err), rig->err);
    REQUIRE_OK(project_compile(&rig->arena, &rig->spec, &rig->projector, &rig->err), rig->err);
}

void sink_rig_side(struct sink_rig *rig, enum sink_side side)
{
    store_close(rig->sink);
    rig->sink = contract_open(rig->dsn);
    REQUIRE_OK(store_sink_tables(rig->sink, &rig->spec, side, &rig->tables, &rig->err), rig->err);
}

bool sink_rig_apply(struct sink_rig *rig, const char *file)
{
    read_file(rig, file);
    const struct sink_set_up set_up = { &rig->spec, rig->text.json, str_of(rig->text.hash),
                                        STR("test"), NOW_US };

    if (!store_sink_set_up(rig->sink, &rig->arena, &set_up, &rig->plan, &rig->err))
        return false;
    sink_rig_side(rig, SINK_LIVE);
    return true;
}

void sink_rig_begin(struct sink_rig *rig, const char *file)
{
    *rig = (struct sink_rig){ .dsn = contract_migrated(contract_new_database()) };
    arena_init(&rig->arena, 256 << 20);
    arena_init(&rig->batch, 256 << 20);
    rig->sink = contract_open(rig->dsn);
    REQUIRE_OK(sink_rig_apply(rig, file), rig->err);
}

void sink_rig_end(struct sink_rig *rig)
{
    store_close(rig->sink);
    arena_release(&rig->batch);
    arena_release(&rig->arena);
    contract_end();
}

bool sink_rig_deliver(struct sink_rig *rig, const struct project_event *events, size_t count)
{
    struct sink_batch batch;
    size_t failed;

    arena_reset(&rig->batch);
    rig->written = (struct sink_written){ 0 };
    if (!project_batch(rig->projector, &rig->batch, events, count, &batch, &failed, &rig->err))
        return false;
    REQUIRE_OK(store_begin(rig->sink, &rig->err), rig->err);
    if (store_sink_write(rig->sink, &rig->batch, rig->tables, &batch, &rig->written, &rig->err) &&
        store_commit(rig->sink, &rig->err))
        return true;
    store_rollback(rig->sink);
    return false;
}

bool sink_rig_event(struct sink_rig *rig, const char *id, const char *type, int64_t version,
                    const char *body)
{
    const struct project_event event = { .aggregate_type = STR("thing"),
                                         .aggregate_id = str_of(id),
                                         .event_id = STR("019b0000-0000-7000-8000-000000000001"),
                                         .event_type = str_of(type),
                                         .version = version,
                                         .occurred_us = NOW_US,
                                         .body = str_of(body) };

    return sink_rig_deliver(rig, &event, 1);
}

struct str sink_rig_rows(struct sink_rig *rig, const char *sql)
{
    return sql_rows(&rig->batch, rig->dsn, sql);
}
