/* The commands of patra batch. */
#include "cmd/batch/batch.h"

static const struct command *const children[] = { &COMMAND_BATCH_SHOW, &COMMAND_BATCH_REPLAY,
                                                  NULL };

const struct command COMMAND_BATCH = {
    .name = "batch",
    .summary = "show what a batch requested and received, and do it again",
    .description = "A batch is what one transaction stored: a response, or a part of one. It is\n"
                   "named by its run and its number, RUN/NUMBER.",
    .children = children,
};
