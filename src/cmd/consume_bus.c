/* From a bus into the tables of a projection file. */
#include "cmd/consume_bus.h"

#include <inttypes.h>

#include "adapter/bus_open.h"
#include "adapter/sink_open.h"
#include "adapter/system/system.h"
#include "cli/fault_output.h"
#include "cli/file.h"
#include "cli/log_option.h"
#include "cli/who.h"
#include "cmd/bus/bus.h"
#include "engine/consume/bus_consumer.h"
#include "engine/consume/bus_reset.h"
#include "engine/consume/projection.h"
#include "port/bus_parts.h"
#include "port/store_sink.h"
#include "port/store_subscription.h"
#include "spec/projection.h"
#include "worker/relay_bus.h"
#include "worker/stop.h"

enum { BYTES_MAX = 64 << 20 };

#define POLL_US US_PER_SECOND

struct work {
    const struct invocation *invocation;
    struct arena arena;
    struct clock clock;
    struct random_source random;
    struct system_secrets secrets;
    struct bus_spec bus_spec;
    struct wire_settings wire;
    struct bus *bus;
    struct projection projection;
    struct projection_text text;
    struct store *sink;
    struct projection_tables tables;
};

/* ---- the files ---- */

/* False in *clean: the faults were printed. */
static bool read_projection(struct work *w, const char *path, bool *clean, struct error *err)
{
    struct projection_spec spec;
    struct fault_list faults;
    struct str file;

    if (!file_read(&w->arena, path, (size_t)PROJECTION_FILE_BYTES_MAX + 1, &file, err))
        return false;
    fault_list_init(&faults, &w->arena);
    *clean = projection_read(&w->arena, file, &faults, &spec);
    if (faults.failed)
        return arena_error(&w->arena, err);
    fault_list_sort(&faults);
    if (!fault_output(w->invocation->talk, &faults, path, false, err))
        return false;
    return !*clean || (projection_compile(&w->arena, &spec, &w->text, err) &&
                       projection_open(&w->projection, w->text.json, err));
}

static bool open_bus(struct work *w, struct error *err)
{
    const struct bus_parts parts = { .spec = &w->bus_spec,
                                     .secrets = &w->secrets.source,
                                     .clock = &w->clock };

    if (!relay_bus_wire(&w->bus_spec, &w->wire, err) || !bus_open(&parts, &w->bus, err))
        return false;
    return (w->bus->capabilities & BUS_READ) != 0 ||
           error_set(err, ERROR_REQUEST, "bus.read", "%.*s cannot be read from",
                     STR_ARG(w->bus_spec.name));
}

/* ---- the tables ---- */

static bool set_up(struct work *w, struct error *err)
{
    const char *sink = invocation_value(w->invocation, "sink");
    const int64_t now_us = clock_now_us(&w->clock);
    const struct sink_set_up request = { .spec = &w->projection.spec,
                                         .json = w->text.json,
                                         .hash = str_of(w->text.hash),
                                         .applied_by = who_am_i(&w->arena),
                                         .now_us = now_us };
    struct sink_plan plan;

    if (!sink_open(NULL, str_of(sink), &w->secrets.source, now_us, &w->sink, err))
        return false;
    if (!store_sink_set_up(w->sink, &w->arena, &request, &plan, err)) {
        for (size_t i = 0; i < plan.count; i++) {
            if (plan.items[i].kind == SINK_STEP_REFUSED)
                fprintf(w->invocation->talk, "%.*s: %.*s\n", STR_ARG(plan.items[i].table),
                        STR_ARG(plan.items[i].text));
        }
        return false;
    }
    return projection_tables_open(&w->tables, &w->projection, w->sink, str_of(w->text.hash), err);
}

/* ---- from start to end ---- */

static void print_total(const struct work *w, const struct bus_consumer_total *total,
                        int64_t took_us)
{
    fprintf(w->invocation->out,
            "%" PRId64 " events applied (%" PRId64 "/s), %" PRId64 " repeated, %" PRId64
            " dead letters\n",
            total->applied,
            took_us > 0 ? (int64_t)((double)total->applied * US_PER_SECOND / (double)took_us) : 0,
            total->repeated, total->dead);
}

static bool consume(struct work *w, struct log *log, struct stop *stop, struct error *err)
{
    const struct projection_spec *spec = &w->projection.spec;
    const int64_t began_us = clock_monotonic_us(&w->clock);
    const bool once = invocation_flag(w->invocation, "once");
    char owner[WHO_PROCESS_MAX];
    const struct bus_consumer_parts parts = { .sink = w->sink,
                                              .bus = w->bus,
                                              .clock = &w->clock,
                                              .random = &w->random,
                                              .log = log,
                                              .wake_fd = stop->fd,
                                              .target = projection_target(&w->tables) };
    struct bus_consumer_settings settings = { .key = { SUBSCRIPTION_GROUP, spec->name },
                                              .wire = w->wire,
                                              .messages_max = w->bus_spec.read.messages,
                                              .bytes_max = w->bus_spec.read.bytes,
                                              .attempts_max = spec->attempts_max,
                                              .poll_us = POLL_US,
                                              .is_draining = once };
    struct bus_consumer_total total;
    bool ok;

    who_process(owner, random_source_u64(&w->random), "consumer");
    settings.owner = str_of(owner);
    settings.offsets = bus_offset_name(&w->arena, w->bus_spec.name, spec->name);
    if (w->arena.failed)
        return arena_error(&w->arena, err);
    ok = bus_consumer_run(&parts, &settings, &total, err);
    print_total(w, &total, clock_monotonic_us(&w->clock) - began_us);
    return ok || error_wrap(err, "consume %.*s from bus %.*s", STR_ARG(spec->name),
                            STR_ARG(w->bus_spec.name));
}

static bool run(struct work *w, struct error *err)
{
    struct stop stop;
    struct log log;
    bool ok;

    if (!log_option_read(&log, w->invocation, &w->clock, err) || !stop_open(&stop, err))
        return false;
    ok = open_bus(w, err) && set_up(w, err) && consume(w, &log, &stop, err);
    bus_close(w->bus);
    store_close(w->sink);
    stop_close(&stop);
    return ok;
}

static bool read_files(struct work *w, bool *clean, struct error *err)
{
    const struct invocation *invocation = w->invocation;
    bool bus_clean = false, projection_clean = false;

    *clean = false;
    if (!bus_file_read(invocation, &w->arena, invocation_value(invocation, "bus"), &w->bus_spec,
                       &bus_clean, err) ||
        !read_projection(w, invocation_value(invocation, "projection"), &projection_clean, err))
        return false;
    *clean = bus_clean && projection_clean;
    return true;
}

enum exit_code consume_bus(const struct invocation *invocation)
{
    struct work w = { .invocation = invocation,
                      .clock = system_clock(),
                      .random = system_random() };
    enum exit_code code = EXIT_DONE;
    struct error err;
    bool clean;

    system_secrets_init(&w.secrets, NULL);
    arena_init(&w.arena, BYTES_MAX);
    if (!read_files(&w, &clean, &err))
        code = command_failed(invocation, &err);
    else if (!clean)
        code = EXIT_FOUND;
    else if (!run(&w, &err))
        code = command_failed(invocation, &err);
    projection_close(&w.projection);
    arena_release(&w.arena);
    return code;
}
