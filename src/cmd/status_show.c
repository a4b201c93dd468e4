#include <inttypes.h>

#include "base/instant.h"
#include "cmd/columns.h"
#include "cmd/output.h"
#include "cmd/status.h"
#include "cmd/text.h"
#include "data/json_write.h"

#define OUTPUT_BYTES_MAX ((size_t)64 << 20)

enum { TROUBLES_SHOWN = 5 };

/* ---- for people ---- */

static struct str span_text(struct arena *arena, int64_t span_us)
{
    struct buf text;

    buf_init(&text, arena, 64);
    text_span(&text, span_us > 0 ? span_us : 0);
    return buf_str(&text);
}

static struct str instant_text(struct arena *arena, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    const size_t len = instant_format(at_us, text);

    return arena_copy(arena, (struct str){ text, len });
}

/* Lower case, as operations are written on the command line. */
static struct str word(struct arena *arena, struct str code)
{
    struct str copy = arena_copy(arena, code);

    for (size_t i = 0; copy.data != NULL && i < copy.len; i++) {
        char *c = (char *)copy.data + i;

        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    }
    return copy;
}

static bool print_counts(const struct status_source *source, struct arena *arena, FILE *out,
                         struct error *err)
{
    static const char *const heads[] = { "  OPERATION", "ENDPOINT", "QUEUED", "RUNNING",
                                         "DONE 24H",    "PARTIAL",  "FAILED" };
    struct columns columns;

    if (source->counts.count == 0) {
        fprintf(out, "  nothing waits, runs or ended in the last 24 hours\n");
        return true;
    }
    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < source->counts.count; i++) {
        const struct partition_count *count = &source->counts.items[i];
        const struct str operation =
            word(arena, code_of(&OPERATION_CODES, (int)count->partition.operation));

        columns_cell(&columns, arena_printf(arena, "  %.*s", STR_ARG(operation)));
        columns_cell(&columns, count->partition.endpoint);
        columns_i64(&columns, count->queued);
        columns_i64(&columns, count->running);
        columns_i64(&columns, count->ended[TASK_SUCCEEDED]);
        columns_i64(&columns, count->ended[TASK_PARTIAL]);
        columns_i64(&columns, count->ended[TASK_FAILED]);
    }
    return columns_print(&columns, out, err);
}

static bool print_cursors(const struct status_source *source, int64_t now_us, struct arena *arena,
                          FILE *out, struct error *err)
{
    static const char *const heads[] = { "  CURSOR", "OF", "AT", "LAG" };
    struct columns columns;

    if (source->cursors.count == 0)
        return true;
    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < source->cursors.count; i++) {
        const struct cursor *cursor = &source->cursors.items[i];
        char text[INSTANT_TEXT_MAX];

        columns_cell(&columns, arena_printf(arena, "  %.*s", STR_ARG(cursor->name.cursor_key)));
        columns_cell(&columns, word(arena, code_of(&OPERATION_CODES, (int)cursor->name.operation)));
        columns_cell(&columns, arena_copy(arena, cursor_value_text(&cursor->value, text)));
        columns_cell(&columns, cursor->value.type == CURSOR_TIME
                                   ? span_text(arena, now_us - cursor->value.instant_us)
                                   : STR("-"));
    }
    return columns_print(&columns, out, err);
}

static bool print_running(const struct status_source *source, int64_t now_us, struct arena *arena,
                          FILE *out, struct error *err)
{
    static const char *const heads[] = { "  TASK", "OWNER", "FOR", "LAST BATCH", "LEASE" };
    struct columns columns;

    if (source->running.count == 0)
        return true;
    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < source->running.count; i++) {
        const struct status_task *running = &source->running.items[i];
        const int64_t left_us = running->task.leased_until_us - now_us;
        const struct str span = span_text(arena, left_us < 0 ? -left_us : left_us);

        columns_cell(&columns, arena_printf(arena, "  %" PRId64, running->task.id));
        columns_cell(&columns, running->task.lease_owner);
        columns_cell(&columns, running->started_us > 0
                                   ? span_text(arena, now_us - running->started_us)
                                   : STR("-"));
        columns_cell(&columns,
                     running->batch_us > 0
                         ? arena_printf(arena, "%.*s ago",
                                        STR_ARG(span_text(arena, now_us - running->batch_us)))
                         : STR("-"));
        columns_cell(&columns, left_us < 0 ? arena_printf(arena, "ran out %.*s ago", STR_ARG(span))
                                           : arena_printf(arena, "%.*s left", STR_ARG(span)));
    }
    return columns_print(&columns, out, err);
}

static void print_trouble(const struct trouble *trouble, struct arena *arena, FILE *out)
{
    const struct task *task = &trouble->ended.task;
    const struct str status = code_of(&TASK_STATUS_CODES, (int)task->status);

    fprintf(out, "  %.*s  %.*s", STR_ARG(instant_text(arena, trouble->ended.ended_us)),
            STR_ARG(word(arena, status)));
    if (window_is_valid(task->window))
        fprintf(out, "  %.*s .. %.*s", STR_ARG(instant_text(arena, task->window.from_us)),
                STR_ARG(instant_text(arena, task->window.to_us)));
    fprintf(out, "  task %" PRId64 "%s\n    %.*s\n", task->id,
            trouble->is_missing ? ", still missing" : "", STR_ARG(task->last_error));
}

static void print_troubles(const struct status_source *source, struct arena *arena, FILE *out)
{
    const struct trouble_list *list = &source->troubles;

    for (size_t i = 0; i < list->count && i < TROUBLES_SHOWN; i++)
        print_trouble(&list->items[i], arena, out);
    if (list->count > TROUBLES_SHOWN)
        fprintf(out, "  ... and %zu more in the last 24 hours (--json shows them)\n",
                list->count - TROUBLES_SHOWN);
}

static void print_pauses(const struct status_source *source, struct arena *arena, FILE *out)
{
    for (size_t i = 0; i < source->pauses.count; i++) {
        const struct pause *pause = &source->pauses.items[i];
        const char *slash = pause->endpoint.len > 0 ? "/" : "";

        fprintf(out, "  %.*s %.*s%s%.*s since %.*s by %.*s: %.*s\n",
                STR_ARG(word(arena, code_of(&PAUSE_KIND_CODES, (int)pause->kind))),
                STR_ARG(source->code), slash, STR_ARG(pause->endpoint),
                STR_ARG(instant_text(arena, pause->created_us)), STR_ARG(pause->created_by),
                STR_ARG(pause->reason));
    }
}

static bool print_source(const struct status_source *source, int64_t now_us, struct arena *arena,
                         FILE *out, struct error *err)
{
    const struct open_count *open = &source->open;

    fprintf(out, "%.*s\n", STR_ARG(source->code));
    print_pauses(source, arena, out);
    if (!print_counts(source, arena, out, err) || !print_cursors(source, now_us, arena, out, err) ||
        !print_running(source, now_us, arena, out, err))
        return false;
    print_troubles(source, arena, out);
    if (open->quarantined + open->signals + open->tickets > 0)
        fprintf(out,
                "  open: %" PRId64 " in quarantine, %" PRId64 " to be looked at again, %" PRId64
                " slices to be cut again\n",
                open->quarantined, open->signals, open->tickets);
    fprintf(out, "\n");
    return true;
}

static struct str until_text(struct arena *arena, int64_t until_us, int64_t now_us)
{
    return until_us > now_us ? instant_text(arena, until_us) : STR("-");
}

static bool print_gates(const struct status *status, struct arena *arena, FILE *out,
                        struct error *err)
{
    static const char *const heads[] = { "RATE GATE",    "PER SECOND", "COOL-DOWN UNTIL",
                                         "PARKED UNTIL", "THIS HOUR",  "TODAY" };
    struct columns columns;

    if (status->gates.count == 0)
        return true;
    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < status->gates.count; i++) {
        const struct status_gate *gate = &status->gates.items[i];
        const struct rate_gate *row = &gate->row.gate;

        columns_cell(&columns, gate->row.key);
        columns_cell(&columns,
                     arena_printf(arena, "%" PRId64 ".%02" PRId64, row->bucket.rate / MICRO,
                                  row->bucket.rate % MICRO / (MICRO / 100)));
        columns_cell(&columns, until_text(arena, row->bucket.cooldown_until_us, status->now_us));
        columns_cell(&columns, until_text(arena, row->parked_until_us, status->now_us));
        columns_i64(&columns, gate->used_hour);
        columns_i64(&columns, gate->used_day);
    }
    if (!columns_print(&columns, out, err))
        return false;
    fprintf(out, "\n");
    return true;
}

bool status_print(const struct status *status, struct arena *arena, FILE *out, struct error *err)
{
    if (status->sources.count == 0)
        fprintf(out, "no source is in force: patra source apply FILE\n\n");
    for (size_t i = 0; i < status->sources.count; i++) {
        if (!print_source(&status->sources.items[i], status->now_us, arena, out, err))
            return false;
    }
    if (!print_gates(status, arena, out, err))
        return false;
    fprintf(out, "%s\n", status->needs.count == 0 ? "nothing needs a person" : "needs a person:");
    for (size_t i = 0; i < status->needs.count; i++)
        fprintf(out, "  %.*s\n", STR_ARG(status->needs.items[i].text));
    return !arena->failed || arena_error(arena, err);
}

/* ---- for programs ---- */

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
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_cursors(struct json_writer *w, const struct status_source *source, int64_t now_us)
{
    json_write_name(w, STR("cursors"));
    json_write_array(w);
    for (size_t i = 0; i < source->cursors.count; i++) {
        const struct cursor *cursor = &source->cursors.items[i];
        char text[INSTANT_TEXT_MAX];

        json_write_object(w);
        json_write_member_str(w, STR("operation"),
                              code_of(&OPERATION_CODES, (int)cursor->name.operation));
        json_write_member_str(w, STR("key"), cursor->name.cursor_key);
        json_write_member_str(w, STR("scope"),
                              code_of(&NAMESPACE_SCOPE_CODES, (int)cursor->name.scope));
        json_write_member_str(w, STR("namespace"), cursor->name.namespace_key);
        json_write_member_str(w, STR("value"), cursor_value_text(&cursor->value, text));
        if (cursor->value.type == CURSOR_TIME)
            json_write_member_i64(w, STR("lagSeconds"),
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
        json_write_member_bool(w, STR("missing"), trouble->is_missing);
        json_write_member_str(w, STR("text"), task->last_error);
        json_write_member_instant(w, STR("endedAt"), trouble->ended.ended_us);
        json_write_end(w);
    }
    json_write_end(w);
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
    write_troubles(w, source);
    json_write_member_i64(w, STR("quarantined"), source->open.quarantined);
    json_write_member_i64(w, STR("signals"), source->open.signals);
    json_write_member_i64(w, STR("slicesToCut"), source->open.tickets);
    json_write_end(w);
}

static void write_gate(struct json_writer *w, const struct status_gate *gate)
{
    const struct rate_gate *row = &gate->row.gate;

    json_write_object(w);
    json_write_member_str(w, STR("key"), gate->row.key);
    json_write_name(w, STR("perSecond"));
    json_write_double(w, (double)row->bucket.rate / (double)MICRO);
    if (row->bucket.cooldown_until_us > 0)
        json_write_member_instant(w, STR("coolDownUntil"), row->bucket.cooldown_until_us);
    if (row->parked_until_us != INT64_MIN)
        json_write_member_instant(w, STR("parkedUntil"), row->parked_until_us);
    json_write_member_i64(w, STR("usedThisHour"), gate->used_hour);
    json_write_member_i64(w, STR("usedToday"), gate->used_day);
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
        write_gate(&w, &status->gates.items[i]);
    json_write_end(&w);
    json_write_name(&w, STR("needs"));
    json_write_array(&w);
    for (size_t i = 0; i < status->needs.count; i++)
        json_write_str(&w, status->needs.items[i].text);
    json_write_end(&w);
    json_write_end(&w);
    return output_json(out, &w, err);
}
