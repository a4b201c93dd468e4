/* patra: the command table. Each command is in a file or folder of its name. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/hide.h"
#include "cmd/alert/alert.h"
#include "cmd/alive.h"
#include "cmd/audit.h"
#include "cmd/batch/batch.h"
#include "cmd/blackbox.h"
#include "cmd/bus/bus.h"
#include "cmd/clock.h"
#include "cmd/consume.h"
#include "cmd/cursor/cursor.h"
#include "cmd/db.h"
#include "cmd/doctor/doctor.h"
#include "cmd/harvest/harvest.h"
#include "cmd/init.h"
#include "cmd/offset/offset.h"
#include "cmd/outbox.h"
#include "cmd/pause.h"
#include "cmd/plan.h"
#include "cmd/projection/projection.h"
#include "cmd/publish.h"
#include "cmd/quarantine/quarantine.h"
#include "cmd/record/record.h"
#include "cmd/rederive.h"
#include "cmd/retention.h"
#include "cmd/schema.h"
#include "cmd/serve.h"
#include "cmd/signals.h"
#include "cmd/source/source.h"
#include "cmd/status/status.h"
#include "cmd/task.h"
#include "cmd/token.h"
#include "cmd/top/top.h"
#include "cmd/trace.h"
#include "cmd/trigger/trigger.h"
#include "cmd/why.h"
#include "cmd/work.h"

static enum exit_code cmd_patra(const struct invocation *invocation);

/* One per line, however many there are. */
/* clang-format off */
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
    &COMMAND_ALIVE,
    &COMMAND_STATUS,
    &COMMAND_TOP,
    &COMMAND_ALERT,
    &COMMAND_DOCTOR,
    &COMMAND_PAUSE,
    &COMMAND_RESUME,
    &COMMAND_CURSOR,
    &COMMAND_CLOCK,
    &COMMAND_QUARANTINE,
    &COMMAND_SIGNAL,
    &COMMAND_RECORD,
    &COMMAND_WHY,
    &COMMAND_TRACE,
    &COMMAND_BATCH,
    &COMMAND_BLACKBOX,
    &COMMAND_BUS,
    &COMMAND_PROJECTION,
    &COMMAND_AUDIT,
    &COMMAND_PUBLISH,
    &COMMAND_CONSUME,
    &COMMAND_OFFSET,
    &COMMAND_OUTBOX,
    &COMMAND_SCHEMA,
    &COMMAND_TOKEN,
    &COMMAND_RETENTION,
    &COMMAND_DB,
    NULL,
};
/* clang-format on */

static const struct command root = {
    .name = "patra",
    .summary = "keep exact, current, replayable copies of literature APIs",
    .description =
        "patra keeps exact, current, replayable copies of literature APIs (PubMed, Crossref,\n"
        "Europe PMC, OpenAlex, arXiv, or any other paged HTTP API) and passes every change on\n"
        "to other services exactly once.",
    .options = { { "version", NULL, "Print the version." },
                 { "manual", NULL, "Print the manual page (troff)." },
                 { "reference", NULL, "Print the reference for all commands (Markdown)." },
                 { "completion", "SHELL", "Print a completion script: bash, zsh or fish." } },
    .letters = { { 'V', "version" } },
    .children = commands,
    .run = cmd_patra,
};

static enum exit_code print_completion(const struct invocation *invocation)
{
    struct error err;

    if (completion_print(&root, invocation_value(invocation, "completion"), invocation->out, &err))
        return EXIT_DONE;
    return command_failed(invocation, &err);
}

static enum exit_code cmd_patra(const struct invocation *invocation)
{
    if (invocation_flag(invocation, "version"))
        fprintf(invocation->out, "patra %s\n", PATRA_VERSION);
    else if (invocation_flag(invocation, "manual"))
        help_manual(&root, invocation->out);
    else if (invocation_flag(invocation, "reference"))
        help_reference(&root, invocation->out);
    else if (invocation_value(invocation, "completion") != NULL)
        return print_completion(invocation);
    else {
        help_print(&(struct help_path){ .commands = { &root }, .depth = 1 }, invocation->talk);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    char **arguments;
    enum exit_code code;

    /* Neither a crash nor another process of the same user gets a copy of the memory: it has
     * credentials in it. Root may still look. */
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of its write */
    arguments = hide_arguments(argc, argv);
    if (arguments == NULL) {
        fprintf(stderr, "patra: no memory\n");
        return EXIT_LATER;
    }
    code = command_main(&root, argc, arguments);
    free(arguments);

    if (fflush(stdout) == 0 && !ferror(stdout))
        return (int)code;
    fprintf(stderr, "patra: the output could not be written: %s\n", strerror(errno));
    return (int)(code == EXIT_DONE || code == EXIT_FOUND ? EXIT_LATER : code);
}
