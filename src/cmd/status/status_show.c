/* Status for people: a block per source, the rate gates, and what needs a person. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cmd/status/status_show.h"
#include "view/signals.h"

enum { TROUBLES_SHOWN = 5 };

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

/* "03:12:45Z, in 2m 10s"; far off with its date. */
static struct str at_text(struct arena *arena, int64_t at_us, int64_t now_us)
{
    struct buf text;

    buf_init(&text, arena, 128);
    if (at_us - now_us < US_PER_DAY)
        text_clock(&text, at_us);
    else
        buf_add(&text, text_instant_in(arena, at_us));
    buf_add(&text, STR(", in "));
    text_span(&text, at_us > now_us ? at_us - now_us : 0);
    return buf_str(&text);
}

static struct str put_off_text(struct arena *arena, const struct view_put_off *put_off,
                               int64_t now_us)
{
    return arena_printf(arena, "put off: %" PRId64 " task%s, the first until %.*s: %.*s",
                        put_off->count, put_off->count == 1 ? "" : "s",
                        STR_ARG(at_text(arena, put_off->until_us, now_us)),
                        STR_ARG(put_off->reason));
}

static bool print_counts(const struct view_source_status *source, int64_t now_us,
                         struct arena *arena, FILE *out, struct error *err)
{
    static const char *const heads[] = { "  OPERATION", "ENDPOINT", "QUEUED", "RUNNING",
                                         "DONE 24H",    "PARTIAL",  "FAILED", "FIRST DUE" };
    struct columns columns;

    if (source->counts.count == 0) {
        fprintf(out, "  no task is waiting or running, and none ended in the last 24 hours\n");
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
        columns_cell(&columns, count->queued == 0 ? STR("-")
                               : count->first_us <= now_us
                                   ? STR("now")
                                   : at_text(arena, count->first_us, now_us));
        if (source->put_off[i].count > 0)
            columns_note(&columns, put_off_text(arena, &source->put_off[i], now_us));
    }
    return columns_print(&columns, out, err);
}

/* A campaign that is done is not shown. */
static bool is_over(const struct cursor_way *way)
{
    return way->is_campaign && way->is_known && way->left_us == 0;
}

static struct str behind_text(struct arena *arena, const struct view_cursor *cursor, int64_t now_us)
{
    if (cursor->way.has_ids)
        return arena_printf(arena, "%" PRId64 " ids", cursor->way.left_ids);
    if (cursor->cursor.value.type != CURSOR_TIME)
        return STR("-");
    if (cursor->way.is_campaign && cursor->way.is_known)
        return arena_printf(arena, "%.*s to go", STR_ARG(text_span_in(arena, cursor->way.left_us)));
    return text_span_in(arena, now_us - cursor->cursor.value.instant_us);
}

static bool print_cursors(const struct view_source_status *source, int64_t now_us,
                          struct arena *arena, FILE *out, struct error *err)
{
    static const char *const heads[] = { "  CURSOR", "OF", "AT", "BEHIND NOW" };
    struct columns columns;
    size_t shown = 0;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < source->cursors.count; i++) {
        const struct cursor *cursor = &source->cursors.items[i].cursor;
        char text[INSTANT_TEXT_MAX];

        if (is_over(&source->cursors.items[i].way))
            continue;
        shown++;

        columns_cell(&columns, arena_printf(arena, "  %.*s", STR_ARG(cursor->name.cursor_key)));
        columns_cell(&columns, word(arena, code_of(&OPERATION_CODES, (int)cursor->name.operation)));
        columns_cell(&columns, arena_copy(arena, cursor_value_text(&cursor->value, text)));
        columns_cell(&columns, behind_text(arena, &source->cursors.items[i], now_us));
    }
    return shown == 0 || columns_print(&columns, out, err);
}

static bool print_running(const struct view_source_status *source, int64_t now_us,
                          struct arena *arena, FILE *out, struct error *err)
{
    static const char *const heads[] = { "  TASK", "OWNER", "FOR", "LAST BATCH", "LEASE" };
    struct columns columns;

    if (source->running.count == 0)
        return true;
    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < source->running.count; i++) {
        const struct view_running *running = &source->running.items[i];
        const int64_t left_us = running->task.leased_until_us - now_us;
        const struct str span = text_span_in(arena, left_us < 0 ? -left_us : left_us);

        columns_cell(&columns, arena_printf(arena, "  %" PRId64, running->task.id));
        columns_cell(&columns, running->task.lease_owner);
        columns_cell(&columns, running->started_us > 0
                                   ? text_span_in(arena, now_us - running->started_us)
                                   : STR("-"));
        columns_cell(&columns,
                     running->batch_us > 0
                         ? arena_printf(arena, "%.*s ago",
                                        STR_ARG(text_span_in(arena, now_us - running->batch_us)))
                         : STR("-"));
        columns_cell(&columns, left_us < 0 ? arena_printf(arena, "expired %.*s ago", STR_ARG(span))
                                           : arena_printf(arena, "%.*s left", STR_ARG(span)));
    }
    return columns_print(&columns, out, err);
}

static void print_trouble(const struct trouble *trouble, struct arena *arena, FILE *out)
{
    const struct task *task = &trouble->ended.task;
    const struct str status = code_of(&TASK_STATUS_CODES, (int)task->status);
    char ids[ID_RANGE_TEXT_MAX];

    fprintf(out, "  %.*s  %.*s", STR_ARG(text_instant_in(arena, trouble->ended.ended_us)),
            STR_ARG(word(arena, status)));
    if (window_is_valid(task->window))
        fprintf(out, "  %.*s .. %.*s", STR_ARG(text_instant_in(arena, task->window.from_us)),
                STR_ARG(text_instant_in(arena, task->window.to_us)));
    if (id_range_is_valid(task->ids)) {
        id_range_text(task->ids, ids);
        fprintf(out, ", %s", ids);
    }
    fprintf(out, "  task %" PRId64 "%s\n    %.*s\n", task->id,
            trouble->is_missing  ? ", still missing"
            : trouble->has_holes ? ", with holes"
                                 : "",
            STR_ARG(task->last_error));
}

static void print_troubles(const struct view_source_status *source, struct arena *arena, FILE *out)
{
    const struct trouble_list *list = &source->troubles;
    size_t open = 0, healed = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (!trouble_is_open(&list->items[i]))
            healed++;
        else if (open++ < TROUBLES_SHOWN)
            print_trouble(&list->items[i], arena, out);
    }
    if (open > TROUBLES_SHOWN)
        fprintf(out, "  ... and %zu more in the last 24 hours (--json shows them)\n",
                open - TROUBLES_SHOWN);
    if (healed > 0)
        fprintf(out,
                "  %zu task%s failed in the last 24 hours; the window%s since covered or "
                "planned again\n",
                healed, healed == 1 ? "" : "s", healed == 1 ? " was" : "s were");
}

static void print_pauses(const struct view_source_status *source, struct arena *arena, FILE *out)
{
    for (size_t i = 0; i < source->pauses.count; i++) {
        const struct pause *pause = &source->pauses.items[i];
        const char *slash = pause->endpoint.len > 0 ? "/" : "";

        fprintf(
            out,
            "  %.*s %.*s%s%.*s since %.*s by %.*s: %.*s\n    lifted by: patra resume %.*s%s%.*s\n",
            STR_ARG(word(arena, code_of(&PAUSE_KIND_CODES, (int)pause->kind))),
            STR_ARG(source->code), slash, STR_ARG(pause->endpoint),
            STR_ARG(text_instant_in(arena, pause->created_us)), STR_ARG(pause->created_by),
            STR_ARG(pause->reason), STR_ARG(source->code), slash, STR_ARG(pause->endpoint));
    }
}

static void print_schedules(const struct view_source_status *source, int64_t now_us,
                            struct arena *arena, FILE *out)
{
    if (source->is_disabled)
        fprintf(out, "  disabled: its file says enabled: false\n");
    for (size_t i = 0; i < source->schedules.count; i++) {
        const struct schedule_view *view = &source->schedules.items[i];

        fprintf(out, "  schedule  %.*s", STR_ARG(view->operation));
        if (view->has_next)
            fprintf(out, "  next %.*s", STR_ARG(at_text(arena, view->next_us, now_us)));
        if (view->has_last)
            fprintf(out, "  last %.*s ago", STR_ARG(text_span_in(arena, now_us - view->last_us)));
        else
            fprintf(out, "  never fired");
        fprintf(out, "%s\n", view->is_due ? "  due now; patra serve fires it" : "");
    }
}

static void print_doubts(const struct view_source_status *source, FILE *out)
{
    for (int i = 0; i < FETCH_DOUBTS; i++) {
        const struct view_doubt *doubt = &source->doubts[i];

        if (doubt->slices > 0)
            fprintf(out, "  doubt  %" PRId64 " slice%s %s; the last: task %" PRId64 "\n",
                    doubt->slices, doubt->slices == 1 ? "" : "s",
                    view_doubt_text((enum fetch_doubt)i), doubt->task_id);
    }
}

static void print_quarantine(const struct view_source_status *source, struct arena *arena,
                             FILE *out)
{
    for (size_t i = 0; i < source->quarantine.count; i++) {
        const struct quarantine_sum *sum = &source->quarantine.items[i];

        fprintf(out, "  quarantine  %.*s: %" PRId64 " %.*s, the last at %.*s\n",
                STR_ARG(sum->endpoint), sum->count, STR_ARG(sum->reason),
                STR_ARG(text_instant_in(arena, sum->last_us)));
    }
    if (source->quarantine.count > 0)
        fprintf(out, "    see: patra quarantine list %.*s\n", STR_ARG(source->code));
}

static void print_open(const struct view_source_status *source, struct arena *arena, FILE *out)
{
    const struct open_count *open = &source->open;

    if (open->signals > 0)
        fprintf(out, "  signals  %" PRId64 " record%s for an update to request again\n",
                open->signals, open->signals == 1 ? "" : "s");
    if (open->signals > 0 && !source->takes_signals)
        fprintf(out, "    %.*s\n", STR_ARG(view_signals_idle_text(arena, source->code)));
    else if (open->signals > 0)
        fprintf(out, "    see: patra signal list %.*s\n", STR_ARG(source->code));
    if (open->tickets > 0)
        fprintf(out, "  slices   %" PRId64 " slice%s to be re-sliced\n", open->tickets,
                open->tickets == 1 ? "" : "s");
}

static struct str records_text(struct arena *arena, const struct view_source_status *source)
{
    struct buf text;

    buf_init(&text, arena, 64);
    text_count(&text, source->records);
    buf_add(&text, source->records == 1 ? STR(" record") : STR(" records"));
    return buf_str(&text);
}

static bool print_source(const struct view_source_status *source, int64_t now_us,
                         struct arena *arena, FILE *out, struct error *err)
{
    fprintf(out, "%.*s  %.*s\n", STR_ARG(source->code), STR_ARG(records_text(arena, source)));
    print_pauses(source, arena, out);
    if (!print_counts(source, now_us, arena, out, err) ||
        !print_cursors(source, now_us, arena, out, err) ||
        !print_running(source, now_us, arena, out, err))
        return false;
    print_schedules(source, now_us, arena, out);
    print_troubles(source, arena, out);
    print_doubts(source, out);
    print_quarantine(source, arena, out);
    print_open(source, arena, out);
    fprintf(out, "\n");
    return true;
}

static struct str rate_text(struct arena *arena, const struct view_gate *gate)
{
    const double wanted = view_gate_limit(gate).per_second;
    const bool is_announced =
        gate->view.provider_rate > 0 && gate->view.provider_rate < gate->view.rate;
    const double learned =
        (double)(is_announced ? gate->view.provider_rate : gate->view.rate) / (double)MICRO;

    if (!gate->is_configured)
        return arena_printf(arena, "%.2f", learned);
    if (!gate->view.is_known)
        return arena_printf(arena, "%.2f, not used yet", wanted);
    return arena_printf(arena, "%.2f of %.2f%s", learned, wanted,
                        is_announced ? ", the source's limit" : "");
}

static struct str bucket_text(struct arena *arena, const struct view_gate *gate)
{
    if (!gate->view.is_known)
        return STR("-");
    return gate->is_configured
               ? arena_printf(arena, "%" PRId64 " of %" PRId64, gate->view.tokens / MICRO,
                              view_gate_limit(gate).burst)
               : arena_printf(arena, "%" PRId64, gate->view.tokens / MICRO);
}

static struct str quota_text(struct arena *arena, const struct gate_view_quota *quota)
{
    struct buf text;

    if (quota->limit == 0)
        return STR("-");
    buf_init(&text, arena, 128);
    text_count(&text, quota->used);
    buf_add(&text, STR(" of "));
    text_count(&text, quota->limit);
    buf_add(&text, STR(" until "));
    text_clock(&text, quota->until_us);
    return buf_str(&text);
}

static struct str blocked_text(struct arena *arena, const struct view_gate *gate, int64_t now_us)
{
    const struct view_gate_block block = view_gate_block(gate, now_us);

    if (gate->view.refused_us > 0)
        return STR("resume (credential refused)");
    if (!block.is_blocked)
        return STR("-");
    return arena_printf(arena, "%.*s (%.*s)", STR_ARG(at_text(arena, block.until_us, now_us)),
                        STR_ARG(WAIT_REASON_CODES.items[block.reason].meaning));
}

static bool print_gates(const struct view_status *status, struct arena *arena, FILE *out,
                        struct error *err)
{
    static const char *const heads[] = { "RATE GATE", "PER SECOND", "BUCKET",
                                         "THIS HOUR", "TODAY",      "BLOCKED UNTIL" };
    struct columns columns;

    if (status->gates.count == 0)
        return true;
    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < status->gates.count; i++) {
        const struct view_gate *gate = &status->gates.items[i];

        columns_cell(&columns, gate->key);
        columns_cell(&columns, rate_text(arena, gate));
        columns_cell(&columns, bucket_text(arena, gate));
        columns_cell(&columns, quota_text(arena, &gate->view.hour));
        columns_cell(&columns, quota_text(arena, &gate->view.day));
        columns_cell(&columns, blocked_text(arena, gate, status->now_us));
    }
    if (!columns_print(&columns, out, err))
        return false;
    fprintf(out, "\n");
    return true;
}

bool status_print(const struct view_status *status, struct arena *arena, FILE *out,
                  struct error *err)
{
    if (status->sources.count == 0)
        fprintf(out, "no source is in force; add one with patra source apply FILE\n\n");
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
