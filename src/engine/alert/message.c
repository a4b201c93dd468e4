/* Titles, texts and JSON of notices. */
#include "engine/alert/message.h"

#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "data/json_write.h"

#define BODY_BYTES_MAX ((size_t)64 << 10)

static struct str runbook_of(struct arena *arena, const struct alert_receiver *receiver,
                             const struct alert *alert)
{
    return arena_printf(arena, "%.*s/%.*s.md", STR_ARG(receiver->runbooks), STR_ARG(alert->rule));
}

static struct str title_of(struct arena *arena, const struct alert *alert,
                           enum alert_notice_kind kind)
{
    const char *word = kind == ALERT_NOTICE_RESOLVED       ? "resolved"
                       : alert->severity == ALERT_CRITICAL ? "critical"
                                                           : "warning";

    return arena_printf(arena, "[patra %s] %.*s: %.*s", word, STR_ARG(alert->rule),
                        STR_ARG(alert->subject));
}

static void write_text(struct buf *out, const struct alert_receiver *receiver,
                       const struct alert *alert, enum alert_notice_kind kind)
{
    char since[INSTANT_TEXT_MAX];
    const struct str at = { since, instant_format(alert->since_us, since) };

    if (kind == ALERT_NOTICE_RESOLVED) {
        buf_add(out, STR("It is over. It was: "));
        buf_add(out, alert->text);
        buf_printf(out, "\nIt lasted from %.*s for %.*s.\n", STR_ARG(at),
                   STR_ARG(text_span_in(out->arena, alert->resolved_us - alert->since_us)));
    } else {
        buf_add(out, alert->text);
        buf_printf(out, "\nSince %.*s.\n", STR_ARG(at));
    }
    buf_printf(out, "What to do: %.*s\n", STR_ARG(runbook_of(out->arena, receiver, alert)));
    buf_printf(out, "Alert %" PRId64 "; silence it: patra alert silence --rule %.*s --for 1h\n",
               alert->id, STR_ARG(alert->rule));
}

static void write_json(struct json_writer *w, const struct alert_receiver *receiver,
                       const struct alert *alert, enum alert_notice_kind kind)
{
    json_write_object(w);
    json_write_member_i64(w, STR("alert"), alert->id);
    json_write_member_str(w, STR("kind"), code_of(&ALERT_NOTICE_CODES, (int)kind));
    json_write_member_str(w, STR("rule"), alert->rule);
    json_write_member_str(w, STR("severity"), code_of(&ALERT_SEVERITY_CODES, (int)alert->severity));
    json_write_member_str(w, STR("subject"), alert->subject);
    json_write_member_str(w, STR("source"), alert->source);
    json_write_member_str(w, STR("text"), alert->text);
    json_write_member_instant(w, STR("since"), alert->since_us);
    json_write_member_instant(w, STR("firedAt"), alert->fired_us);
    if (kind == ALERT_NOTICE_RESOLVED)
        json_write_member_instant(w, STR("resolvedAt"), alert->resolved_us);
    json_write_member_str(w, STR("runbook"), runbook_of(w->out->arena, receiver, alert));
    json_write_end(w);
}

/* {"text":"..."}: Slack, Mattermost, Rocket.Chat. */
static void write_slack(struct json_writer *w, struct str text)
{
    json_write_object(w);
    json_write_member_str(w, STR("text"), text);
    json_write_end(w);
}

static void write_dingtalk(struct json_writer *w, struct str text)
{
    json_write_object(w);
    json_write_member_str(w, STR("msgtype"), STR("text"));
    json_write_name(w, STR("text"));
    json_write_object(w);
    json_write_member_str(w, STR("content"), text);
    json_write_end(w);
    json_write_end(w);
}

bool alert_message_make(struct arena *arena, const struct alert_receiver *receiver,
                        const struct alert *alert, enum alert_notice_kind kind,
                        struct alert_message *message, struct error *err)
{
    struct buf text, body;
    struct json_writer w;

    message->id = arena_printf(arena, "alert-%" PRId64 "-%s", alert->id,
                               kind == ALERT_NOTICE_FIRED ? "fired" : "resolved");
    message->title = title_of(arena, alert, kind);
    if (message->id.data == NULL || message->title.data == NULL)
        return arena_error(arena, err);
    buf_init(&text, arena, BODY_BYTES_MAX);
    if (receiver->form != ALERT_FORM_EMAIL)
        buf_printf(&text, "%.*s\n", STR_ARG(message->title));
    write_text(&text, receiver, alert, kind);
    if (!buf_ok(&text, err))
        return false;
    buf_init(&body, arena, 4 * BODY_BYTES_MAX);
    json_writer_init(&w, &body);
    switch (receiver->form) {
    case ALERT_FORM_WEBHOOK:
        write_json(&w, receiver, alert, kind);
        break;
    case ALERT_FORM_SLACK:
        write_slack(&w, buf_str(&text));
        break;
    case ALERT_FORM_DINGTALK:
        write_dingtalk(&w, buf_str(&text));
        break;
    case ALERT_FORM_EMAIL:
        buf_add(&body, buf_str(&text));
        break;
    }
    message->body = buf_str(&body);
    return buf_ok(&body, err);
}
