/* log_option: where and how a long-running command logs: lines on stderr. */
#ifndef PATRA_CLI_LOG_OPTION_H
#define PATRA_CLI_LOG_OPTION_H

#include "base/log.h"
#include "cli/command.h"
#include "port/clock.h"

/* The rows every such command has in its table. */
#define LOG_OPTIONS                                                                       \
    { "log-format", "FORMAT", "text (the default) or json." },                            \
    {                                                                                     \
        "log-level", "LEVEL", "debug, info (the default), warn or error: this and above." \
    }

/* The clock must outlive the log. False for what was mistyped: EXIT_USAGE. */
bool log_option_read(struct log *log, const struct invocation *invocation, struct clock *clock,
                     struct error *err) MUST_CHECK;

#endif
