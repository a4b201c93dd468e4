/* patra offset. */
#include "cmd/offset/offset.h"

#include <stddef.h>

static const struct command *const children[] = { &OFFSET_SHOW, &OFFSET_RESET, NULL };

const struct command COMMAND_OFFSET = {
    .name = "offset",
    .summary = "show how far subscriptions are, and move them",
    .description =
        "Every subscription, a relay to a bus or a projection, has a position of its own in each\n"
        "of the 64 lanes of the stream: its offset. Events up to it were delivered.",
    .children = children,
};
