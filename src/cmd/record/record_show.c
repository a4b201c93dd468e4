/* patra record show. */
#include <inttypes.h>

#include "base/instant.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cmd/record/record.h"
#include "data/json.h"
#include "data/json_write.h"
#include "view/record.h"

static void print_instant(FILE *out, const char *label, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    (void)instant_format(at_us, text);
    fprintf(out, "  %-11s %s\n", label, text);
}

static void print_state(const struct view_record *view, FILE *out)
{
    const struct stored_record *record = &view->record;
    const struct lineage *lineage = &record->lineage;

    fprintf(out, "record %.*s%s\n", STR_ARG(record->provider_id),
            record->is_deleted ? ", deleted" : "");
    fprintf(out, "  %-11s %.*s/%.*s\n", "endpoint", STR_ARG(record->source),
            STR_ARG(record->endpoint));
    fprintf(out, "  %-11s %" PRId64 "\n", "version", record->version);
    if (record->has_updated)
        print_instant(out, "updated", record->updated_us);
    if (record->provider_version.len > 0)
        fprintf(out, "  %-11s %.*s, as the source numbers it\n", "revision",
                STR_ARG(record->provider_version));
    print_instant(out, "first seen", record->created_us);
    if (view->changed_us != 0)
        print_instant(out, "changed", view->changed_us);
    print_instant(out, "observed", record->observed_us);
    print_instant(out, "checked", record->checked_us);
    fprintf(out,
            "  %-11s plan %" PRId64 ", slice %" PRId64 ", task %" PRId64 ", run %" PRId64
            ", batch %" PRId64 "\n",
            "received in", lineage->plan_id, lineage->slice_id, lineage->task_id, lineage->run_id,
            lineage->batch_id);
    fprintf(out, "  %-11s %zu\n", "bytes", record->payload.len);
}

/* A text as people write it: without \/ and \u00e9. Anything else as it came. */
static bool value_of(const struct json_doc *doc, struct json_node value, struct arena *arena,
                     struct str *shown, struct error *err)
{
    struct str text;
    struct buf out;

    *shown = json_raw(doc, value);
    if (json_type(doc, value) != JSON_STRING)
        return true;
    if (!json_string(doc, value, arena, &text, err))
        return false;
    buf_init(&out, arena, 6 * text.len + 2);
    json_quote(&out, text);
    *shown = buf_str(&out);
    return buf_ok(&out, err);
}

static bool print_fields(const struct derived_fields *fields, struct arena *arena, FILE *out,
                         struct error *err)
{
    struct json_doc doc;
    struct json_iter it;
    struct str name, value;

    if (fields->json.len == 0) {
        fprintf(out, "\nno fields: %.*s\n", STR_ARG(fields->missing));
        return true;
    }
    if (!json_parse(&doc, arena, fields->json, err))
        return false;
    fprintf(out, "\nfields\n");
    for (it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        if (!json_string(&doc, it.name, arena, &name, err) ||
            !value_of(&doc, it.value, arena, &value, err))
            return false;
        fprintf(out, "  %-11.*s %.*s\n", STR_ARG(name), STR_ARG(value));
    }
    return true;
}

static void print_history(const struct view_record *view, FILE *out)
{
    char at[INSTANT_TEXT_MAX];

    if (!view->has_history)
        return;
    fprintf(out, "\nhistory%s\n", view->history.count == 0 ? ": its events are gone" : "");
    if (view->history.count > 0 && view->history.items[0].event.version > 1)
        fprintf(out, "  the events of earlier versions are gone\n");
    for (size_t i = 0; i < view->history.count; i++) {
        const struct outbox_event *event = &view->history.items[i].event;

        (void)instant_format(event->occurred_us, at);
        fprintf(out, "  version %" PRId64 "  %s  %.*s  %.*s\n", event->version, at,
                STR_ARG(event->event_type), STR_ARG(event->event_id));
    }
    if (view->history_is_full)
        fprintf(out, "  ... and later ones\n");
}

static bool print_text(const struct view_record *view, struct arena *arena, FILE *out,
                       struct error *err)
{
    print_state(view, out);
    if (!print_fields(&view->fields, arena, out, err))
        return false;
    print_history(view, out);
    fprintf(out, "\n%.*s\n", STR_ARG(view->record.payload));
    return true;
}

static bool print_json(const struct view_record *view, struct session *session, FILE *out,
                       struct error *err)
{
    struct output output;

    return view_record_write(output_begin(&output, &session->arena), &session->arena, view, err) &&
           output_end(&output, out, err);
}

static bool show_record(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    const struct view_record_query query = {
        .key = { .source = str_of(invocation->operands[0]),
                 .endpoint = str_of(invocation_value(invocation, "endpoint")),
                 .provider_id = str_of(invocation->operands[1]) },
        .with_history = invocation_flag(invocation, "history"),
        .specs = session->specs,
    };
    struct view_record view;

    (void)code;
    if (invocation_flag(invocation, "raw") &&
        (invocation_flag(invocation, "json") || query.with_history))
        return command_misused(err, "--raw prints only the bytes: not with --json or --history");
    if (!view_record(&reader, &query, &view, err))
        return false;
    if (invocation_flag(invocation, "json"))
        return print_json(&view, session, invocation->out, err);
    if (!invocation_flag(invocation, "raw"))
        return print_text(&view, &session->arena, invocation->out, err);
    return output_bytes(invocation->out, view.record.payload, err);
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_record);
}

const struct command RECORD_SHOW = {
    .name = "show",
    .summary = "show a record: its fields, its versions, where it came from, its bytes",
    .operands = "SOURCE ID",
    .operands_min = 2,
    .operands_max = 2,
    .description =
        "Shows the record that the source has under this id. Its fields are derived by the\n"
        "mapping that is in force now. UPDATED is the source's own date, CHANGED when patra\n"
        "stored this version, OBSERVED when the request was sent that brought or last confirmed\n"
        "it. With --history its events are shown too, one for each version.",
    .options = { { "endpoint", "ENDPOINT", "Of this endpoint, where several have the id." },
                 { "history", NULL, "Show its events too." },
                 { "raw", NULL, "Print only the bytes, exactly as received." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_show,
};
