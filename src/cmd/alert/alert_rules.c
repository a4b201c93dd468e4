/* patra alert rules and set. */
#include "base/duration.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/who.h"
#include "cmd/alert/alert.h"
#include "view/alert.h"

/* ---- rules ---- */

static struct str span_in(struct arena *arena, int64_t span_us)
{
    char text[DURATION_TEXT_MAX];

    return arena_copy(arena, (struct str){ text, duration_format_us(span_us, text) });
}

static void write_rule(struct json_writer *w, struct arena *arena, enum alert_rule rule,
                       const struct alert_limit *limit)
{
    const struct alert_rule_row *row = &ALERT_RULES[rule];

    json_write_object(w);
    json_write_member_str(w, STR("rule"), str_of(row->name));
    json_write_member_str(w, STR("severity"), code_of(&ALERT_SEVERITY_CODES, (int)row->severity));
    json_write_member_bool(w, STR("off"), limit->is_off);
    json_write_member_str(w, STR("limit"), alert_limit_text(arena, rule, limit->limit));
    json_write_member_str(w, STR("for"), span_in(arena, limit->hold_us));
    json_write_member_bool(w, STR("default"),
                           !limit->is_off && limit->limit == row->limit &&
                               limit->hold_us == row->hold_us);
    json_write_member_str(w, STR("meaning"), str_of(row->meaning));
    json_write_end(w);
}

static bool list_rules(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    static const char *const heads[] = { "RULE", "SEVERITY", "LIMIT", "FOR" };
    const struct view_reader reader = session_reader(session);
    const bool as_json = invocation_flag(invocation, "json");
    struct alert_limits limits;
    struct columns columns;
    struct output output;
    struct json_writer *w;

    (void)code;
    if (!view_alert_limits(&reader, &limits, err))
        return false;
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    w = output_begin(&output, &session->arena);
    json_write_array(w);
    for (int i = 0; i < ALERT_RULE_COUNT; i++) {
        const struct alert_limit *limit = &limits.of[i];

        write_rule(w, &session->arena, (enum alert_rule)i, limit);
        columns_cell(&columns, str_of(ALERT_RULES[i].name));
        columns_cell(&columns, code_of(&ALERT_SEVERITY_CODES, (int)ALERT_RULES[i].severity));
        columns_cell(&columns, limit->is_off ? STR("off")
                                             : alert_limit_text(&session->arena, (enum alert_rule)i,
                                                                limit->limit));
        columns_cell(&columns, span_in(&session->arena, limit->hold_us));
        columns_note(&columns, str_of(ALERT_RULES[i].meaning));
    }
    json_write_end(w);
    return as_json ? output_end(&output, invocation->out, err)
                   : columns_print(&columns, invocation->out, err);
}

static enum exit_code cmd_rules(const struct invocation *invocation)
{
    return session_run(invocation, list_rules);
}

const struct command COMMAND_ALERT_RULES = {
    .name = "rules",
    .summary = "list what is looked for, with limits",
    .operands_max = 0,
    .description =
        "Lists every rule with its limit, how long it must hold before anybody is notified, and\n"
        "what it means. patra alert set changes them.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_rules,
};

/* ---- set ---- */

static bool read_setting(const struct invocation *invocation, enum alert_rule rule,
                         struct alert_setting *setting, struct error *err)
{
    const char *limit = invocation_value(invocation, "limit");

    if (limit != NULL && !alert_limit_parse(rule, str_of(limit), &setting->limit))
        return command_misused(err, "--limit: '%s' is no limit of %s, such as %s", limit,
                               ALERT_RULES[rule].name,
                               ALERT_RULES[rule].unit == ALERT_SPAN      ? "30m"
                               : ALERT_RULES[rule].unit == ALERT_PERCENT ? "5%"
                               : ALERT_RULES[rule].unit == ALERT_COUNT   ? "100"
                                                                         : "none: it has none");
    if (invocation_flag(invocation, "off") && invocation_flag(invocation, "on"))
        return command_misused(err, "--on and --off exclude each other");
    if (invocation_flag(invocation, "off") || invocation_flag(invocation, "on"))
        setting->is_off = invocation_flag(invocation, "off");
    return invocation_duration(invocation, "for", &setting->hold_us, err);
}

static bool set_rule(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    const struct str name = str_of(invocation->operands[0]);
    const struct view_reader reader = session_reader(session);
    struct alert_limits limits;
    struct alert_setting setting;
    enum alert_rule rule;

    (void)code;
    if (!alert_rule_find(name, &rule))
        return error_set(err, ERROR_REQUEST, "alert.rule",
                         "%.*s is not a rule: patra alert rules lists them", STR_ARG(name));
    if (invocation_flag(invocation, "default")) {
        fprintf(invocation->out, "%.*s: the default\n", STR_ARG(name));
        return store_alert_rule_clear(session->store, name, err);
    }
    if (!view_alert_limits(&reader, &limits, err))
        return false;
    setting = (struct alert_setting){ .rule = name,
                                      .is_off = limits.of[rule].is_off,
                                      .limit = limits.of[rule].limit,
                                      .hold_us = limits.of[rule].hold_us,
                                      .set_by = who_am_i(&session->arena),
                                      .updated_us = clock_now_us(&session->clock) };
    if (!read_setting(invocation, rule, &setting, err) ||
        !store_alert_rule_set(session->store, &setting, err))
        return false;
    fprintf(invocation->out, "%.*s: %s, limit %.*s, for %.*s\n", STR_ARG(name),
            setting.is_off ? "off" : "on",
            STR_ARG(alert_limit_text(&session->arena, rule, setting.limit)),
            STR_ARG(span_in(&session->arena, setting.hold_us)));
    return true;
}

static enum exit_code cmd_set(const struct invocation *invocation)
{
    return session_run(invocation, set_rule);
}

const struct command COMMAND_ALERT_SET = {
    .name = "set",
    .summary = "change the limit of a rule",
    .operands = "RULE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Changes a rule for this store: its limit, and how long it must hold before anybody\n"
        "is notified. patra status uses the same limits. A rule that is off finds nothing to\n"
        "tell; status shows it all the same.",
    .options = { { "limit", "VALUE", "A duration, a count or percent, as the rule has it." },
                 { "for", "DURATION", "How long it must hold; 0 for at once." },
                 { "off", NULL, "Tell nobody." },
                 { "on", NULL, "Tell again." },
                 { "default", NULL, "Back to the default." },
                 SESSION_OPTION },
    .run = cmd_set,
};
