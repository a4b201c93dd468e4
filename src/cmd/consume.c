/* patra consume: the consumers of projections by themselves, until they are stopped or nothing is
 * left. */
#include "cmd/consume.h"

#include <inttypes.h>

#include "cli/log_option.h"
#include "cli/session.h"
#include "cmd/consume_bus.h"
#include "port/store_stream.h"
#include "view/outbox.h"
#include "worker/projection_sink.h"
#include "worker/readers.h"
#include "worker/stop.h"
#include "worker/tracing.h"

#define LEASE_MIN_US (US_PER_SECOND / 10)
#define LEASE_MAX_US US_PER_HOUR

/* What a person would ask next. */
static bool print_hints(const struct invocation *invocation, struct session *session,
                        const char *only, const struct lanes_total *total, struct error *err)
{
    const char *space = only != NULL ? " " : "", *name = only != NULL ? only : "";
    struct stream_status stream;

    if (total->parked > 0)
        fprintf(invocation->talk, "patra outbox parked%s%s shows which keys wait, and why\n", space,
                name);
    if (total->dead > 0)
        fprintf(invocation->talk,
                "patra outbox dead %s shows which events were given up, and why\n",
                only != NULL ? only : "NAME");
    if (!store_stream_status(session->store, &session->arena, &stream, err))
        return false;
    if (stream.waiting > 0)
        fprintf(invocation->talk,
                "%" PRId64 " events are not published yet: patra publish --once, or patra serve, "
                "does that\n",
                stream.waiting);
    return true;
}

static bool drain(const struct invocation *invocation, struct session *session,
                  const struct readers_settings *settings, struct error *err)
{
    struct lanes_total total;
    const int64_t began_us = clock_monotonic_us(&session->clock);
    const bool ok = readers_drain(session, settings, &total, err);
    const int64_t took_us = clock_monotonic_us(&session->clock) - began_us;

    fprintf(invocation->out,
            "%" PRId64 " events applied (%" PRId64 "/s), %" PRId64 " keys parked, %" PRId64
            " dead letters\n",
            total.delivered,
            took_us > 0 ? (int64_t)((double)total.delivered * US_PER_SECOND / (double)took_us) : 0,
            total.parked, total.dead);
    return ok && print_hints(invocation, session, settings->only, &total, err);
}

static bool run(struct session *session, const struct readers_settings *settings, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct readers *readers;

    if (settings->only != NULL && !view_subscription_check(&reader, str_of(settings->only), err))
        return false;
    if (!readers_start(&readers, session, settings, err))
        return false;
    while (clock_sleep_us(&session->clock, US_PER_HOUR, settings->stop->fd))
        continue;
    readers_join(readers);
    return true;
}

static bool read_lease(const struct invocation *invocation, int64_t *lease_us, struct error *err)
{
    *lease_us = LANES_LEASE_US;
    if (!invocation_duration(invocation, "lease", lease_us, err))
        return false;
    return (*lease_us >= LEASE_MIN_US && *lease_us <= LEASE_MAX_US) ||
           command_misused(err, "--lease: '%s' is not between 100ms and 1h",
                           invocation_value(invocation, "lease"));
}

static bool consume(const struct invocation *invocation, struct session *session,
                    enum exit_code *code, struct error *err)
{
    struct projection_sink_parts parts = { .secrets = &session->secrets.source };
    struct readers_settings settings = { .kind = &PROJECTION_READERS, .context = &parts };
    struct tracing *tracing;
    struct stop stop;
    struct log log;
    bool ok;

    (void)code;
    if (invocation->operand_count > 0)
        settings.only = invocation->operands[0];
    if (!read_lease(invocation, &parts.lease_us, err) ||
        !log_option_read(&log, invocation, &session->clock, err) || !stop_open(&stop, err))
        return false;
    if (!tracing_start(&tracing, session, &log, NULL, err)) {
        stop_close(&stop);
        return false;
    }
    stop_watch_store(&stop, session->store, &log);
    settings.log = &log;
    settings.tracer = tracing_tracer(tracing);
    settings.stop = &stop;
    ok = invocation_flag(invocation, "once") ? drain(invocation, session, &settings, err)
                                             : run(session, &settings, err);
    tracing_join(tracing);
    stop_close(&stop);
    return ok;
}

static enum exit_code cmd_consume(const struct invocation *invocation)
{
    const int given = (invocation_value(invocation, "projection") != NULL) +
                      (invocation_value(invocation, "bus") != NULL) +
                      (invocation_value(invocation, "sink") != NULL);
    struct error err;

    if (given == 0)
        return session_run(invocation, consume);
    if (given == 3 && invocation->operand_count == 0)
        return consume_bus(invocation);
    (void)command_misused(&err, "--projection, --bus and --sink go together, without a NAME");
    return command_failed(invocation, &err);
}

const struct command COMMAND_CONSUME = {
    .name = "consume",
    .summary = "apply events to the tables of projections",
    .operands = "[NAME]",
    .operands_max = 1,
    .description =
        "Reads the stream and applies its events to the tables of projection NAME, or of every\n"
        "active projection (patra projection apply). Rows and positions are one transaction, so\n"
        "each event takes effect once, whatever dies and whenever. Any number of processes share\n"
        "the lanes of a projection. Runs until it is stopped, or with --once until nothing is\n"
        "left. Events must have been published (patra publish, patra serve).\n"
        "With --projection, --bus and --sink it needs no store: it reads the messages that patra\n"
        "relays to a bus, makes the tables of the file in the database SINK, and applies each\n"
        "event once, however often the bus delivers it.",
    .options = { { "once", NULL,
                   "End when nothing is left; exit code 3 if another one is at work." },
                 { "lease", "DURATION",
                   "Let another consumer take over after this long without a sign, 100ms to 1h "
                   "(15s)." },
                 { "projection", "FILE", "Without a store: a projection file." },
                 { "bus", "FILE", "... the bus file that says where its messages are" },
                 { "sink", "DSN",
                   "... where its tables are: a SQLite file, postgresql://..., env:NAME, "
                   "file:PATH" },
                 LOG_OPTIONS,
                 SESSION_OPTION },
    .run = cmd_consume,
};
