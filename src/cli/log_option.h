/* log_option: the log of a long-running command, as lines on stderr. */
#ifndef PATRA_CLI_LOG_OPTION_H
#define PATRA_CLI_LOG_OPTION_H

#include "base/log.h"
#include "cli/command.h"
#include "port/clock.h"

/* The options that every such command has. */
#define LOG_OPTIONS                                                                   \
    { "log-format", "FORMAT", "The format of the log: text (the default) or json." }, \
    {                                                                                 \
        "log-level", "LEVEL",                                                         \
            "Log this level and above: debug, info (the default), warn or error."     \
    }

/* The clock must outlive the log. False (COMMAND_OPTION) for an unknown format or level. */
bool log_option_read(struct log *log, const struct invocation *invocation, struct clock *clock,
                     struct error *err) MUST_CHECK;

#endif
