/* Alerts, and the limits of their rules. */
#include "view/alert.h"

#include <inttypes.h>

#include "base/list.h"
#include "engine/alert/silence.h"

bool view_alert_limits(const struct view_reader *reader, struct alert_limits *limits,
                       struct error *err)
{
    struct alert_setting_list set;

    *limits = alert_limits_default();
    if (!store_alert_rules(reader->store, reader->arena, &set, err))
        return false;
    for (size_t i = 0; i < set.count; i++) {
        enum alert_rule rule;

        if (alert_rule_find(set.items[i].rule, &rule)) /* else of a later patra */
            limits->of[rule] = (struct alert_limit){ set.items[i].is_off, set.items[i].limit,
                                                     set.items[i].hold_us };
    }
    return true;
}

static bool fill(const struct view_reader *reader, const struct alert *alert,
                 const struct alert_silence_list *silences, struct view_alert *view,
                 struct error *err)
{
    view->alert = *alert;
    view->is_silenced = alert_is_silenced(alert, silences);
    view->runbook = arena_printf(reader->arena, "docs/runbooks/%.*s.md", STR_ARG(alert->rule));
    return view->runbook.data != NULL || arena_error(reader->arena, err);
}

bool view_alert_list(const struct view_reader *reader, const struct alert_query *query,
                     struct view_alert_list *list, struct error *err)
{
    struct alert_list alerts;

    *list = (struct view_alert_list){ 0 };
    if (!store_alert_list(reader->store, reader->arena, query, &alerts, err) ||
        !store_alert_silences(reader->store, reader->arena, reader->now_us, &list->silences, err))
        return false;
    for (size_t i = 0; i < alerts.count; i++) {
        struct view_alert *view = LIST_ADD(reader->arena, list);

        if (view == NULL)
            return arena_error(reader->arena, err);
        if (!fill(reader, &alerts.items[i], &list->silences, view, err))
            return false;
    }
    return true;
}

bool view_alert(const struct view_reader *reader, int64_t id, struct view_alert_one *one,
                struct error *err)
{
    struct alert_silence_list silences;
    struct alert alert;
    bool found;

    if (!store_alert_find(reader->store, reader->arena, id, &alert, &found, err))
        return false;
    if (!found)
        return error_set(
            err, ERROR_REQUEST, "alert.unknown",
            "there is no alert %" PRId64 ": patra alert list shows those that are open", id);
    return store_alert_silences(reader->store, reader->arena, reader->now_us, &silences, err) &&
           fill(reader, &alert, &silences, &one->alert, err) &&
           store_alert_notices(reader->store, reader->arena, id, &one->notices, err);
}

/* ---- JSON ---- */

static void write_members(struct json_writer *w, const struct view_alert *view)
{
    const struct alert *alert = &view->alert;

    json_write_member_i64(w, STR("id"), alert->id);
    json_write_member_str(w, STR("rule"), alert->rule);
    json_write_member_str(w, STR("severity"), code_of(&ALERT_SEVERITY_CODES, (int)alert->severity));
    json_write_member_str(w, STR("subject"), alert->subject);
    if (alert->source.len > 0)
        json_write_member_str(w, STR("source"), alert->source);
    json_write_member_str(w, STR("text"), alert->text);
    json_write_member_instant(w, STR("since"), alert->since_us);
    json_write_member_instant(w, STR("seenAt"), alert->seen_us);
    if (alert->fired_us != 0)
        json_write_member_instant(w, STR("firedAt"), alert->fired_us);
    if (alert->resolved_us != 0)
        json_write_member_instant(w, STR("resolvedAt"), alert->resolved_us);
    json_write_member_bool(w, STR("silenced"), view->is_silenced);
    json_write_member_str(w, STR("runbook"), view->runbook);
}

static void write_silence(struct json_writer *w, const struct alert_silence *silence)
{
    json_write_object(w);
    json_write_member_i64(w, STR("id"), silence->id);
    json_write_member_str(w, STR("rule"), silence->rule);
    json_write_member_str(w, STR("source"), silence->source);
    json_write_member_str(w, STR("subject"), silence->subject);
    json_write_member_instant(w, STR("until"), silence->until_us);
    json_write_member_str(w, STR("reason"), silence->reason);
    json_write_member_str(w, STR("by"), silence->created_by);
    json_write_member_instant(w, STR("createdAt"), silence->created_us);
    json_write_end(w);
}

void view_alert_list_write(struct json_writer *w, const struct view_alert_list *list)
{
    json_write_object(w);
    json_write_name(w, STR("alerts"));
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        json_write_object(w);
        write_members(w, &list->items[i]);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_name(w, STR("silences"));
    json_write_array(w);
    for (size_t i = 0; i < list->silences.count; i++)
        write_silence(w, &list->silences.items[i]);
    json_write_end(w);
    json_write_end(w);
}

static void write_notice(struct json_writer *w, const struct alert_notice *notice)
{
    json_write_object(w);
    json_write_member_str(w, STR("receiver"), notice->receiver);
    json_write_member_str(w, STR("kind"), code_of(&ALERT_NOTICE_CODES, (int)notice->kind));
    json_write_member_i64(w, STR("attempts"), notice->attempts);
    if (notice->sent_us != 0)
        json_write_member_instant(w, STR("sentAt"), notice->sent_us);
    else if (notice->gave_up_us != 0)
        json_write_member_instant(w, STR("gaveUpAt"), notice->gave_up_us);
    else
        json_write_member_instant(w, STR("nextTryAt"), notice->next_try_us);
    json_write_member_str(w, STR("error"), notice->last_error);
    json_write_end(w);
}

void view_alert_write(struct json_writer *w, const struct view_alert_one *one)
{
    json_write_object(w);
    write_members(w, &one->alert);
    json_write_name(w, STR("notices"));
    json_write_array(w);
    for (size_t i = 0; i < one->notices.count; i++)
        write_notice(w, &one->notices.items[i]);
    json_write_end(w);
    json_write_end(w);
}
