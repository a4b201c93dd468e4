/* Why a record is where it is, as JSON. */
#include "view/members.h"
#include "view/why_internal.h"

static void write_finding(struct json_writer *w, const struct why_finding *finding)
{
    json_write_object(w);
    json_write_member_str(w, STR("step"), why_step_name(finding->step));
    json_write_member_str(w, STR("reason"), finding->reason);
    json_write_member_str(w, STR("text"), finding->text);
    if (finding->command.len > 0)
        json_write_member_str(w, STR("command"), finding->command);
    json_write_end(w);
}

static void write_findings(struct json_writer *w, const struct view_why *why)
{
    json_write_name(w, STR("missing"));
    json_write_array(w);
    for (size_t i = 0; i < why->findings.count; i++)
        write_finding(w, &why->findings.items[i]);
    json_write_end(w);
}

/* ---- who was to fetch it ---- */

static struct str cover_name(enum why_cover cover)
{
    return cover == WHY_COVERED ? STR("covered")
           : cover == WHY_LIVE  ? STR("under way")
                                : STR("not covered");
}

static void write_task(struct json_writer *w, const struct ended_task *ended)
{
    const struct task *task = &ended->task;

    json_write_member_i64(w, STR("task"), task->id);
    json_write_member_i64(w, STR("plan"), task->plan_id);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)task->operation));
    view_write_member_window(w, STR("window"), task->window);
    view_write_member_ids(w, task->ids);
    json_write_member_str(w, STR("status"), code_of(&TASK_STATUS_CODES, (int)task->status));
    if (ended->has_reason)
        json_write_member_str(w, STR("partialReason"),
                              code_of(&PARTIAL_REASON_CODES, (int)ended->reason));
    if (task->last_error.len > 0)
        json_write_member_str(w, STR("error"), task->last_error);
    if (ended->ended_us != 0)
        json_write_member_instant(w, STR("endedAt"), ended->ended_us);
}

static void write_windows(struct json_writer *w, const struct view_why *why)
{
    json_write_name(w, STR("windows"));
    json_write_array(w);
    for (size_t i = 0; i < why->windows.count; i++) {
        json_write_object(w);
        write_task(w, &why->windows.items[i].ended);
        json_write_member_str(w, STR("state"), cover_name(why->windows.items[i].cover));
        json_write_member_bool(w, STR("formerQuery"), why->windows.items[i].is_former);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_plans(struct json_writer *w, const struct view_why *why)
{
    json_write_name(w, STR("plans"));
    json_write_array(w);
    for (size_t i = 0; i < why->plans.count; i++) {
        const struct why_plan *plan = &why->plans.items[i];

        json_write_object(w);
        json_write_member_i64(w, STR("plan"), plan->plan.id);
        json_write_member_str(w, STR("operation"),
                              code_of(&OPERATION_CODES, (int)plan->plan.operation));
        view_write_member_window(w, STR("window"), plan->plan.window);
        json_write_member_str(w, STR("status"),
                              code_of(&PLAN_STATUS_CODES, (int)plan->plan.status));
        json_write_member_str(w, STR("state"), cover_name(plan->cover));
        json_write_member_bool(w, STR("formerQuery"), plan->is_former);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_listed(struct json_writer *w, const struct view_why *why)
{
    json_write_name(w, STR("listedBy"));
    json_write_array(w);
    for (size_t i = 0; i < why->listed.count; i++) {
        json_write_object(w);
        write_task(w, &why->listed.items[i]);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_signals(struct json_writer *w, const struct view_why *why)
{
    json_write_name(w, STR("signals"));
    json_write_array(w);
    for (size_t i = 0; i < why->signals.count; i++) {
        const struct signal_past *past = &why->signals.items[i];

        json_write_object(w);
        json_write_member_i64(w, STR("id"), past->signal.id);
        json_write_member_str(w, STR("reason"), past->signal.reason);
        if (past->signal.http_status > 0)
            json_write_member_i64(w, STR("httpStatus"), past->signal.http_status);
        if (past->signal.detail.len > 0)
            json_write_member_str(w, STR("detail"), past->signal.detail);
        json_write_member_str(w, STR("by"), past->signal.created_by);
        json_write_member_instant(w, STR("since"), past->signal.created_us);
        json_write_member_bool(w, STR("open"), past->consumed_us == 0);
        if (past->plan_id != 0)
            json_write_member_i64(w, STR("plan"), past->plan_id);
        if (past->closed_by.len > 0)
            json_write_member_str(w, STR("closedBy"), past->closed_by);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_quarantine(struct json_writer *w, const struct view_why *why)
{
    json_write_name(w, STR("quarantine"));
    json_write_array(w);
    for (size_t i = 0; i < why->quarantine.count; i++) {
        const struct quarantined *bad = &why->quarantine.items[i];

        json_write_object(w);
        json_write_member_i64(w, STR("id"), bad->id);
        json_write_member_str(w, STR("reason"), bad->reason);
        json_write_member_str(w, STR("detail"), bad->detail);
        json_write_member_instant(w, STR("observedAt"), bad->observed_us);
        json_write_member_bool(w, STR("open"), bad->resolution == QUARANTINE_OPEN);
        if (bad->resolution != QUARANTINE_OPEN) {
            json_write_member_str(w, STR("resolution"),
                                  quarantine_resolution_word(bad->resolution));
            json_write_member_str(w, STR("resolvedBy"), bad->resolved_by);
            json_write_member_instant(w, STR("resolvedAt"), bad->resolved_us);
        }
        view_write_lineage(w, &bad->lineage);
        json_write_end(w);
    }
    json_write_end(w);
}

/* ---- its versions ---- */

static void write_request(struct json_writer *w, const struct trace_request *request)
{
    json_write_name(w, STR("request"));
    json_write_object(w);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)request->operation));
    json_write_member_str(w, STR("endpoint"), request->endpoint);
    view_write_member_window(w, STR("window"), request->window);
    json_write_member_i64(w, STR("attempt"), request->attempt);
    json_write_member_i64(w, STR("batchNo"), request->batch_no);
    json_write_member_str(w, STR("worker"), request->worker);
    json_write_member_instant(w, STR("committedAt"), request->committed_us);
    view_write_lineage(w, &request->lineage);
    json_write_name(w, STR("asked"));
    json_write_raw(w, request->digest);
    json_write_end(w);
}

static void write_place(struct json_writer *w, const struct trace_event *event)
{
    json_write_member_i64(w, STR("lane"), event->event.lane);
    if (event->pos == 0)
        return;
    json_write_member_i64(w, STR("position"), event->pos);
    json_write_member_instant(w, STR("sequencedAt"), event->sequenced_us);
}

static void write_version(struct json_writer *w, const struct why_version *version)
{
    json_write_object(w);
    json_write_member_i64(w, STR("version"), version->event.event.version);
    json_write_member_str(w, STR("event"), version->event.event.event_id);
    json_write_member_str(w, STR("type"), version->event.event.event_type);
    json_write_member_instant(w, STR("at"), version->event.event.occurred_us);
    if (version->updated.len > 0)
        json_write_member_str(w, STR("updatedAt"), version->updated);
    if (version->merged_into.len > 0)
        json_write_member_str(w, STR("mergedInto"), version->merged_into);
    if (version->has_before) {
        json_write_name(w, STR("changed"));
        json_write_array(w);
        for (size_t i = 0; i < version->changed.count; i++)
            json_write_str(w, version->changed.items[i]);
        json_write_end(w);
        json_write_member_bool(w, STR("sameDate"), version->is_same_date);
    }
    json_write_member_bool(w, STR("rederived"), version->is_rederived);
    write_place(w, &version->event);
    if (version->has_request)
        write_request(w, &version->request);
    json_write_end(w);
}

static void write_record(struct json_writer *w, const struct view_why *why)
{
    const struct stored_record *record = &why->record;

    json_write_name(w, STR("record"));
    json_write_object(w);
    json_write_member_i64(w, STR("version"), record->version);
    json_write_member_bool(w, STR("deleted"), record->is_deleted);
    if (record->has_updated)
        json_write_member_instant(w, STR("updatedAt"), record->updated_us);
    json_write_member_instant(w, STR("createdAt"), record->created_us);
    json_write_member_instant(w, STR("observedAt"), record->observed_us);
    json_write_member_instant(w, STR("checkedAt"), record->checked_us);
    json_write_member_bool(w, STR("olderKept"), why->is_older_kept);
    json_write_end(w);
}

static void write_versions(struct json_writer *w, const struct view_why *why)
{
    json_write_name(w, STR("versions"));
    json_write_array(w);
    for (size_t i = 0; i < why->versions.count; i++)
        write_version(w, &why->versions.items[i]);
    json_write_end(w);
}

/* ---- who reads it ---- */

static void write_rows(struct json_writer *w, const struct why_row_list *rows)
{
    json_write_name(w, STR("tables"));
    json_write_array(w);
    for (size_t i = 0; i < rows->count; i++) {
        json_write_object(w);
        json_write_member_str(w, STR("table"), rows->items[i].table);
        json_write_member_str(w, STR("state"), why_row_name(rows->items[i].state));
        if (rows->items[i].version > 0)
            json_write_member_i64(w, STR("version"), rows->items[i].version);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_delivery(struct json_writer *w, const struct why_delivery *delivery)
{
    const struct subscription *subscription = &delivery->subscription;

    json_write_object(w);
    json_write_member_str(w, STR("name"), subscription->name);
    json_write_member_str(w, STR("kind"),
                          code_of(&SUBSCRIPTION_KIND_CODES, (int)subscription->kind));
    json_write_member_str(w, STR("subscriptionState"),
                          code_of(&SUBSCRIPTION_STATE_CODES, (int)subscription->state));
    json_write_member_str(w, STR("state"), why_delivery_name(delivery->state));
    json_write_member_i64(w, STR("readers"), delivery->readers);
    if (delivery->error.len > 0)
        json_write_member_str(w, STR("readerError"), delivery->error);
    if (delivery->state == WHY_WAITING)
        json_write_member_i64(w, STR("behind"), delivery->behind);
    if (delivery->state == WHY_PARKED) {
        json_write_member_i64(w, STR("headVersion"), delivery->parked.head_version);
        json_write_member_i64(w, STR("attempts"), delivery->parked.attempts);
        json_write_member_str(w, STR("error"), delivery->parked.last_error);
        json_write_member_instant(w, STR("nextRetry"), delivery->parked.next_retry_us);
    }
    if (delivery->state == WHY_DEAD)
        json_write_member_str(w, STR("error"), delivery->letter.reason);
    if (delivery->unreachable.len > 0)
        json_write_member_str(w, STR("error"), delivery->unreachable);
    if (subscription->kind == SUBSCRIPTION_PROJECTION) {
        json_write_member_bool(w, STR("rebuilding"), delivery->is_rebuilding);
        write_rows(w, &delivery->rows);
    }
    json_write_end(w);
}

static void write_stream(struct json_writer *w, const struct view_why *why)
{
    json_write_name(w, STR("stream"));
    json_write_object(w);
    json_write_member_bool(w, STR("sequenced"), why->is_sequenced);
    json_write_member_bool(w, STR("publisherRuns"), why->has_sequencer);
    if (why->has_sequencer)
        json_write_member_str(w, STR("publisher"), why->sequencer.owner);
    json_write_end(w);
    json_write_name(w, STR("subscriptions"));
    json_write_array(w);
    for (size_t i = 0; i < why->deliveries.count; i++)
        write_delivery(w, &why->deliveries.items[i]);
    json_write_end(w);
}

void view_why_write(struct json_writer *w, const struct view_why *why)
{
    json_write_object(w);
    json_write_member_str(w, STR("source"), why->key.source);
    json_write_member_str(w, STR("endpoint"), why->key.endpoint);
    json_write_member_str(w, STR("id"), why->key.provider_id);
    json_write_member_bool(w, STR("isThere"), view_why_is_there(why));
    write_findings(w, why);
    if (why->has_date)
        json_write_member_instant(w, STR("date"), why->date_us);
    write_windows(w, why);
    write_plans(w, why);
    write_listed(w, why);
    write_signals(w, why);
    write_quarantine(w, why);
    json_write_member_bool(w, STR("foreign"), why->is_foreign);
    if (why->has_record) {
        if (!why->is_foreign)
            write_record(w, why);
        write_versions(w, why);
        write_stream(w, why);
    }
    json_write_end(w);
}
