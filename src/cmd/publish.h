/* publish: patra publish: gives events their place in the stream. */
#ifndef PATRA_CMD_PUBLISH_H
#define PATRA_CMD_PUBLISH_H

#include "cli/command.h"

extern const struct command COMMAND_PUBLISH;

/* How long events are kept, for every command that removes them. */
#define PUBLISH_KEEP_OPTION                                                                   \
    {                                                                                         \
        "keep", "DURATION",                                                                   \
            "Remove events that are older and that every subscription has read, from 1m; or " \
            "forever (7d)."                                                                   \
    }
/* *keep_us is 0 for ever. */
bool publish_keep(const struct invocation *invocation, int64_t *keep_us,
                  struct error *err) MUST_CHECK;

#endif
