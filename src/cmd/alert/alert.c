/* patra alert list and show. */
#include "cmd/alert/alert.h"

#include <inttypes.h>

#include "base/instant.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "view/alert.h"

enum { LIST_MAX = 1000 };

/* ---- list ---- */

static struct str state_of(const struct view_alert *view)
{
    return view->alert.resolved_us != 0 ? STR("resolved")
           : view->alert.fired_us == 0  ? STR("pending")
           : view->is_silenced          ? STR("silenced")
                                        : STR("open");
}

static bool print_list(const struct view_alert_list *list, struct session *session, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "ALERT", "SEVERITY", "RULE", "ABOUT", "STATE", "SINCE" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        const struct view_alert *view = &list->items[i];

        columns_i64(&columns, view->alert.id);
        columns_cell(&columns, code_of(&ALERT_SEVERITY_CODES, (int)view->alert.severity));
        columns_cell(&columns, view->alert.rule);
        columns_cell(&columns, view->alert.subject);
        columns_cell(&columns, state_of(view));
        columns_brief(&columns, view->alert.since_us, now_us);
        columns_note(&columns, view->alert.text);
    }
    return columns_print(&columns, out, err);
}

static bool list_alerts(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    const bool all = invocation_flag(invocation, "all");
    const struct alert_query query = { .with_pending = all,
                                       .with_resolved = all,
                                       .source = str_of(invocation_value(invocation, "source")),
                                       .limit = LIST_MAX };
    const struct view_reader reader = session_reader(session);
    struct view_alert_list list;
    struct output output;

    if (!view_alert_list(&reader, &query, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].alert.fired_us != 0 && list.items[i].alert.resolved_us == 0 &&
            !list.items[i].is_silenced)
            *code = EXIT_FOUND;
    }
    if (!invocation_flag(invocation, "json"))
        return print_list(&list, session, invocation->out, err);
    view_alert_list_write(output_begin(&output, &session->arena), &list);
    return output_end(&output, invocation->out, err);
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_alerts);
}

static const struct command list = {
    .name = "list",
    .summary = "list what is wrong",
    .operands_max = 0,
    .description =
        "Lists the alerts that are open, the most severe first. With --all also those that have\n"
        "not held long enough to be notified, and the latest that are resolved. The exit code is "
        "1\n"
        "if one is open and not silenced. Alerts are found by patra serve (role planner).",
    .options = { { "all", NULL, "Also pending and resolved ones." },
                 { "source", "SOURCE", "Only those about this source." },
                 { "json", NULL, "Print JSON, with the silences in force." },
                 SESSION_OPTION },
    .run = cmd_list,
};

/* ---- show ---- */

static void print_instant(FILE *out, const char *name, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    const size_t len = instant_format(at_us, text);

    if (at_us != 0)
        fprintf(out, "%-10s  %.*s\n", name, (int)len, text);
}

static void print_notice(FILE *out, const struct alert_notice *notice)
{
    char text[INSTANT_TEXT_MAX];
    const int64_t at_us = notice->sent_us != 0      ? notice->sent_us
                          : notice->gave_up_us != 0 ? notice->gave_up_us
                                                    : notice->next_try_us;
    const size_t len = instant_format(at_us, text);

    fprintf(out, "  %-8.*s  %.*s  %s %.*s",
            STR_ARG(code_of(&ALERT_NOTICE_CODES, (int)notice->kind)), STR_ARG(notice->receiver),
            notice->sent_us != 0      ? "sent"
            : notice->gave_up_us != 0 ? "given up"
                                      : "to be sent",
            (int)len, text);
    if (notice->last_error.len > 0)
        fprintf(out, " (%" PRId64 " tries: %.*s)", notice->attempts, STR_ARG(notice->last_error));
    fputc('\n', out);
}

static void print_one(const struct view_alert_one *one, FILE *out)
{
    const struct alert *alert = &one->alert.alert;

    fprintf(out, "alert %" PRId64 ": %.*s, %.*s\n%.*s\n\n", alert->id, STR_ARG(alert->rule),
            STR_ARG(alert->subject), STR_ARG(alert->text));
    fprintf(out, "%-10s  %.*s\n", "state", STR_ARG(state_of(&one->alert)));
    fprintf(out, "%-10s  %.*s\n", "severity",
            STR_ARG(code_of(&ALERT_SEVERITY_CODES, (int)alert->severity)));
    print_instant(out, "since", alert->since_us);
    print_instant(out, "fired", alert->fired_us);
    print_instant(out, "last seen", alert->seen_us);
    print_instant(out, "resolved", alert->resolved_us);
    fprintf(out, "%-10s  %.*s\n", "what to do", STR_ARG(one->alert.runbook));
    fprintf(out, "\nwho was notified\n");
    for (size_t i = 0; i < one->notices.count; i++)
        print_notice(out, &one->notices.items[i]);
    if (one->notices.count == 0)
        fprintf(out, "  nobody\n");
}

static bool show_alert(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_alert_one one;
    struct output output;
    int64_t id;

    (void)code;
    if (!invocation_row(invocation, 0, "alert", &id, err) || !view_alert(&reader, id, &one, err))
        return false;
    if (!invocation_flag(invocation, "json")) {
        print_one(&one, invocation->out);
        return true;
    }
    view_alert_write(output_begin(&output, &session->arena), &one);
    return output_end(&output, invocation->out, err);
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_alert);
}

static const struct command show = {
    .name = "show",
    .summary = "show one alert and who was notified",
    .operands = "ALERT",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Prints an alert, the page that says what to do about it, and each notice of it:\n"
        "sent, to be sent and why it was not, or given up after seven days.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_show,
};

static const struct command *const children[] = {
    &list,
    &show,
    &COMMAND_ALERT_SILENCE,
    &COMMAND_ALERT_RULES,
    &COMMAND_ALERT_SET,
    &COMMAND_ALERT_APPLY,
    &COMMAND_ALERT_RECEIVERS,
    &COMMAND_ALERT_TEST,
    &COMMAND_ALERT_REMOVE,
    NULL,
};

const struct command COMMAND_ALERT = {
    .name = "alert",
    .summary = "see what is wrong, and who is notified",
    .description =
        "An alert is something that a rule has found wrong and that lasts. Receivers are\n"
        "notified once when it begins and once when it is over. See docs/alerts.md.",
    .children = children,
};
