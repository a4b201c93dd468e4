/* Status for programs: one JSON object. */
#include <stdio.h>

#include "base/instant.h"
#include "view/members.h"
#include "view/status.h"

static void write_counts(struct json_writer *w, const struct view_source_status *source)
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
            json_write_member_str(w, STR("reason"), source->put_off[i].reason);
            json_write_end(w);
        }
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_cursors(struct json_writer *w, const struct view_source_status *source,
                          int64_t now_us)
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
        if (way->has_ids)
            json_write_member_i64(w, STR("behindIds"), way->left_ids);
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

static void write_running(struct json_writer *w, const struct view_source_status *source)
{
    json_write_name(w, STR("running"));
    json_write_array(w);
    for (size_t i = 0; i < source->running.count; i++) {
        const struct view_running *running = &source->running.items[i];

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

static void write_troubles(struct json_writer *w, const struct view_source_status *source)
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
        view_write_member_ids(w, task->ids);
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

static void write_pauses(struct json_writer *w, const struct view_source_status *source)
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

static void write_schedules(struct json_writer *w, const struct view_source_status *source)
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

static void write_doubts(struct json_writer *w, const struct view_source_status *source)
{
    json_write_name(w, STR("doubts"));
    json_write_array(w);
    for (int i = 0; i < FETCH_DOUBTS; i++) {
        if (source->doubts[i].slices == 0)
            continue;
        json_write_object(w);
        json_write_member_str(w, STR("doubt"), str_of(fetch_doubt_name((enum fetch_doubt)i)));
        json_write_member_i64(w, STR("slices"), source->doubts[i].slices);
        json_write_member_i64(w, STR("lastTask"), source->doubts[i].task_id);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_quarantine(struct json_writer *w, const struct view_source_status *source)
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
        if (window_is_valid(sum->window)) {
            json_write_member_instant(w, STR("from"), sum->window.from_us);
            json_write_member_instant(w, STR("to"), sum->window.to_us);
        }
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_source(struct json_writer *w, const struct view_source_status *source,
                         int64_t now_us)
{
    json_write_object(w);
    json_write_member_str(w, STR("source"), source->code);
    json_write_member_i64(w, STR("records"), source->records);
    write_pauses(w, source);
    write_counts(w, source);
    write_cursors(w, source, now_us);
    write_running(w, source);
    json_write_member_bool(w, STR("enabled"), !source->is_disabled);
    write_schedules(w, source);
    write_troubles(w, source);
    write_doubts(w, source);
    write_quarantine(w, source);
    json_write_member_i64(w, STR("quarantined"), source->open.quarantined);
    json_write_member_i64(w, STR("signals"), source->open.signals);
    if (source->open.signals > 0)
        json_write_member_bool(w, STR("signalsAreTaken"), source->takes_signals);
    json_write_member_i64(w, STR("slicesToCut"), source->open.tickets);
    json_write_end(w);
}

void view_status_write(struct json_writer *w, const struct view_status *status)
{
    json_write_object(w);
    json_write_member_instant(w, STR("at"), status->now_us);
    json_write_member_instant(w, STR("since"), status->since_us);
    json_write_name(w, STR("sources"));
    json_write_array(w);
    for (size_t i = 0; i < status->sources.count; i++)
        write_source(w, &status->sources.items[i], status->now_us);
    json_write_end(w);
    json_write_name(w, STR("gates"));
    view_gate_list_write(w, &status->gates, status->now_us);
    json_write_name(w, STR("clock"));
    view_clock_write(w, &status->time);
    json_write_name(w, STR("needs"));
    json_write_array(w);
    for (size_t i = 0; i < status->needs.count; i++)
        json_write_str(w, status->needs.items[i].text);
    json_write_end(w);
    json_write_end(w);
}
