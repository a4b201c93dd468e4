/* patra publish: the publisher by itself, until it is stopped or nothing is left. */
#include "cmd/publish.h"

#include <inttypes.h>
#include <string.h>

#include "adapter/system/system.h"
#include "cli/log_option.h"
#include "cli/session.h"
#include "cli/who.h"
#include "engine/publish/publisher.h"
#include "worker/importing.h"
#include "worker/notifying.h"
#include "worker/relay_bus.h"
#include "worker/stop.h"
#include "worker/tracing.h"

#define LEASE_MIN_US (US_PER_SECOND / 10)
#define LEASE_MAX_US US_PER_HOUR

static bool read_lease(const struct invocation *invocation, int64_t *lease_us, struct error *err)
{
    *lease_us = SEQUENCER_LEASE_US;
    if (!invocation_duration(invocation, "lease", lease_us, err))
        return false;
    return (*lease_us >= LEASE_MIN_US && *lease_us <= LEASE_MAX_US) ||
           command_misused(err, "--lease: '%s' is not between 100ms and 1h",
                           invocation_value(invocation, "lease"));
}

bool publish_keep(const struct invocation *invocation, int64_t *keep_us, struct error *err)
{
    const char *given = invocation_value(invocation, "keep");

    *keep_us = RETENTION_KEEP_US;
    if (given != NULL && strcmp(given, "forever") == 0) {
        *keep_us = 0;
        return true;
    }
    if (!invocation_duration(invocation, "keep", keep_us, err))
        return false;
    return *keep_us >= RETENTION_KEEP_MIN_US ||
           command_misused(err, "--keep: '%s' is less than 1m", given);
}

struct publish {
    struct publisher_parts parts;
    struct publisher_settings settings;
    struct relay_bus_parts bus;
    struct readers_settings relays;
};

/* Imports, the sequencer and the relays, each until nothing is left. What an import fails for does
 * not keep the others from their work. */
static bool drain(const struct invocation *invocation, struct session *session,
                  struct publish *publish, struct error *err)
{
    int64_t appended = 0;
    struct lanes_total total = { 0 };
    struct error failure;
    int64_t imported;
    bool is_imported, ok;

    is_imported =
        importing_drain(session, publish->relays.log, publish->relays.stop, &imported, &failure);
    if (!publisher_run(&publish->parts, &publish->settings, &appended, err))
        return false;
    fprintf(invocation->out, "%" PRId64 " events published\n", appended);
    ok = readers_drain(session, &publish->relays, &total, err);
    if (total.delivered > 0 || total.parked > 0)
        fprintf(invocation->out, "%" PRId64 " messages handed on, %" PRId64 " keys parked\n",
                total.delivered, total.parked);
    if (ok && !is_imported)
        *err = failure;
    return ok && is_imported;
}

static bool run(const struct invocation *invocation, struct session *session,
                struct publish *publish, struct error *err)
{
    struct importing *importing = NULL;
    struct readers *relays = NULL;
    int64_t appended = 0;
    bool ok;

    ok = importing_start(&importing, session, publish->relays.log, publish->relays.stop, err) &&
         readers_start(&relays, session, &publish->relays, err) &&
         publisher_run(&publish->parts, &publish->settings, &appended, err);
    stop_request(publish->relays.stop);
    readers_join(relays);
    importing_join(importing);
    if (ok)
        fprintf(invocation->out, "%" PRId64 " events published\n", appended);
    return ok;
}

static bool publish(const struct invocation *invocation, struct session *session,
                    enum exit_code *code, struct error *err)
{
    struct random_source random = system_random();
    const bool once = invocation_flag(invocation, "once");
    struct publish publish = {
        .settings = { .is_draining = once },
        .parts = { .store = session->store, .clock = &session->clock, .random = &random },
        .bus = { &session->secrets.source, &session->clock },
        .relays = { .kind = &RELAY_READERS, .only = invocation_value(invocation, "only") }
    };
    char owner[WHO_PROCESS_MAX];
    struct notifying *notifying = NULL;
    struct tracing *tracing;
    struct stop stop;
    struct log log;
    bool ok;

    (void)code;
    if (!read_lease(invocation, &publish.settings.sequencer.lease_us, err) ||
        !publish_keep(invocation, &publish.settings.keep_us, err) ||
        !log_option_read(&log, invocation, &session->clock, err) || !stop_open(&stop, err))
        return false;
    if (!tracing_start(&tracing, session, &log, NULL, err)) {
        stop_close(&stop);
        return false;
    }
    stop_watch_store(&stop, session->store, &log);
    who_process(owner, random_source_u64(&random), "publisher");
    publish.settings.sequencer.owner = str_of(owner);
    publish.parts.log = publish.relays.log = &log;
    publish.parts.wake = session->wake;
    publish.parts.wake_fd = stop.fd;
    publish.relays.stop = &stop;
    publish.relays.tracer = tracing_tracer(tracing);
    publish.relays.context = &publish.bus;
    ok = notifying_start(&notifying, session, &stop, err) &&
         (once ? drain(invocation, session, &publish, err)
               : run(invocation, session, &publish, err));
    stop_request(&stop);
    notifying_join(notifying);
    tracing_join(tracing);
    stop_close(&stop);
    return ok;
}

static enum exit_code cmd_publish(const struct invocation *invocation)
{
    return session_run(invocation, publish);
}

const struct command COMMAND_PUBLISH = {
    .name = "publish",
    .summary = "bring events into the stream and hand them on",
    .operands_max = 0,
    .description =
        "Takes committed events out of the outbox and appends them to the stream: per lane\n"
        "numbered without gaps, each once, the events of a record in the order of its versions.\n"
        "One publisher of a store is at work at a time; others wait and take over when it ends\n"
        "or dies. Hands the stream on to the bus of each active relay (patra bus apply); any\n"
        "number of processes share that. Imports foreign outboxes (patra outbox import). Runs\n"
        "until it is stopped, or with --once until nothing is left. While it runs it removes\n"
        "events that every subscription has read and that are older than --keep.",
    .options = { { "once", NULL,
                   "End when nothing is left; exit code 3 if another one is at work." },
                 { "only", "NAME", "Hand on to this bus only." },
                 { "lease", "DURATION",
                   "Let another publisher take over after this long without a sign, 100ms to 1h "
                   "(5s)." },
                 PUBLISH_KEEP_OPTION,
                 LOG_OPTIONS,
                 SESSION_OPTION },
    .run = cmd_publish,
};
