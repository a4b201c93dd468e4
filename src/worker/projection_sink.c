/* A consumer with a session on the database of its projection. */
#include "worker/projection_sink.h"

#include "adapter/sink_open.h"
#include "engine/consume/consumer.h"
#include "engine/consume/projection.h"

static bool open_sink(struct secret_source *secrets, struct store *store, struct str database,
                      int64_t now_us, struct store **sink, struct error *err)
{
    *sink = store;
    return str_eq(database, PROJECTION_OWN_DATABASE) ||
           sink_open(store, database, secrets, now_us, sink, err);
}

static bool consume(const struct projection_sink_parts *own, const struct reading *reader,
                    const struct projection *projection, struct store *sink,
                    struct lanes_total *total, struct error *err)
{
    struct projection_tables tables;
    struct consumer_parts parts = { .sink = sink,
                                    .stream = reader->store,
                                    .clock = reader->clock,
                                    .random = reader->random,
                                    .log = reader->log,
                                    .watch = reader->watch,
                                    .wake = reader->wake,
                                    .wake_fd = reader->wake_fd };
    struct consumer_run run = { .lanes = { .subscription = reader->subscription,
                                           .owner = reader->owner,
                                           .lease_us = own->lease_us },
                                .is_draining = reader->is_draining };

    if (!projection_tables_open(&tables, projection, sink, reader->subscription->spec_hash, err))
        return false;
    parts.target = projection_target(&tables);
    projection_configure(projection, &run.lanes);
    return consumer_run(&parts, &run, total, err);
}

static bool run_projection(void *context, const struct reading *reader, struct lanes_total *total,
                           struct error *err)
{
    const struct projection_sink_parts *parts = context;
    struct projection projection;
    struct store *sink;
    bool ok;

    if (!projection_open(&projection, reader->subscription->spec, err))
        return false;
    ok = open_sink(parts->secrets, reader->store, projection.spec.database,
                   clock_now_us(reader->clock), &sink, err) &&
         consume(parts, reader, &projection, sink, total, err);
    if (sink != reader->store)
        store_close(sink);
    projection_close(&projection);
    return ok || error_wrap(err, "project %.*s", STR_ARG(reader->subscription->name));
}

const struct reader_kind PROJECTION_READERS = { SUBSCRIPTION_PROJECTION, "consumer", "projection",
                                                run_projection };
