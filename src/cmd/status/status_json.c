/* Status for programs: the same as one JSON object. */
#include <stdio.h>

#include "base/instant.h"
#include "cli/output.h"
#include "cmd/status/status.h"
#include "data/json_write.h"

static void write_counts(struct json_writer *w, const struct status_source *source)
{
    json_write_name(w, STR("operations"));
    json_write_array(w);
    for (size_t i = 0; i < source->counts.count; i++) {
        const struct partition_count *count = &source->counts.items[i];

        json_write_object(w);
        json_write_member_str(w, STR("operation"),
                              code_of(&OPERATION_CODES, (int)count->partition.operation));
        json_write_member_str(w, STR("endpoint"), count->partition.endpoint);
        json_write_member_i64(w, STR("queued"), count->queued);
        if (count->queued > 0)
            json_write_member_instant(w, STR("firstDue"), count->first_us);
        json_write_member_i64(w, STR("running"), count->running);
        json_write_member_i64(w, STR("succeeded"), count->ended[TASK_SUCCEEDED]);
        json_write_member_i64(w, STR("partial"), count->ended[TASK_PARTIAL]);
        json_write_member_i64(w, STR("failed"), count->ended[TASK_FAILED]);
        json_write_member_i64(w, STR("cancelled"), count->ended[TASK_CANCELLED]);
        if (source->put_off[i].count > 0) {
            json_write_name(w, STR("putOff"));
            json_write_object(w);
            json_write_member_i64(w, STR("tasks"), source->put_off[i].count);
            json_write_member_instant(w, STR("until"), source->put_off[i].until_us);
            json_write_member_str(w, STR("why"), source->put_off[i].why);
            json_write_end(w);
        }
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_cursors(struct json_writer *w, const struct status_source *source, int64_t now_us)
{
    json_write_name(w, STR("cursors"));
    json_write_array(w);
    for (size_t i = 0; i < source->cursors.count; i++) {
        const struct cursor *cursor = &source->cursors.items[i].cursor;
        const struct cursor_way *way = &source->cursors.items[i].way;
        char text[INSTANT_TEXT_MAX];

        json_write_object(w);
        json_write_member_str(w, STR("operation"),
                              code_of(&OPERATION_CODES, (int)cursor->name.operation));
        json_write_member_str(w, STR("key"), cursor->name.cursor_key);
        json_write_member_str(w, STR("scope"),
                              code_of(&NAMESPACE_SCOPE_CODES, (int)cursor->name.scope));
        json_write_member_str(w, STR("namespace"), cursor->name.namespace_key);
        json_write_member_str(w, STR("value"), cursor_value_text(&cursor->value, text));
        if (way->is_campaign && way->is_known) {
            json_write_member_instant(w, STR("endsAt"), way->end_us);
            json_write_member_i64(w, STR("leftSeconds"), way->left_us / US_PER_SECOND);
        } else if (cursor->value.type == CURSOR_TIME)
            json_write_member_i64(w, STR("behindSeconds"),
                                  (now_us - cursor->value.instant_us) / US_PER_SECOND);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_running(struct json_writer *w, const struct status_source *source)
{
    json_write_name(w, STR("running"));
    json_write_array(w);
    for (size_t i = 0; i < source->running.count; i++) {
        const struct status_task *running = &source->running.items[i];

        json_write_object(w);
        json_write_member_i64(w, STR("task"), running->task.id);
        json_write_member_str(w, STR("owner"), running->task.lease_owner);
        if (running->started_us > 0)
            json_write_member_instant(w, STR("since"), running->started_us);
        if (running->batch_us > 0)
            json_write_member_instant(w, STR("lastBatch"), running->batch_us);
        json_write_member_instant(w, STR("leaseUntil"), running->task.leased_until_us);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_troubles(struct json_writer *w, const struct status_source *source)
{
    json_write_name(w, STR("troubles"));
    json_write_array(w);
    for (size_t i = 0; i < source->troubles.count; i++) {
        const struct trouble *trouble = &source->troubles.items[i];
        const struct task *task = &trouble->ended.task;

        json_write_object(w);
        json_write_member_i64(w, STR("task"), task->id);
        json_write_member_i64(w, STR("plan"), task->plan_id);
        json_write_member_str(w, STR("endpoint"), task->endpoint);
        json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)task->operation));
        json_write_member_str(w, STR("status"), code_of(&TASK_STATUS_CODES, (int)task->status));
        if (trouble->ended.has_reason)
            json_write_member_str(w, STR("reason"),
                                  code_of(&PARTIAL_REASON_CODES, (int)trouble->ended.reason));
        if (window_is_valid(task->window)) {
            json_write_member_instant(w, STR("from"), task->window.from_us);
            json_write_member_instant(w, STR("to"), task->window.to_us);
        }
        output_ids(w, task->ids);
        json_write_member_bool(w, STR("missing"), trouble->is_missing);
        json_write_member_bool(w, STR("holes"), trouble->has_holes);
        json_write_member_str(w, STR("text"), task->last_error);
        json_write_member_instant(w, STR("endedAt"), trouble->ended.ended_us);
        json_write_end(w);
    }
    json_write_end(w);
}

/* The command that ends it. */
static void write_lift(struct json_writer *w, struct str source, struct str endpoint)
{
    char text[512];
    const int len = snprintf(text, sizeof(text), "patra resume %.*s%s%.*s", STR_ARG(source),
                             endpoint.len > 0 ? "/" : "", STR_ARG(endpoint));

    if (len > 0 && (size_t)len < sizeof(text))
        json_write_member_str(w, STR("liftedBy"), (struct str){ text, (size_t)len });
}

static void write_pauses(struct json_writer *w, const struct status_source *source)
{
    json_write_name(w, STR("pauses"));
    json_write_array(w);
    for (size_t i = 0; i < source->pauses.count; i++) {
        const struct pause *pause = &source->pauses.items[i];

        json_write_object(w);
        json_write_member_str(w, STR("kind"), code_of(&PAUSE_KIND_CODES, (int)pause->kind));
        json_write_member_str(w, STR("endpoint"), pause->endpoint);
        json_write_member_instant(w, STR("since"), pause->created_us);
        json_write_member_str(w, STR("by"), pause->created_by);
        json_write_member_str(w, STR("reason"), pause->reason);
        write_lift(w, source->code, pause->endpoint);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_schedules(struct json_writer *w, const struct status_source *source)
{
    json_write_name(w, STR("schedules"));
    json_write_array(w);
    for (size_t i = 0; i < source->schedules.count; i++) {
        const struct schedule_view *view = &source->schedules.items[i];

        json_write_object(w);
        json_write_member_str(w, STR("operation"), view->operation);
        if (view->has_last)
            json_write_member_instant(w, STR("last"), view->last_us);
        if (view->has_next)
            json_write_member_instant(w, STR("next"), view->next_us);
        json_write_member_bool(w, STR("due"), view->is_due);
        if (view->is_due)
            json_write_member_instant(w, STR("dueSince"), view->due_us);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_quarantine(struct json_writer *w, const struct status_source *source)
{
    json_write_name(w, STR("quarantine"));
    json_write_array(w);
    for (size_t i = 0; i < source->quarantine.count; i++) {
        const struct quarantine_sum *sum = &source->quarantine.items[i];

        json_write_object(w);
        json_write_member_str(w, STR("endpoint"), sum->endpoint);
        json_write_member_str(w, STR("reason"), sum->reason);
        json_write_member_i64(w, STR("count"), sum->count);
        json_write_member_instant(w, STR("first"), sum->first_us);
        json_write_member_instant(w, STR("last"), sum->last_us);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_source(struct json_writer *w, const struct status_source *source, int64_t now_us)
{
    json_write_object(w);
    json_write_member_str(w, STR("source"), source->code);
    write_pauses(w, source);
    write_counts(w, source);
    write_cursors(w, source, now_us);
    write_running(w, source);
    json_write_member_bool(w, STR("enabled"), !source->is_disabled);
    write_schedules(w, source);
    write_troubles(w, source);
    write_quarantine(w, source);
    json_write_member_i64(w, STR("quarantined"), source->open.quarantined);
    json_write_member_i64(w, STR("signals"), source->open.signals);
    if (source->open.signals > 0)
        json_write_member_bool(w, STR("signalsAreTaken"), source->takes_signals);
    json_write_member_i64(w, STR("slicesToCut"), source->open.tickets);
    json_write_end(w);
}

static void write_quota(struct json_writer *w, struct str name, const struct gate_view_quota *quota)
{
    if (quota->limit == 0)
        return;
    json_write_name(w, name);
    json_write_object(w);
    json_write_member_i64(w, STR("limit"), quota->limit);
    json_write_member_i64(w, STR("used"), quota->used);
    json_write_member_i64(w, STR("booked"), quota->booked);
    json_write_member_instant(w, STR("resetsAt"), quota->until_us);
    json_write_end(w);
}

static void write_rate(struct json_writer *w, struct str name, double per_second)
{
    json_write_name(w, name);
    json_write_double(w, per_second);
}

static void write_settings(struct json_writer *w, const struct status_gate *gate)
{
    const struct spec_rate *rate = &gate->rate;

    if (!gate->is_configured)
        return;
    json_write_member_str(w, STR("of"), gate->of);
    write_rate(w, STR("configuredPerSecond"), rate->limit.per_second);
    if (rate->with_credential.per_second > 0)
        write_rate(w, STR("configuredWithCredential"), rate->with_credential.per_second);
    json_write_member_i64(w, STR("burst"), rate->limit.burst);
    if (rate->limit.concurrency > 0)
        json_write_member_i64(w, STR("concurrency"), rate->limit.concurrency);
    write_quota(w, STR("quotaHour"), &gate->view.hour);
    write_quota(w, STR("quotaDay"), &gate->view.day);
}

static void write_gate(struct json_writer *w, const struct status_gate *gate, int64_t now_us)
{
    const struct gate_view *view = &gate->view;
    enum wait_why why;
    int64_t until_us;

    json_write_object(w);
    json_write_member_str(w, STR("key"), gate->key);
    write_settings(w, gate);
    if (view->is_known) {
        write_rate(w, STR("perSecond"), (double)view->rate / (double)MICRO);
        write_rate(w, STR("tokens"), (double)view->tokens / (double)MICRO);
    }
    if (view->provider_rate > 0)
        write_rate(w, STR("providerPerSecond"), (double)view->provider_rate / (double)MICRO);
    if (view->cooldown_until_us > 0)
        json_write_member_instant(w, STR("coolDownUntil"), view->cooldown_until_us);
    if (view->parked_until_us != INT64_MIN)
        json_write_member_instant(w, STR("parkedUntil"), view->parked_until_us);
    if (status_gate_blocked(gate, now_us, &until_us, &why)) {
        json_write_member_instant(w, STR("blockedUntil"), until_us);
        json_write_member_str(w, STR("blockedWhy"), code_of(&WAIT_WHY_CODES, (int)why));
    }
    json_write_end(w);
}

bool status_print_json(const struct status *status, struct arena *arena, FILE *out,
                       struct error *err)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, arena, OUTPUT_BYTES_MAX);
    json_writer_init(&w, &text);
    json_write_object(&w);
    json_write_member_instant(&w, STR("at"), status->now_us);
    json_write_member_instant(&w, STR("since"), status->since_us);
    json_write_name(&w, STR("sources"));
    json_write_array(&w);
    for (size_t i = 0; i < status->sources.count; i++)
        write_source(&w, &status->sources.items[i], status->now_us);
    json_write_end(&w);
    json_write_name(&w, STR("gates"));
    json_write_array(&w);
    for (size_t i = 0; i < status->gates.count; i++)
        write_gate(&w, &status->gates.items[i], status->now_us);
    json_write_end(&w);
    json_write_name(&w, STR("needs"));
    json_write_array(&w);
    for (size_t i = 0; i < status->needs.count; i++)
        json_write_str(&w, status->needs.items[i].text);
    json_write_end(&w);
    json_write_end(&w);
    return output_json(out, &w, err);
}
