#include "cmd/quarantine/quarantine.h"

#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "data/base64.h"

enum { LIST_DEFAULT = 50, LIST_MAX = 10000 };

/* ---- what the files share ---- */

bool quarantine_read_id(const char *operand, int64_t *id)
{
    return operand[0] >= '0' && operand[0] <= '9' && str_to_i64(str_of(operand), id) && *id > 0;
}

struct quarantine_filter quarantine_filter_read(const struct invocation *invocation,
                                                struct str source)
{
    return (struct quarantine_filter){
        .source = source,
        .endpoint = str_of(invocation_value(invocation, "endpoint")),
        .reason = str_of(invocation_value(invocation, "reason")),
    };
}

static void write_lineage(struct json_writer *w, const struct lineage *lineage)
{
    json_write_name(w, STR("lineage"));
    json_write_object(w);
    json_write_member_i64(w, STR("plan"), lineage->plan_id);
    json_write_member_i64(w, STR("slice"), lineage->slice_id);
    json_write_member_i64(w, STR("task"), lineage->task_id);
    json_write_member_i64(w, STR("run"), lineage->run_id);
    json_write_member_i64(w, STR("batch"), lineage->batch_id);
    json_write_end(w);
}

/* The members of an object that is open. */
static void write_members(struct json_writer *w, const struct quarantined *record)
{
    json_write_member_i64(w, STR("id"), record->id);
    json_write_member_str(w, STR("source"), record->source);
    json_write_member_str(w, STR("endpoint"), record->endpoint);
    json_write_member_str(w, STR("recordId"), record->provider_id);
    json_write_member_str(w, STR("reason"), record->reason);
    json_write_member_str(w, STR("detail"), record->detail);
    json_write_member_instant(w, STR("since"), record->created_us);
    json_write_member_i64(w, STR("position"), record->position);
    json_write_member_i64(w, STR("bytes"), record->bytes);
    write_lineage(w, &record->lineage);
    json_write_member_str(w, STR("state"),
                          record->resolution == QUARANTINE_OPEN
                              ? STR("OPEN")
                              : quarantine_resolution_word(record->resolution));
    if (record->resolution == QUARANTINE_OPEN)
        return;
    json_write_member_instant(w, STR("resolvedAt"), record->resolved_us);
    json_write_member_str(w, STR("resolvedBy"), record->resolved_by);
    json_write_member_str(w, STR("note"), record->note);
}

/* ---- list ---- */

static void write_row(struct json_writer *w, const void *records, size_t i)
{
    write_members(w, (const struct quarantined *)records + i);
}

static bool list_rows(const struct quarantined_list *list, struct session *session, FILE *out,
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

static bool list_sums(struct session *session, struct str source, FILE *out, struct error *err)
{
    static const char *const heads[] = { "SOURCE", "ENDPOINT", "REASON", "OPEN", "FIRST", "LAST" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct quarantine_sum_list sums;
    struct columns columns;

    if (!store_quarantine_sums(session->store, &session->arena, source, &sums, err))
        return false;
    if (sums.count == 0)
        return true;
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < sums.count; i++) {
        const struct quarantine_sum *sum = &sums.items[i];

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
    const struct str source =
        str_of(invocation->operand_count > 0 ? invocation->operands[0] : NULL);
    struct quarantine_filter filter = quarantine_filter_read(invocation, source);
    struct quarantined_list list;

    (void)code;
    filter.with_resolved = invocation_flag(invocation, "all");
    if (!invocation_number(invocation, "limit", (struct option_range){ 1, LIST_MAX, LIST_DEFAULT },
                           &filter.limit, err) ||
        !store_quarantine_list(session->store, &session->arena, &filter, &list, err) ||
        (list.count == 0 && !session_knows(session, source, err)))
        return false;
    if (invocation_flag(invocation, "json"))
        return output_list(invocation->out, &session->arena, list.items, list.count, write_row,
                           err);
    if (!list_sums(session, source, invocation->out, err) ||
        !list_rows(&list, session, invocation->out, err))
        return false;
    if ((int64_t)list.count == filter.limit)
        fprintf(invocation->talk, "the first %" PRId64 "; --limit shows more\n", filter.limit);
    return true;
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_quarantine);
}

static const struct command list = {
    .name = "list",
    .summary = "list records that could not be judged",
    .operands = "[SOURCE]",
    .operands_max = 1,
    .description =
        "First how many wait, by source, endpoint and reason; then the records themselves,\n"
        "oldest first. RECORD is the provider's id, where one could be read.",
    .options = { QUARANTINE_FILTER_OPTIONS,
                 { "all", NULL, "Also those that were retried or dropped." },
                 { "limit", "N", "So many at most, 1 to 10000 (50)." },
                 { "json", NULL, "JSON instead of a text." },
                 SESSION_OPTION },
    .run = cmd_list,
};

/* ---- show ---- */

static bool show_json(const struct quarantined *record, struct session *session, FILE *out,
                      struct error *err)
{
    const bool is_text = str_is_utf8(record->payload);
    struct json_writer w;
    struct buf text, coded;

    buf_init(&text, &session->arena, QUARANTINE_OUTPUT_MAX);
    json_writer_init(&w, &text);
    json_write_object(&w);
    write_members(&w, record);
    if (is_text) {
        json_write_member_str(&w, STR("payload"), record->payload);
    } else {
        buf_init(&coded, &session->arena, QUARANTINE_OUTPUT_MAX);
        base64_encode(&coded, record->payload);
        json_write_member_str(&w, STR("payloadBase64"), buf_str(&coded));
    }
    json_write_end(&w);
    return output_json(out, &w, err);
}

static void show_instant(FILE *out, const char *label, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    (void)instant_format(at_us, text);
    fprintf(out, "%s%s\n", label, text);
}

static void show_text(const struct quarantined *record, FILE *out)
{
    fprintf(out, "quarantined record %" PRId64 "\n", record->id);
    fprintf(out, "  of          %.*s/%.*s\n", STR_ARG(record->source), STR_ARG(record->endpoint));
    fprintf(
        out, "  record      %.*s\n",
        STR_ARG(record->provider_id.len > 0 ? record->provider_id : STR("no id could be read")));
    fprintf(out, "  reason      %.*s: %.*s\n", STR_ARG(record->reason), STR_ARG(record->detail));
    show_instant(out, "  since       ", record->created_us);
    fprintf(out,
            "  came with   plan %" PRId64 ", task %" PRId64 ", run %" PRId64 ", batch %" PRId64
            ", place %" PRId64 " on its page\n",
            record->lineage.plan_id, record->lineage.task_id, record->lineage.run_id,
            record->lineage.batch_id, record->position);
    if (record->resolution != QUARANTINE_OPEN) {
        fprintf(out, "  %-11.*s by %.*s%s%.*s\n",
                STR_ARG(quarantine_resolution_word(record->resolution)),
                STR_ARG(record->resolved_by), record->note.len > 0 ? ": " : "",
                STR_ARG(record->note));
        show_instant(out, "  at          ", record->resolved_us);
    }
    fprintf(out, "  bytes       %" PRId64 "\n\n", record->bytes);
}

static bool show_one(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    struct quarantined record;
    int64_t id;
    bool found;

    (void)code;
    if (!invocation_row(invocation, 0, "quarantined record", &id, err) ||
        !store_quarantine_get(session->store, &session->arena, id, &record, &found, err))
        return false;
    if (!found)
        return error_set(err, ERROR_REQUEST, "quarantine.unknown",
                         "nothing in quarantine has the number %" PRId64, id);
    if (invocation_flag(invocation, "json"))
        return show_json(&record, session, invocation->out, err);
    if (!invocation_flag(invocation, "raw"))
        show_text(&record, invocation->out);
    (void)fwrite(record.payload.data, 1, record.payload.len, invocation->out);
    if (!invocation_flag(invocation, "raw"))
        fprintf(invocation->out, "\n");
    return true;
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_one);
}

static const struct command show = {
    .name = "show",
    .summary = "show one of them: why, where it came from, its bytes",
    .operands = "ID",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "What was wrong with the record, with which batch it came, what became of it, and\n"
        "its bytes as they were received.",
    .options = { { "raw", NULL, "The bytes alone." },
                 { "json", NULL, "JSON instead of a text." },
                 SESSION_OPTION },
    .run = cmd_show,
};

static const struct command *const children[] = {
    &list, &show, &QUARANTINE_RETRY, &QUARANTINE_DROP, NULL,
};

const struct command COMMAND_QUARANTINE = {
    .name = "quarantine",
    .summary = "see and settle records that could not be judged",
    .description =
        "A record without an id, with a date nobody can read, or without a required field is put\n"
        "aside with its bytes; the rest of its batch goes on. When the source file is mended, "
        "such\n"
        "records are read again by `retry`; what is nothing at all is `drop`ped.",
    .children = children,
};
