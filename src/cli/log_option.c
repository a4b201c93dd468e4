/* The log of a long-running command. */
#include "cli/log_option.h"

#include <unistd.h>

/* Of lines about success, one in this many is logged; at debug, all are. */
enum { SAMPLE_EVERY = 100 };

static int64_t now_us(void *context)
{
    return clock_now_us(context);
}

bool log_option_read(struct log *log, const struct invocation *invocation, struct clock *clock,
                     struct error *err)
{
    const struct str format = str_of(invocation_value(invocation, "log-format"));
    const struct str level = str_of(invocation_value(invocation, "log-level"));

    *log = (struct log){ .fd = STDERR_FILENO,
                         .level = LOG_INFO,
                         .format = LOG_TEXT,
                         .now_us = now_us,
                         .context = clock };
    if (str_eq(format, STR("json")))
        log->format = LOG_JSON;
    else if (format.len > 0 && !str_eq(format, STR("text")))
        return command_misused(err, "--log-format: '%.*s' is neither text nor json",
                               STR_ARG(format));
    if (level.len > 0 && !log_level_parse(level, &log->level))
        return command_misused(err, "--log-level: '%.*s' is not debug, info, warn or error",
                               STR_ARG(level));
    log->sample_every = log->level == LOG_DEBUG ? 1 : SAMPLE_EVERY;
    return true;
}
