/* patra quarantine retry and drop: what becomes of records that were put aside. */
#include <inttypes.h>

#include "adapter/system/system.h"
#include "cli/confirm.h"
#include "cli/output.h"
#include "cli/who.h"
#include "cmd/quarantine/quarantine.h"
#include "engine/execute/quarantine_retry.h"

/* More are done by the next call. */
enum { SETTLE_MAX = 10000 };

/* One record, its source and all that comes of reading it again. */
#define RECORD_BYTES_MAX ((size_t)512 << 20)

/* ---- which are meant ---- */

struct chosen {
    int64_t *ids;
    size_t count;
};

static bool choose_numbers(const struct invocation *invocation, struct arena *arena,
                           struct chosen *chosen, bool *all, struct error *err)
{
    chosen->ids = ARENA_ARRAY(arena, int64_t, (size_t)invocation->operand_count);
    if (chosen->ids == NULL)
        return arena_error(arena, err);
    *all = true;
    for (int i = 0; i < invocation->operand_count && *all; i++)
        *all = quarantine_read_id(invocation->operands[i], &chosen->ids[chosen->count++]);
    return true;
}

/* Numbers, or one source with or without --endpoint and --reason. */
static bool choose(const struct invocation *invocation, struct session *session,
                   struct chosen *chosen, struct error *err)
{
    struct quarantine_filter filter =
        quarantine_filter_read(invocation, str_of(invocation->operands[0]));
    struct quarantined_list list;
    bool are_numbers = false;

    *chosen = (struct chosen){ 0 };
    if (!choose_numbers(invocation, &session->arena, chosen, &are_numbers, err))
        return false;
    if (are_numbers)
        return true;
    if (invocation->operand_count > 1)
        return error_set(err, ERROR_REQUEST, "quarantine.option",
                         "give numbers of records, or one source");
    filter.limit = SETTLE_MAX;
    chosen->count = 0;
    if (!store_quarantine_list(session->store, &session->arena, &filter, &list, err) ||
        (list.count == 0 && !session_knows(session, filter.source, err)))
        return false;
    if (list.count == SETTLE_MAX)
        fprintf(invocation->talk, "the first %d; the next call does the next\n", SETTLE_MAX);
    chosen->ids = ARENA_ARRAY(&session->arena, int64_t, list.count + 1);
    if (chosen->ids == NULL)
        return arena_error(&session->arena, err);
    for (size_t i = 0; i < list.count; i++)
        chosen->ids[chosen->count++] = list.items[i].id;
    return true;
}

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

static bool write_object(struct report *report, int64_t id, const char *outcome,
                         const struct quarantine_retried *retried, struct error *err)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, &report->arena, QUARANTINE_OUTPUT_MAX);
    json_writer_init(&w, &text);
    json_write_object(&w);
    json_write_member_i64(&w, STR("id"), id);
    json_write_member_str(&w, STR("outcome"), str_of(outcome));
    if (retried != NULL && retried->provider_id.len > 0)
        json_write_member_str(&w, STR("recordId"), retried->provider_id);
    if (retried != NULL && retried->change.len > 0)
        json_write_member_str(&w, STR("change"), retried->change);
    if (retried != NULL && retried->reason.len > 0) {
        json_write_member_str(&w, STR("reason"), retried->reason);
        json_write_member_str(&w, STR("detail"), retried->detail);
    }
    json_write_end(&w);
    return output_json(report->invocation->out, &w, err);
}

/* ---- retry ---- */

static bool report_retried(struct report *report, int64_t id,
                           const struct quarantine_retried *retried, struct error *err)
{
    static const char *const words[] = { [QUARANTINE_STORED] = "stored",
                                         [QUARANTINE_KNOWN] = "known",
                                         [QUARANTINE_STILL_BAD] = "still bad",
                                         [QUARANTINE_SETTLED] = "settled before" };
    FILE *out = report->invocation->out;

    report->done += retried->outcome == QUARANTINE_STORED;
    report->known += retried->outcome == QUARANTINE_KNOWN;
    report->still_bad += retried->outcome == QUARANTINE_STILL_BAD;
    report->settled += retried->outcome == QUARANTINE_SETTLED;
    if (report->as_json)
        return write_object(report, id, words[retried->outcome], retried, err);
    fprintf(out, "%" PRId64 ": %s", id, words[retried->outcome]);
    if (retried->outcome == QUARANTINE_STORED)
        fprintf(out, ", %.*s", STR_ARG(retried->change));
    if (retried->outcome != QUARANTINE_SETTLED && retried->provider_id.len > 0)
        fprintf(out, "  %.*s", STR_ARG(retried->provider_id));
    if (retried->outcome == QUARANTINE_STILL_BAD)
        fprintf(out, "  %.*s: %.*s", STR_ARG(retried->reason), STR_ARG(retried->detail));
    fprintf(out, "\n");
    return true;
}

static bool retry_all(struct report *report, struct session *session, const struct chosen *chosen,
                      struct error *err)
{
    struct random_source random = system_random();
    struct quarantine_retry_ask ask = {
        .by = who_am_i(&session->arena),
        .note = str_of(invocation_value(report->invocation, "why")),
        .is_dry = invocation_flag(report->invocation, "dry-run"),
    };

    for (size_t i = 0; i < chosen->count; i++) {
        struct quarantine_retried retried;

        arena_reset(&report->arena);
        ask.id = chosen->ids[i];
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
    struct chosen chosen;
    bool ok;

    report_init(&report, invocation);
    ok = choose(invocation, session, &chosen, err) && retry_all(&report, session, &chosen, err);
    if (!report.as_json)
        fprintf(invocation->talk,
                "%s%" PRId64 " stored, %" PRId64 " known already, %" PRId64 " still bad, %" PRId64
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
    .summary = "read them again, by the source as it is in force now",
    .operands = "SOURCE | ID...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Reads the stored bytes by the source in force now (mend its file and apply it first) and\n"
        "stores what can be judged, as a harvest would have: one version, one event, at most once\n"
        "however often it is tried. What is still bad stays in quarantine; the exit code is then\n"
        "1. Nothing is sent to the source.",
    .options = { QUARANTINE_FILTER_OPTIONS,
                 { "dry-run", NULL, "Show what would come of it; write nothing." },
                 { "why", "TEXT", "For the trail." },
                 { "json", NULL, "An object per record instead of a text." },
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
        .note = str_of(invocation_value(report->invocation, "why")),
        .now_us = clock_now_us(&session->clock),
    };
    bool resolved;

    arena_reset(&report->arena);
    if (!store_quarantine_resolve(session->store, &resolve, &resolved, err))
        return false;
    report->done += resolved;
    report->settled += !resolved;
    if (report->as_json)
        return write_object(report, id, resolved ? "dropped" : "not open", NULL, err);
    if (!resolved)
        fprintf(report->invocation->out, "%" PRId64 ": not open, nothing was done\n", id);
    return true;
}

static bool drop(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    struct report report;
    struct chosen chosen;
    char question[128];
    bool ok;

    report_init(&report, invocation);
    ok = choose(invocation, session, &chosen, err);
    if (ok && chosen.count > 0) {
        (void)snprintf(question, sizeof(question),
                       "%zu record%s will never be stored from these bytes. Drop?", chosen.count,
                       chosen.count == 1 ? "" : "s");
        ok = confirm(invocation, question, err);
    }
    for (size_t i = 0; ok && i < chosen.count; i++)
        ok = drop_one(&report, session, chosen.ids[i], err);
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
    .summary = "take them out of the count for good",
    .operands = "SOURCE | ID...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Marks records as dropped: they are no longer counted, listed or retried. The rows stay,\n"
        "with who did it, when and why (`patra quarantine list --all`). It asks first; without a\n"
        "terminal it needs --yes. The exit code is 1 when one of them was not open any more.",
    .options = { QUARANTINE_FILTER_OPTIONS,
                 { "why", "TEXT", "For the trail." },
                 { "yes", NULL, "Do not ask." },
                 { "json", NULL, "An object per record instead of a text." },
                 SESSION_OPTION },
    .run = cmd_drop,
};
