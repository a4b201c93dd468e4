/* patra publish: the publisher by itself, until it is stopped or nothing is left. */
#include "cmd/publish.h"

#include <inttypes.h>

#include "adapter/system/system.h"
#include "cli/log_option.h"
#include "cli/session.h"
#include "cli/who.h"
#include "engine/publish/publisher.h"
#include "worker/stop.h"

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

static bool publish(const struct invocation *invocation, struct session *session,
                    enum exit_code *code, struct error *err)
{
    struct random_source random = system_random();
    struct publisher_settings settings = { .is_draining = invocation_flag(invocation, "once") };
    struct publisher_parts parts = { .store = session->store,
                                     .clock = &session->clock,
                                     .random = &random };
    char owner[WHO_PROCESS_MAX];
    int64_t appended = 0;
    struct stop stop;
    struct log log;
    bool ok;

    (void)code;
    if (!read_lease(invocation, &settings.sequencer.lease_us, err) ||
        !log_option_read(&log, invocation, &session->clock, err) || !stop_open(&stop, err))
        return false;
    who_process(owner, random_source_u64(&random), "publisher");
    settings.sequencer.owner = str_of(owner);
    parts.log = &log;
    parts.wake_fd = stop.fd;
    ok = publisher_run(&parts, &settings, &appended, err);
    stop_close(&stop);
    if (ok)
        fprintf(invocation->out, "%" PRId64 " events published\n", appended);
    return ok;
}

static enum exit_code cmd_publish(const struct invocation *invocation)
{
    return session_run(invocation, publish);
}

const struct command COMMAND_PUBLISH = {
    .name = "publish",
    .summary = "give events their place in the stream",
    .operands_max = 0,
    .description =
        "Takes committed events out of the outbox and appends them to the stream: per lane\n"
        "numbered without gaps, each once, the events of a record in the order of its versions.\n"
        "One publisher of a store is at work at a time; others wait and take over when it ends\n"
        "or dies. Runs until it is stopped, or with --once until nothing is left.",
    .options = { { "once", NULL,
                   "End when nothing is left; exit code 3 if another one is at work." },
                 { "lease", "DURATION",
                   "Let another publisher take over after this long without a sign, 100ms to 1h "
                   "(5s)." },
                 LOG_OPTIONS,
                 SESSION_OPTION },
    .run = cmd_publish,
};
