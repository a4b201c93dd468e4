/* patra: the command table. Each command is in a file or folder of its name. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/help.h"
#include "cmd/cursor/cursor.h"
#include "cmd/harvest/harvest.h"
#include "cmd/init.h"
#include "cmd/outbox.h"
#include "cmd/pause.h"
#include "cmd/plan.h"
#include "cmd/publish.h"
#include "cmd/quarantine/quarantine.h"
#include "cmd/record/record.h"
#include "cmd/rederive.h"
#include "cmd/serve.h"
#include "cmd/signals.h"
#include "cmd/source/source.h"
#include "cmd/status/status.h"
#include "cmd/task.h"
#include "cmd/trigger/trigger.h"
#include "cmd/work.h"

static enum exit_code cmd_patra(const struct invocation *invocation);

static const struct command *const commands[] = {
    &COMMAND_INIT,
    &COMMAND_SOURCE,
    &COMMAND_HARVEST,
    &COMMAND_BACKFILL,
    &COMMAND_UPDATE,
    &COMMAND_METRICS,
    &COMMAND_REPLAY,
    &COMMAND_REDERIVE,
    &COMMAND_TRIGGER,
    &COMMAND_PLAN,
    &COMMAND_TASK,
    &COMMAND_WORK,
    &COMMAND_SERVE,
    &COMMAND_STATUS,
    &COMMAND_PAUSE,
    &COMMAND_RESUME,
    &COMMAND_CURSOR,
    &COMMAND_QUARANTINE,
    &COMMAND_SIGNAL,
    &COMMAND_RECORD,
    &COMMAND_PUBLISH,
    &COMMAND_OUTBOX,
    NULL,
};

static const struct command root = {
    .name = "patra",
    .summary = "keep exact, current, replayable copies of literature APIs",
    .description =
        "patra keeps exact, current, replayable copies of literature APIs (PubMed, Crossref,\n"
        "Europe PMC, OpenAlex, arXiv, or any other paged HTTP API) and passes every change on\n"
        "to other services exactly once.",
    .options = { { "version", NULL, "Print the version." },
                 { "V", NULL, "The same." },
                 { "manual", NULL, "Print the manual page (troff)." },
                 { "reference", NULL, "Print the reference for all commands (Markdown)." },
                 { "completion", NULL, "Print a completion script for bash." } },
    .children = commands,
    .run = cmd_patra,
};

static enum exit_code cmd_patra(const struct invocation *invocation)
{
    if (invocation_flag(invocation, "version") || invocation_flag(invocation, "V"))
        fprintf(invocation->out, "patra %s\n", PATRA_VERSION);
    else if (invocation_flag(invocation, "manual"))
        help_manual(&root, invocation->out);
    else if (invocation_flag(invocation, "reference"))
        help_reference(&root, invocation->out);
    else if (invocation_flag(invocation, "completion"))
        help_completion(&root, invocation->out);
    else {
        help_print(&(struct help_path){ .commands = { &root }, .depth = 1 }, invocation->talk);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    const enum exit_code code = command_main(&root, argc, argv);

    if (fflush(stdout) == 0 && !ferror(stdout))
        return (int)code;
    fprintf(stderr, "patra: the output could not be written: %s\n", strerror(errno));
    return (int)(code == EXIT_DONE || code == EXIT_FOUND ? EXIT_LATER : code);
}
