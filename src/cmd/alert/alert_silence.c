/* patra alert silence. */
#include <inttypes.h>

#include "act/silence.h"
#include "base/instant.h"
#include "cli/session.h"
#include "cli/who.h"
#include "cmd/alert/alert.h"
#include "port/store_alert.h"

static bool end_silence(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    int64_t id;
    bool ended;

    if (!str_to_i64(str_of(invocation_value(invocation, "end")), &id))
        return command_misused(err, "--end takes the number of a silence");
    if (!store_alert_silence_end(session->store, id, clock_now_us(&session->clock), &ended, err))
        return false;
    fprintf(invocation->out, "silence %" PRId64 " %s\n", id, ended ? "is over" : "is not in force");
    if (!ended)
        *code = EXIT_FOUND;
    return true;
}

static bool silence_alerts(const struct invocation *invocation, struct session *session,
                           enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct alert_silence silence = { .rule = str_of(invocation_value(invocation, "rule")),
                                     .source = str_of(invocation_value(invocation, "source")),
                                     .subject = str_of(invocation_value(invocation, "about")),
                                     .reason = str_of(invocation_value(invocation, "reason")),
                                     .created_by = who_am_i(&session->arena) };
    char text[INSTANT_TEXT_MAX];
    struct error why;
    int64_t for_us = 0;
    size_t len;

    if (invocation_value(invocation, "end") != NULL)
        return end_silence(invocation, session, code, err);
    if (!invocation_duration(invocation, "for", &for_us, err))
        return false;
    if (!act_silence(&reader, &silence, for_us, &why)) {
        *err = why;
        return act_silence_error_is_request(&why) ? command_misused(err, "%s", why.text) : false;
    }
    len = instant_format(silence.until_us, text);
    fprintf(invocation->out, "silence %" PRId64 " until %.*s\n", silence.id, (int)len, text);
    return true;
}

static enum exit_code cmd_silence(const struct invocation *invocation)
{
    return session_run(invocation, silence_alerts);
}

const struct command COMMAND_ALERT_SILENCE = {
    .name = "silence",
    .summary = "tell nobody of some alerts for a while",
    .operands_max = 0,
    .description = "Nobody is notified of alerts that have this rule, source and subject, for as "
                   "long as --for\n"
                   "says. They are listed all the same. What is still wrong when the silence ends "
                   "is notified\n"
                   "then; that an alert is over is notified to whoever was notified of it. --end "
                   "ends a silence\n"
                   "early; patra alert list --json shows those in force.",
    .options = { { "rule", "RULE", "Only alerts of this rule." },
                 { "source", "SOURCE", "Only alerts about this source." },
                 { "about", "SUBJECT", "Only alerts about this, as patra alert list shows it." },
                 { "for", "DURATION", "How long, such as 2h; at most 90d." },
                 { "reason", "TEXT", "Why, for others." },
                 { "end", "SILENCE", "End this silence now." },
                 SESSION_OPTION },
    .run = cmd_silence,
};
