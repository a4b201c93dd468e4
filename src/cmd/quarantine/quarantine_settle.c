/* patra quarantine retry and drop: settle quarantined records. */
#include <inttypes.h>

#include "adapter/system/system.h"
#include "cli/confirm.h"
#include "cli/output.h"
#include "cli/row_choice.h"
#include "cli/who.h"
#include "cmd/quarantine/quarantine.h"
#include "view/settled.h"

/* The next call settles more. */
enum { SETTLE_MAX = 10000 };

/* One record, its source, and everything made of it while it is read again. */
#define RECORD_BYTES_MAX ((size_t)512 << 20)

/* ---- which records ---- */

/* One source, narrowed by --endpoint and --reason. */
static bool add_source(const struct invocation *invocation, struct session *session,
                       struct row_choice *choice, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct quarantine_filter filter =
        quarantine_filter_read(invocation, str_of(invocation->operands[0]));
    struct view_quarantine_list list;

    filter.limit = SETTLE_MAX;
    if (!view_quarantine_list(&reader, &filter, &list, err))
        return false;
    if (list.is_full)
        fprintf(invocation->talk, "only the first %d; run it again for the rest\n", SETTLE_MAX);
    for (size_t i = 0; i < list.count; i++) {
        if (!row_choice_add(choice, &session->arena, list.items[i].id, err))
            return false;
    }
    return true;
}

static const struct row_chooser CHOOSER = { .what = "record", .add_source = add_source };

/* ---- the report: a line or an object for each ---- */

struct report {
    const struct invocation *invocation;
    bool as_json;
    struct arena arena; /* of one record */
    int64_t done;
    int64_t known;
    int64_t still_bad;
    int64_t settled;
};

static void report_init(struct report *report, const struct invocation *invocation)
{
    *report =
        (struct report){ .invocation = invocation, .as_json = invocation_flag(invocation, "json") };
    arena_init(&report->arena, RECORD_BYTES_MAX);
}

static bool print_settled(struct report *report, const struct view_settled *settled,
                          struct error *err)
{
    struct output output;

    view_settled_write(output_begin(&output, &report->arena), settled);
    return output_end(&output, report->invocation->out, err);
}

/* ---- retry ---- */

static bool report_retried(struct report *report, int64_t id,
                           const struct quarantine_retried *retried, struct error *err)
{
    const struct str word = view_retried_word(retried->outcome);
    FILE *out = report->invocation->out;

    report->done += retried->outcome == QUARANTINE_STORED;
    report->known += retried->outcome == QUARANTINE_KNOWN;
    report->still_bad += retried->outcome == QUARANTINE_STILL_BAD;
    report->settled += retried->outcome == QUARANTINE_SETTLED;
    if (report->as_json)
        return print_settled(report, &(struct view_settled){ id, word, retried }, err);
    fprintf(out, "%" PRId64 ": %.*s", id, STR_ARG(word));
    if (retried->outcome == QUARANTINE_STORED)
        fprintf(out, ", %.*s", STR_ARG(retried->change));
    if (retried->outcome != QUARANTINE_SETTLED && retried->provider_id.len > 0)
        fprintf(out, "  %.*s", STR_ARG(retried->provider_id));
    if (retried->outcome == QUARANTINE_STILL_BAD)
        fprintf(out, "  %.*s: %.*s", STR_ARG(retried->reason), STR_ARG(retried->detail));
    fprintf(out, "\n");
    return true;
}

static bool retry_all(struct report *report, struct session *session,
                      const struct row_choice *chosen, struct error *err)
{
    struct random_source random = system_random();
    struct quarantine_retry_request ask = {
        .by = who_am_i(&session->arena),
        .note = str_of(invocation_value(report->invocation, "note")),
        .is_dry = invocation_flag(report->invocation, "dry-run"),
        .specs = session->specs,
    };

    for (size_t i = 0; i < chosen->count; i++) {
        struct quarantine_retried retried;

        arena_reset(&report->arena);
        ask.id = chosen->items[i];
        ask.now_us = clock_now_us(&session->clock);
        if (!quarantine_retry(session->store, &report->arena, &random, &ask, &retried, err) ||
            !report_retried(report, ask.id, &retried, err))
            return false;
    }
    return true;
}

static bool retry(const struct invocation *invocation, struct session *session,
                  enum exit_code *code, struct error *err)
{
    struct report report;
    struct row_choice chosen;
    bool ok;

    report_init(&report, invocation);
    ok = row_choice_read(&CHOOSER, invocation, session, &chosen, err) &&
         retry_all(&report, session, &chosen, err);
    if (!report.as_json)
        fprintf(invocation->talk,
                "%s%" PRId64 " stored, %" PRId64 " already known, %" PRId64 " still bad, %" PRId64
                " settled before\n",
                invocation_flag(invocation, "dry-run") ? "dry run, nothing was written: " : "",
                report.done, report.known, report.still_bad, report.settled);
    if (report.still_bad > 0)
        *code = EXIT_FOUND;
    arena_release(&report.arena);
    return ok;
}

static enum exit_code cmd_retry(const struct invocation *invocation)
{
    return session_run(invocation, retry);
}

const struct command QUARANTINE_RETRY = {
    .name = "retry",
    .summary = "read quarantined records again",
    .operands = "SOURCE | ID...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Reads the stored bytes again with the source as it is now in force: correct its file\n"
        "and apply it first. Records that can now be judged are stored as a harvest would store\n"
        "them, each with one version and one event, however often the command is run. Records\n"
        "that are still bad stay in quarantine, and the exit code is 1. No request is sent.",
    .options = { QUARANTINE_FILTER_OPTIONS,
                 { "dry-run", NULL, "Show what would happen, but write nothing." },
                 { "note", "TEXT", "Why it is done, kept with the records." },
                 { "json", NULL, "Print a JSON object per record." },
                 SESSION_OPTION },
    .run = cmd_retry,
};

/* ---- drop ---- */

static bool drop_one(struct report *report, struct session *session, int64_t id, struct error *err)
{
    const struct quarantine_resolve resolve = {
        .id = id,
        .resolution = QUARANTINE_DROPPED,
        .by = who_am_i(&session->arena),
        .note = str_of(invocation_value(report->invocation, "note")),
        .now_us = clock_now_us(&session->clock),
    };
    bool resolved;

    arena_reset(&report->arena);
    if (!store_quarantine_resolve(session->store, &resolve, &resolved, err))
        return false;
    report->done += resolved;
    report->settled += !resolved;
    if (report->as_json)
        return print_settled(
            report, &(struct view_settled){ id, resolved ? STR("dropped") : STR("not open"), NULL },
            err);
    if (!resolved)
        fprintf(report->invocation->out, "%" PRId64 ": not open, nothing was done\n", id);
    return true;
}

static bool drop(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    struct report report;
    struct row_choice chosen;
    char question[128];
    bool ok;

    report_init(&report, invocation);
    ok = row_choice_read(&CHOOSER, invocation, session, &chosen, err);
    if (ok && chosen.count > 0) {
        (void)snprintf(question, sizeof(question), "%zu record%s will not be stored. Drop?",
                       chosen.count, chosen.count == 1 ? "" : "s");
        ok = confirm(invocation, question, err);
    }
    for (size_t i = 0; ok && i < chosen.count; i++)
        ok = drop_one(&report, session, chosen.items[i], err);
    if (ok && !report.as_json)
        fprintf(invocation->out, "%" PRId64 " dropped\n", report.done);
    if (report.settled > 0)
        *code = EXIT_FOUND;
    arena_release(&report.arena);
    return ok;
}

static enum exit_code cmd_drop(const struct invocation *invocation)
{
    return session_run(invocation, drop);
}

const struct command QUARANTINE_DROP = {
    .name = "drop",
    .summary = "drop quarantined records",
    .operands = "SOURCE | ID...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Marks records as dropped: they are no longer counted, listed or retried. Their rows\n"
        "are kept with who dropped them, when and why (`patra quarantine list --all`). The\n"
        "command asks for confirmation; without a terminal it needs --yes. The exit code is 1\n"
        "if one of the records was no longer open.",
    .options = { QUARANTINE_FILTER_OPTIONS,
                 { "note", "TEXT", "Why it is done, kept with the records." },
                 { "yes", NULL, "Do not ask for confirmation." },
                 { "json", NULL, "Print a JSON object per record." },
                 SESSION_OPTION },
    .run = cmd_drop,
};
