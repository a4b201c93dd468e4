/* patra alive: the health check of a service. */
#include "cmd/alive.h"

#include "adapter/system/system.h"
#include "base/duration.h"
#include "base/instant.h"
#include "base/text.h"
#include "worker/alive.h"

#define WITHIN_US US_PER_MINUTE

enum { ARENA_BYTES_MAX = 64 << 10 };

/* The clock may have been set back meanwhile; the next time that is written mends it. */
static bool is_within(int64_t at_us, int64_t now_us, int64_t within_us)
{
    return at_us <= now_us ? now_us - at_us <= within_us : at_us - now_us <= within_us;
}

static enum exit_code judge(const struct invocation *invocation, struct arena *arena,
                            int64_t within_us)
{
    const char *path = invocation->operands[0];
    struct clock clock = system_clock();
    char text[INSTANT_TEXT_MAX];
    struct error err;
    int64_t at_us;

    if (!alive_read(arena, path, &at_us, &err)) {
        fprintf(invocation->talk, "patra: not alive: %s\n", err.text);
        return EXIT_FOUND;
    }
    (void)instant_format(at_us, text);
    if (!is_within(at_us, clock_now_us(&clock), within_us)) {
        fprintf(invocation->talk, "patra: not alive: the last sign was at %s\n", text);
        return EXIT_FOUND;
    }
    fprintf(invocation->out, "alive at %s\n", text);
    return EXIT_DONE;
}

static enum exit_code cmd_alive(const struct invocation *invocation)
{
    int64_t within_us = WITHIN_US;
    enum exit_code code;
    struct arena arena;
    struct error err;

    if (!invocation_duration(invocation, "within", &within_us, &err))
        return command_failed(invocation, &err);
    arena_init(&arena, ARENA_BYTES_MAX);
    code = judge(invocation, &arena, within_us);
    arena_release(&arena);
    return code;
}

const struct command COMMAND_ALIVE = {
    .name = "alive",
    .summary = "check that a service is at work",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Reads the time that `patra serve --alive-file FILE` writes every five seconds. The exit\n"
        "code is 0 if it is recent. It is 1 if it is older than --within, so that the service\n"
        "hangs, or if there is no file, because the service has not started or has ended. It\n"
        "neither opens the store nor sends a request: a store that is away is not a reason to\n"
        "start a service again. For health checks of containers; see docs/install.md.",
    .options = { { "within", "DURATION", "How old the time may be (1m)." } },
    .run = cmd_alive,
};
