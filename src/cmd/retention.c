/* patra retention. */
#include "cmd/retention.h"

#include <inttypes.h>

#include "cli/output.h"
#include "cli/session.h"
#include "port/store_rate.h"
#include "worker/retaining.h"

static bool print_json(struct session *session, const struct retained_count *count, FILE *out,
                       struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, &session->arena);

    json_write_object(w);
    json_write_member_i64(w, STR("batches"), count->batches);
    json_write_member_i64(w, STR("cursorEvents"), count->cursor_events);
    json_write_member_i64(w, STR("tidied"), count->tidied);
    json_write_member_i64(w, STR("files"), count->files);
    json_write_end(w);
    return output_end(&output, out, err);
}

static bool retain(const struct invocation *invocation, struct session *session,
                   enum exit_code *code, struct error *err)
{
    struct retained_count count;
    int64_t keep_us = RETAIN_KEEP_US;

    (void)code;
    if (!invocation_duration(invocation, "keep", &keep_us, err))
        return false;
    if (keep_us < US_PER_DAY)
        return command_misused(err, "--keep: a day at least");
    if (!retaining_once(session->store, &session->clock, CLOCK_NO_WAKE, invocation->operands[0],
                        keep_us, &count, err))
        return false;
    if (invocation_flag(invocation, "json"))
        return print_json(session, &count, invocation->out, err);
    fprintf(invocation->out,
            "%" PRId64 " batches and %" PRId64 " cursor events archived in %" PRId64
            " files, %" PRId64 " other rows removed\n",
            count.batches, count.cursor_events, count.files, count.tidied);
    return true;
}

static enum exit_code cmd_retention(const struct invocation *invocation)
{
    return session_run(invocation, retain);
}

const struct command COMMAND_RETENTION = {
    .name = "retention",
    .summary = "archive old batches and cursor events, and remove them",
    .operands = "DIR",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Writes batches and cursor events that are older than --keep to files in DIR (JSON\n"
        "lines, zstd) and removes them from the store, a few at a time, while others work. Plans,\n"
        "tasks and runs stay, and so do the last batch of each task and the last event of each\n"
        "cursor. Also removes ids that finished tasks listed, and old alerts. patra trace names\n"
        "the file of a run. patra serve --retention DIR does the same once a day. Events of the\n"
        "outbox have a retention of their own: patra outbox prune.",
    .options = { { "keep", "DURATION", "How long rows are kept, a day at least (90d)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_retention,
};
