/* patra why: one record, from the source to everybody who reads it. */
#include "cmd/why.h"

#include <inttypes.h>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "data/json.h"
#include "view/why.h"
#include "worker/session_sinks.h"

struct page {
    const struct view_why *why;
    struct arena *arena;
    FILE *out;
};

static struct str at(const struct page *page, int64_t at_us)
{
    return text_instant_in(page->arena, at_us);
}

/* ---- the answer ---- */

static void print_verdict(const struct page *page)
{
    const struct view_why *why = page->why;
    const struct record_key *key = &why->key;

    fprintf(page->out, "%.*s of %.*s%s%.*s is %s", STR_ARG(key->provider_id), STR_ARG(key->source),
            key->endpoint.len > 0 ? "/" : "", STR_ARG(key->endpoint),
            !why->has_record         ? "not there"
            : why->record.is_deleted ? "deleted"
            : view_why_is_there(why) ? "there"
                                     : "stored, but not everywhere");
    if (why->has_record)
        fprintf(page->out, ", version %" PRId64, why->record.version);
    fprintf(page->out, "\n");
    for (size_t i = 0; i < why->findings.count; i++) {
        const struct why_finding *finding = &why->findings.items[i];

        if (finding->step == WHY_ID)
            fprintf(page->out, "\n%s: %.*s\n", i == 0 ? "perhaps another is meant" : "see also",
                    STR_ARG(finding->text));
        else
            fprintf(page->out, "\n%s %.*s: %.*s\n", i == 0 ? "first missing at" : "also missing at",
                    STR_ARG(why_step_name(finding->step)), STR_ARG(finding->text));
        if (finding->command.len > 0)
            fprintf(page->out, "    %.*s\n", STR_ARG(finding->command));
    }
}

/* ---- the record ---- */

static void print_record(const struct page *page)
{
    const struct stored_record *record = &page->why->record;

    if (!page->why->has_record || page->why->is_foreign)
        return;
    fprintf(page->out, "\nrecord\n");
    if (record->has_updated)
        fprintf(page->out, "  updated     %.*s, by the source\n",
                STR_ARG(at(page, record->updated_us)));
    fprintf(page->out, "  first seen  %.*s\n", STR_ARG(at(page, record->created_us)));
    fprintf(page->out, "  observed    %.*s\n", STR_ARG(at(page, record->observed_us)));
    fprintf(page->out, "  checked     %.*s\n", STR_ARG(at(page, record->checked_us)));
}

/* "GET https://api.crossref.org/works?rows=500&cursor=*" */
static bool print_asked(const struct page *page, struct str digest, struct error *err)
{
    struct json_doc doc;
    struct json_iter it;
    struct json_node root, url;
    char mark = '?';

    if (!json_parse(&doc, page->arena, digest, err))
        return error_wrap(err, "the digest of a request");
    root = json_root(&doc);
    url = json_get(&doc, root, STR("url"));
    if (!json_exists(url))
        url = json_get(&doc, root, STR("urlTemplate"));
    fprintf(page->out, "     %.*s %.*s",
            STR_ARG(json_string_raw(&doc, json_get(&doc, root, STR("method")))),
            STR_ARG(json_string_raw(&doc, url)));
    for (it = json_each(&doc, json_get(&doc, root, STR("query"))); json_next(&it); mark = '&')
        fprintf(page->out, "%c%.*s=%.*s", mark, STR_ARG(json_string_raw(&doc, it.name)),
                STR_ARG(json_string_raw(&doc, it.value)));
    fprintf(page->out, "\n");
    return true;
}

static bool print_request(const struct page *page, const struct trace_request *request,
                          struct error *err)
{
    fprintf(page->out,
            "     received in batch %" PRId64 ", run %" PRId64 " (attempt %" PRId64
            "), task %" PRId64 ", plan %" PRId64 ", %.*s, at %.*s\n",
            request->lineage.batch_id, request->lineage.run_id, request->attempt,
            request->lineage.task_id, request->lineage.plan_id,
            STR_ARG(code_of(&OPERATION_CODES, (int)request->operation)),
            STR_ARG(at(page, request->committed_us)));
    return print_asked(page, request->digest, err);
}

static void print_changed(const struct page *page, const struct why_version *version)
{
    if (version->has_before)
        fprintf(page->out, "     changed: %s", version->changed.count == 0 ? "no field" : "");
    for (size_t i = 0; i < version->changed.count; i++)
        fprintf(page->out, "%s%.*s", i > 0 ? ", " : "", STR_ARG(version->changed.items[i]));
    if (version->has_before)
        fprintf(page->out, "%s%s\n", version->is_same_date ? "; without a new date" : "",
                version->is_rederived ? "; read again by a changed mapping" : "");
}

static bool print_versions(const struct page *page, struct error *err)
{
    const struct why_version_list *versions = &page->why->versions;

    if (!page->why->has_record)
        return true;
    fprintf(page->out, "\nversions%s\n", versions->count == 0 ? ": their events are gone" : "");
    for (size_t i = 0; i < versions->count; i++) {
        const struct why_version *version = &versions->items[i];
        const struct trace_event *event = &version->event;

        fprintf(page->out, "  %" PRId64 "  %.*s  %.*s\n", event->event.version,
                STR_ARG(at(page, event->event.occurred_us)), STR_ARG(event->event.event_type));
        print_changed(page, version);
        if (version->has_request && !print_request(page, &version->request, err))
            return false;
        fprintf(page->out, "     event %.*s, lane %" PRId64, STR_ARG(event->event.event_id),
                event->event.lane);
        if (event->pos > 0)
            fprintf(page->out, ", position %" PRId64 " since %.*s\n", event->pos,
                    STR_ARG(at(page, event->sequenced_us)));
        else
            fprintf(page->out, ", not in the stream yet\n");
    }
    if (versions->is_full)
        fprintf(page->out, "  ... and earlier ones\n");
    return true;
}

/* ---- who was to fetch it ---- */

static bool print_windows(const struct page *page, struct error *err)
{
    static const char *const heads[] = { "OPERATION", "FROM", "TO", "STATE", "TASK", "PLAN" };
    const struct view_why *why = page->why;
    struct columns columns;

    if (!why->has_date)
        return true;
    fprintf(page->out, "\nwindows that hold its date, %.*s\n", STR_ARG(at(page, why->date_us)));
    columns_init(&columns, page->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < why->windows.count; i++) {
        const struct why_window *window = &why->windows.items[i];
        const struct task *task = &window->ended.task;

        columns_cell(&columns, code_of(&OPERATION_CODES, (int)task->operation));
        columns_window(&columns, task->window, why->now_us);
        columns_cell(&columns, code_of(&TASK_STATUS_CODES, (int)task->status));
        columns_i64(&columns, task->id);
        columns_i64(&columns, task->plan_id);
        columns_note(&columns, task->last_error);
        if (window->is_former)
            columns_note(&columns, STR("of a query that is no longer in force"));
    }
    for (size_t i = 0; i < why->plans.count; i++) {
        const struct why_plan *plan = &why->plans.items[i];

        columns_cell(&columns, code_of(&OPERATION_CODES, (int)plan->plan.operation));
        columns_window(&columns, plan->plan.window, why->now_us);
        columns_cell(&columns, code_of(&PLAN_STATUS_CODES, (int)plan->plan.status));
        columns_cell(&columns, STR("-"));
        columns_i64(&columns, plan->plan.id);
        if (plan->is_former)
            columns_note(&columns, STR("of a query that is no longer in force"));
    }
    return columns_print(&columns, page->out, err);
}

static void print_listed(const struct page *page)
{
    const struct view_why *why = page->why;

    for (size_t i = 0; i < why->listed.count; i++)
        fprintf(page->out, "%slisted by task %" PRId64 " of plan %" PRId64 ", %.*s\n",
                i == 0 ? "\n" : "", why->listed.items[i].task.id, why->listed.items[i].task.plan_id,
                STR_ARG(code_of(&TASK_STATUS_CODES, (int)why->listed.items[i].task.status)));
}

static bool print_signals(const struct page *page, struct error *err)
{
    static const char *const heads[] = { "ID", "SINCE", "BY", "STATE" };
    const struct view_why *why = page->why;
    struct columns columns;

    if (why->signals.count == 0)
        return true;
    fprintf(page->out, "\nsignals\n");
    columns_init(&columns, page->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < why->signals.count; i++) {
        const struct signal_past *past = &why->signals.items[i];

        columns_i64(&columns, past->signal.id);
        columns_brief(&columns, past->signal.created_us, why->now_us);
        columns_cell(&columns, past->signal.created_by);
        columns_cell(&columns,
                     past->consumed_us == 0 ? STR("open")
                     : past->plan_id == 0
                         ? arena_printf(page->arena, "closed by %.*s", STR_ARG(past->closed_by))
                         : arena_printf(page->arena, "taken by plan %" PRId64, past->plan_id));
        columns_note(&columns, past->signal.reason);
        columns_note(&columns, past->signal.detail);
    }
    return columns_print(&columns, page->out, err);
}

static bool print_quarantine(const struct page *page, struct error *err)
{
    static const char *const heads[] = { "ID", "OBSERVED", "STATE", "REASON" };
    const struct view_why *why = page->why;
    struct columns columns;

    if (why->quarantine.count == 0)
        return true;
    fprintf(page->out, "\nquarantine\n");
    columns_init(&columns, page->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < why->quarantine.count; i++) {
        const struct quarantined *bad = &why->quarantine.items[i];

        columns_i64(&columns, bad->id);
        columns_brief(&columns, bad->observed_us, why->now_us);
        columns_cell(&columns, bad->resolution == QUARANTINE_OPEN
                                   ? STR("OPEN")
                                   : quarantine_resolution_word(bad->resolution));
        columns_cell(&columns, bad->reason);
        columns_note(&columns, bad->detail);
        columns_note(&columns, bad->note);
    }
    return columns_print(&columns, page->out, err);
}

/* ---- who reads it ---- */

static bool print_deliveries(const struct page *page, struct error *err)
{
    static const char *const heads[] = { "SUBSCRIPTION", "KIND", "STATE", "EVENT" };
    const struct view_why *why = page->why;
    struct columns columns;

    if (!why->has_record)
        return true;
    fprintf(page->out, "\npublisher   %s%.*s\n", why->has_sequencer ? "" : "none runs",
            STR_ARG(why->has_sequencer ? why->sequencer.owner : STR("")));
    if (why->deliveries.count == 0)
        return true;
    fprintf(page->out, "\n");
    columns_init(&columns, page->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < why->deliveries.count; i++) {
        const struct why_delivery *delivery = &why->deliveries.items[i];
        const struct subscription *subscription = &delivery->subscription;

        columns_cell(&columns, subscription->name);
        columns_cell(&columns, code_of(&SUBSCRIPTION_KIND_CODES, (int)subscription->kind));
        columns_cell(&columns, code_of(&SUBSCRIPTION_STATE_CODES, (int)subscription->state));
        columns_cell(&columns, why_delivery_name(delivery->state));
        for (size_t k = 0; k < delivery->rows.count; k++) {
            const struct why_row *row = &delivery->rows.items[k];

            columns_note(&columns, arena_printf(page->arena, "%.*s: %.*s", STR_ARG(row->table),
                                                STR_ARG(why_row_name(row->state))));
        }
    }
    return columns_print(&columns, page->out, err);
}

static bool print_page(const struct page *page, struct error *err)
{
    print_verdict(page);
    print_record(page);
    if (!print_windows(page, err))
        return false;
    print_listed(page);
    return print_signals(page, err) && print_quarantine(page, err) && print_versions(page, err) &&
           print_deliveries(page, err);
}

static bool why(const struct invocation *invocation, struct session *session, enum exit_code *code,
                struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct session_sinks sinks = session_sinks(session);
    struct view_why_query query = {
        .sinks = &sinks.sinks,
        .key = { .source = str_of(invocation->operands[0]),
                 .endpoint = str_of(invocation_value(invocation, "endpoint")),
                 .provider_id = str_of(invocation->operands[1]) },
    };
    struct view_why view;
    struct page page = { &view, &session->arena, invocation->out };
    struct output output;

    query.has_date = invocation_value(invocation, "date") != NULL;
    if (!invocation_instant(invocation, "date", reader.now_us, &query.date_us, err) ||
        !view_why(&reader, &query, &view, err))
        return false;
    *code = view_why_is_there(&view) ? EXIT_DONE : EXIT_FOUND;
    if (!invocation_flag(invocation, "json"))
        return print_page(&page, err);
    view_why_write(output_begin(&output, &session->arena), &view);
    return output_end(&output, invocation->out, err);
}

static enum exit_code cmd_why(const struct invocation *invocation)
{
    return session_run(invocation, why);
}

const struct command COMMAND_WHY = {
    .name = "why",
    .summary = "show where a record is on its way, and what is missing",
    .operands = "SOURCE ID",
    .operands_min = 2,
    .operands_max = 2,
    .description =
        "Shows one record from the source to everybody who reads it: the windows that hold its\n"
        "date, the requests that brought it, its versions and what changed with each, its\n"
        "quarantine and signals, its place in the stream, and each subscription. Where something\n"
        "is missing it names the first step at which that is so, and the command that heals it.\n"
        "SOURCE may also be the type of another service's aggregates, whose events are imported.\n"
        "The date of a record that was never stored is not known; --date gives it. The exit code\n"
        "is 1 if something is missing. See docs/operate.md.",
    .options = { { "endpoint", "ENDPOINT", "Of this endpoint, where several have the id." },
                 { "date", "INSTANT",
                   "The date that the source gives a record that is not there." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_why,
};
