/* patra status: the state of every source, for the person on call. */
#include "cmd/status/status.h"

#include "cli/output.h"
#include "cli/session.h"
#include "cmd/status/status_show.h"
#include "view/metrics.h"
#include "view/status.h"

/* Without a judgement: the exit code says only whether it could be read. */
static bool print_metrics(const struct invocation *invocation, struct session *session,
                          struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct buf text;

    if (invocation->operand_count > 0 || invocation_flag(invocation, "json"))
        return command_misused(err, "--prometheus prints all sources, and not as JSON");
    buf_init(&text, &session->arena, OUTPUT_BYTES_MAX);
    return view_metrics_write(&reader, &text, err) && output_text(invocation->out, &text, err);
}

static bool show_status(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    const struct view_status_filter filter = {
        .source = str_of(invocation->operand_count > 0 ? invocation->operands[0] : NULL)
    };
    struct view_status status;
    struct output output;

    if (invocation_flag(invocation, "prometheus"))
        return print_metrics(invocation, session, err);
    if (!view_status(&reader, &filter, &status, err))
        return false;
    *code = status.needs.count > 0 ? EXIT_FOUND : EXIT_DONE;
    if (!invocation_flag(invocation, "json"))
        return status_print(&status, &session->arena, invocation->out, err);
    view_status_write(output_begin(&output, &session->arena), &status);
    return output_end(&output, invocation->out, err);
}

static enum exit_code cmd_status(const struct invocation *invocation)
{
    return session_run(invocation, show_status);
}

const struct command COMMAND_STATUS = {
    .name = "status",
    .summary = "show queues, cursors, failures, and what needs a person",
    .operands = "[SOURCE]",
    .operands_max = 1,
    .description =
        "Shows for each source the tasks that are waiting, running, and ended in the last 24\n"
        "hours; how far its cursors are; when its schedules fire next; what is paused or\n"
        "stopped, why, and how to resume it; and what is in quarantine. Then it shows the rate\n"
        "gates: the learned rate out of the configured one, the permits available, the quota,\n"
        "and until when and why no request is sent. The last lines say what needs a person and\n"
        "what to do about it, also of subscriptions (patra outbox status); if there is anything,\n"
        "the exit code is 1.",
    .options = { { "json", NULL, "Print JSON." },
                 { "prometheus", NULL, "Print metrics in the text format of Prometheus." },
                 SESSION_OPTION },
    .run = cmd_status,
};
