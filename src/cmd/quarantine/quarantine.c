/* patra quarantine list and show. */
#include "cmd/quarantine/quarantine.h"

#include <inttypes.h>

#include "base/instant.h"
#include "cli/columns.h"
#include "cli/output.h"

enum { LIST_DEFAULT = 50, LIST_MAX = 10000 };

struct quarantine_filter quarantine_filter_read(const struct invocation *invocation,
                                                struct str source)
{
    return (struct quarantine_filter){
        .source = source,
        .endpoint = str_of(invocation_value(invocation, "endpoint")),
        .reason = str_of(invocation_value(invocation, "reason")),
    };
}

/* ---- list ---- */

static bool print_rows(const struct view_quarantine_list *list, struct session *session, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "ID",     "SOURCE", "ENDPOINT", "RECORD",
                                         "REASON", "SINCE",  "STATE" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        const struct quarantined *record = &list->items[i];

        columns_i64(&columns, record->id);
        columns_cell(&columns, record->source);
        columns_cell(&columns, record->endpoint);
        columns_cell(&columns, record->provider_id.len > 0 ? record->provider_id : STR("-"));
        columns_cell(&columns, record->reason);
        columns_brief(&columns, record->created_us, now_us);
        columns_cell(&columns, record->resolution == QUARANTINE_OPEN
                                   ? STR("open")
                                   : quarantine_resolution_word(record->resolution));
        columns_note(&columns, record->detail);
    }
    return columns_print(&columns, out, err);
}

static bool print_sums(const struct quarantine_sum_list *sums, struct session *session, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "SOURCE", "ENDPOINT", "REASON", "OPEN", "FIRST", "LAST" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct columns columns;

    if (sums->count == 0)
        return true;
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < sums->count; i++) {
        const struct quarantine_sum *sum = &sums->items[i];

        columns_cell(&columns, sum->source);
        columns_cell(&columns, sum->endpoint);
        columns_cell(&columns, sum->reason);
        columns_i64(&columns, sum->count);
        columns_brief(&columns, sum->first_us, now_us);
        columns_brief(&columns, sum->last_us, now_us);
    }
    if (!columns_print(&columns, out, err))
        return false;
    fprintf(out, "\n");
    return true;
}

static bool list_quarantine(const struct invocation *invocation, struct session *session,
                            enum exit_code *code, struct error *err)
{
    const struct option_range limits = { 1, LIST_MAX, LIST_DEFAULT };
    const struct view_reader reader = session_reader(session);
    struct quarantine_filter filter = quarantine_filter_read(
        invocation, str_of(invocation->operand_count > 0 ? invocation->operands[0] : NULL));
    struct view_quarantine_list list;
    struct output output;

    (void)code;
    filter.with_resolved = invocation_flag(invocation, "all");
    if (!invocation_number(invocation, "limit", limits, &filter.limit, err) ||
        !view_quarantine_list(&reader, &filter, &list, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_quarantine_list_write(output_begin(&output, &session->arena), &list);
        return output_end(&output, invocation->out, err);
    }
    if (!print_sums(&list.sums, session, invocation->out, err) ||
        !print_rows(&list, session, invocation->out, err))
        return false;
    if (list.is_full)
        fprintf(invocation->talk, "showing the first %" PRId64 "; --limit shows more\n",
                filter.limit);
    return true;
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_quarantine);
}

static const struct command list_command = {
    .name = "list",
    .summary = "list quarantined records",
    .operands = "[SOURCE]",
    .operands_max = 1,
    .description =
        "Prints how many records are open by source, endpoint and reason, then the records\n"
        "themselves, oldest first. RECORD is the provider's id, where one could be read.",
    .options = { QUARANTINE_FILTER_OPTIONS,
                 { "all", NULL, "Also list records that were retried or dropped." },
                 { "limit", "N", "Show at most N records, 1 to 10000 (50)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_list,
};

/* ---- show ---- */

static void print_instant(FILE *out, const char *label, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    (void)instant_format(at_us, text);
    fprintf(out, "%s%s\n", label, text);
}

static void print_text(const struct quarantined *record, FILE *out)
{
    fprintf(out, "quarantined record %" PRId64 "\n", record->id);
    fprintf(out, "  endpoint    %.*s/%.*s\n", STR_ARG(record->source), STR_ARG(record->endpoint));
    fprintf(
        out, "  record      %.*s\n",
        STR_ARG(record->provider_id.len > 0 ? record->provider_id : STR("no id could be read")));
    fprintf(out, "  reason      %.*s: %.*s\n", STR_ARG(record->reason), STR_ARG(record->detail));
    print_instant(out, "  since       ", record->created_us);
    fprintf(out,
            "  received in plan %" PRId64 ", task %" PRId64 ", run %" PRId64 ", batch %" PRId64
            ", position %" PRId64 " of its page\n",
            record->lineage.plan_id, record->lineage.task_id, record->lineage.run_id,
            record->lineage.batch_id, record->position);
    if (record->resolution != QUARANTINE_OPEN) {
        fprintf(out, "  %-11.*s by %.*s%s%.*s\n",
                STR_ARG(quarantine_resolution_word(record->resolution)),
                STR_ARG(record->resolved_by), record->note.len > 0 ? ": " : "",
                STR_ARG(record->note));
        print_instant(out, "  at          ", record->resolved_us);
    }
    fprintf(out, "  bytes       %" PRId64 "\n\n", record->bytes);
}

static bool print_json(const struct quarantined *record, struct session *session, FILE *out,
                       struct error *err)
{
    struct output output;

    return view_quarantined_write(output_begin(&output, &session->arena), &session->arena, record,
                                  err) &&
           output_end(&output, out, err);
}

static bool show_one(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct quarantined record;
    int64_t id;

    (void)code;
    if (!invocation_row(invocation, 0, "quarantined record", &id, err) ||
        !view_quarantined(&reader, id, &record, err))
        return false;
    if (invocation_flag(invocation, "json"))
        return print_json(&record, session, invocation->out, err);
    if (!invocation_flag(invocation, "raw"))
        print_text(&record, invocation->out);
    if (!output_bytes(invocation->out, record.payload, err))
        return false;
    if (!invocation_flag(invocation, "raw"))
        fprintf(invocation->out, "\n");
    return true;
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_one);
}

static const struct command show_command = {
    .name = "show",
    .summary = "show a quarantined record: the reason, its origin, its bytes",
    .operands = "ID",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Shows what is wrong with the record, the batch it was received in, what became of it,\n"
        "and its bytes as they were received.",
    .options = { { "raw", NULL, "Print only the bytes." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_show,
};

static const struct command *const children[] = {
    &list_command, &show_command, &QUARANTINE_RETRY, &QUARANTINE_DROP, NULL,
};

const struct command COMMAND_QUARANTINE = {
    .name = "quarantine",
    .summary = "list, retry and drop quarantined records",
    .description =
        "A record that has no id, an unreadable date, or no value for a required field is\n"
        "stored in quarantine with its bytes; the rest of its batch is processed. After the\n"
        "source file has been corrected, `retry` reads such records again; `drop` discards what\n"
        "is not a record.",
    .children = children,
};
