/* patra record list and count. */
#include "cmd/record/record.h"

#include <inttypes.h>

#include "base/instant.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "view/record.h"

enum { LIST_DEFAULT = 50, LIST_MAX = 10000 };

/* ---- list ---- */

static bool print_list(const struct view_record_list *list, struct session *session, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "ENDPOINT", "VERSION", "UPDATED", "CHANGED",
                                         "BYTES",    "STATE",   "ID" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->records.count; i++) {
        const struct record_entry *entry = &list->records.items[i];

        columns_cell(&columns, entry->endpoint);
        columns_i64(&columns, entry->version);
        if (entry->has_updated)
            columns_brief(&columns, entry->updated_us, now_us);
        else
            columns_cell(&columns, STR("-"));
        if (entry->changed_us != 0)
            columns_brief(&columns, entry->changed_us, now_us);
        else
            columns_cell(&columns, STR("-"));
        columns_i64(&columns, entry->bytes);
        columns_cell(&columns, entry->is_deleted ? STR("deleted") : STR("live"));
        columns_cell(&columns, entry->provider_id);
    }
    return columns_print(&columns, out, err);
}

static bool read_list(const struct invocation *invocation, struct session *session,
                      struct record_walk *walk, struct error *err)
{
    const char *after = invocation_value(invocation, "after");

    *walk = (struct record_walk){
        .source = str_of(invocation->operands[0]),
        .endpoint = str_of(invocation_value(invocation, "endpoint")),
        .states = invocation_flag(invocation, "deleted") ? RECORDS_DELETED : RECORDS_LIVE,
        .by_change = invocation_value(invocation, "since") != NULL,
        .changed_to_us = INSTANT_MAX,
        .with_changed = true,
    };
    if (after != NULL && !view_record_place(str_of(after), &walk->after))
        return command_misused(err, "--after takes what the page before named, such as works/512");
    return invocation_number(invocation, "limit",
                             (struct option_range){ 1, LIST_MAX, LIST_DEFAULT }, &walk->limit,
                             err) &&
           invocation_instant(invocation, "since", clock_now_us(&session->clock),
                              &walk->changed_from_us, err);
}

static bool list_records(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_record_list list;
    struct record_walk walk;
    struct output output;

    (void)code;
    if (!read_list(invocation, session, &walk, err) ||
        !view_record_list(&reader, &walk, &list, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_record_list_write(output_begin(&output, &session->arena), &list);
        return output_end(&output, invocation->out, err);
    }
    if (!print_list(&list, session, invocation->out, err))
        return false;
    if (list.next.len > 0)
        fprintf(invocation->talk, "the next page: --after %.*s\n", STR_ARG(list.next));
    return true;
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_records);
}

static const struct command list_command = {
    .name = "list",
    .summary = "list records of a source",
    .operands = "SOURCE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Lists records by endpoint, in the order in which they were first stored. UPDATED is the\n"
        "source's date, CHANGED when patra stored this version. A page ends after --limit\n"
        "records and says where the next one begins.",
    .options = { { "endpoint", "ENDPOINT", "Only records of this endpoint." },
                 { "since", "TIME", "Only records that changed since: a date, or 3d." },
                 { "deleted", NULL, "List deleted records instead of the others." },
                 { "after", "PLACE", "Begin after this place, which the page before named." },
                 { "limit", "N", "Show at most N records, 1 to 10000 (50)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_list,
};

/* ---- count ---- */

static bool print_counts(const struct view_record_count_list *list, struct session *session,
                         FILE *out, struct error *err)
{
    static const char *const heads[] = { "SOURCE", "ENDPOINT", "RECORDS", "DELETED",
                                         "QUARANTINED" };
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        columns_cell(&columns, list->items[i].records.source);
        columns_cell(&columns, list->items[i].records.endpoint);
        columns_i64(&columns, list->items[i].records.live);
        columns_i64(&columns, list->items[i].records.deleted);
        columns_i64(&columns, list->items[i].quarantined);
    }
    return columns_print(&columns, out, err);
}

static bool count_records(const struct invocation *invocation, struct session *session,
                          enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    const struct str source =
        str_of(invocation->operand_count > 0 ? invocation->operands[0] : NULL);
    struct view_record_count_list list;
    struct output output;

    (void)code;
    if (!view_record_counts(&reader, source, &list, err))
        return false;
    if (!invocation_flag(invocation, "json"))
        return print_counts(&list, session, invocation->out, err);
    view_record_counts_write(output_begin(&output, &session->arena), &list);
    return output_end(&output, invocation->out, err);
}

static enum exit_code cmd_count(const struct invocation *invocation)
{
    return session_run(invocation, count_records);
}

static const struct command count_command = {
    .name = "count",
    .summary = "count records by source and endpoint",
    .operands = "[SOURCE]",
    .operands_max = 1,
    .description =
        "Counts the records of each endpoint, those that were deleted at the source, and the\n"
        "open ones in quarantine. Every record is counted, which takes about a second for ten\n"
        "million of them.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_count,
};

static const struct command *const children[] = {
    &list_command, &RECORD_SHOW, &count_command, &RECORD_EXPORT, NULL,
};

const struct command COMMAND_RECORD = {
    .name = "record",
    .summary = "list, show, count and export records",
    .description =
        "A record is what a source has under one id: its bytes as received, and what patra\n"
        "knows of it.",
    .children = children,
};
