/* Alerts and silences. */
#include "act/silence.h"
#include "serve/call.h"
#include "view/alert.h"

enum { LIST_MAX = 1000, SHORT_MAX = 256 };

static bool list_alerts(struct call *call, struct error *err)
{
    const bool all = call_flag(call, "all");
    const struct alert_query query = { .with_pending = all,
                                       .with_resolved = all,
                                       .source = call_text(call, "source"),
                                       .limit = call_number(call, "limit") };
    struct view_alert_list list;

    if (!view_alert_list(&call->reader, &query, &list, err))
        return false;
    view_alert_list_write(&call->w, &list);
    return true;
}

static bool show_alert(struct call *call, struct error *err)
{
    struct view_alert_one one;

    if (!view_alert(&call->reader, call_number(call, "alert"), &one, err))
        return false;
    view_alert_write(&call->w, &one);
    return true;
}

/* ---- silences ---- */

static void write_silence(struct call *call, int64_t id, const int64_t *until_us,
                          struct str outcome)
{
    json_write_object(&call->w);
    json_write_member_i64(&call->w, STR("silence"), id);
    if (until_us != NULL)
        json_write_member_instant(&call->w, STR("until"), *until_us);
    json_write_member_str(&call->w, STR("outcome"), outcome);
    json_write_end(&call->w);
}

static bool silence(struct call *call, struct error *err)
{
    struct alert_silence silence = { .rule = call_text(call, "rule"),
                                     .source = call_text(call, "source"),
                                     .subject = call_text(call, "subject"),
                                     .reason = call_text(call, "reason"),
                                     .created_by = call_who(call) };

    if (!act_silence(&call->reader, &silence, call_number(call, "for"), err))
        return false;
    write_silence(call, silence.id, &silence.until_us, STR("silenced"));
    return true;
}

static bool end_silence(struct call *call, struct error *err)
{
    const int64_t id = call_number(call, "silence");
    bool ended;

    if (!store_alert_silence_end(call->reader.store, id, call->reader.now_us, &ended, err))
        return false;
    write_silence(call, id, NULL, ended ? STR("ended") : STR("was not in force"));
    return true;
}

#define SHORT(name_, help_)                                                                   \
    {                                                                                         \
        .name = name_, .place = IN_BODY, .kind = PARAM_TEXT, .most = SHORT_MAX, .help = help_ \
    }

static const struct route ROUTES[] = {
    { .method = "GET",
      .path = "/v1/alerts",
      .name = "listAlerts",
      .summary = "What is wrong, the most severe first, and the silences in force",
      .command = "patra alert list --json",
      .access = ROUTE_READS,
      .params = { PARAM_SWITCH("all", IN_QUERY, "Also pending and resolved ones."),
                  PARAM_WORD("source", IN_QUERY, "Only those about this source."),
                  PARAM_LIMIT(LIST_MAX, 100) },
      .run = list_alerts },
    { .method = "GET",
      .path = "/v1/alerts/{alert}",
      .name = "showAlert",
      .summary = "One alert, and who was notified",
      .command = "patra alert show ALERT --json",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("alert", "The alert.") },
      .run = show_alert },
    { .method = "POST",
      .path = "/v1/silences",
      .name = "silence",
      .summary = "Notify nobody of some alerts for a while",
      .command = "patra alert silence --rule RULE --source SOURCE --for 2h",
      .access = ROUTE_CHANGES,
      .params = { SHORT("rule", "Only alerts of this rule."),
                  SHORT("source", "Only alerts about this source."),
                  SHORT("subject", "Only alerts about this, as the list of alerts has it."),
                  { .name = "for",
                    .place = IN_BODY,
                    .kind = PARAM_SPAN,
                    .is_required = true,
                    .help = "How long, such as 2h; at most 90d." },
                  SHORT("reason", "Why, for others.") },
      .run = silence },
    { .method = "POST",
      .path = "/v1/silences/{silence}/end",
      .name = "endSilence",
      .summary = "End a silence early",
      .command = "patra alert silence --end SILENCE",
      .access = ROUTE_CHANGES,
      .params = { PARAM_ROW("silence", "The silence.") },
      .run = end_silence },
};

const struct route_group ROUTES_ALERTS = { "Alerts", ROUTES, ARRAY_LEN(ROUTES) };
