/* The summary of a harvest, for people and for programs. */
#include <inttypes.h>

#include "base/text.h"
#include "cli/output.h"
#include "cmd/harvest/harvest.h"
#include "data/json_write.h"
#include "view/doubt.h"
#include "view/members.h"

enum { TROUBLES_SHOWN = 10 };

enum exit_code harvest_exit(const struct harvest_summary *summary)
{
    switch (summary->end) {
    case HARVEST_INTERRUPTED:
        return EXIT_INTERRUPTED;
    case HARVEST_STOPPED:
        return EXIT_REFUSED;
    case HARVEST_PAUSED:
    case HARVEST_WAITS:
    case HARVEST_BUDGET:
        return EXIT_LATER;
    case HARVEST_DONE:
        break;
    }
    return summary->troubles.missing + summary->troubles.holes > 0 ||
                   summary->count.ended[TASK_CANCELLED] > 0
               ? EXIT_FOUND
               : EXIT_DONE;
}

/* ---- for people ---- */

static const char *word_of(const struct harvest_summary *summary)
{
    switch (summary->end) {
    case HARVEST_INTERRUPTED:
        return "interrupted";
    case HARVEST_STOPPED:
        return "stopped by a fatal error";
    case HARVEST_PAUSED:
        return "paused";
    case HARVEST_WAITS:
        return "would wait too long";
    case HARVEST_BUDGET:
        return "out of budget";
    case HARVEST_DONE:
        break;
    }
    return harvest_exit(summary) == EXIT_DONE ? "done" : "done, with something missing";
}

static void add_instant(struct buf *out, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    const size_t len = instant_format(at_us, text);

    buf_add(out, (struct str){ text, len });
}

static void add_window(struct buf *out, struct window window)
{
    add_instant(out, window.from_us);
    buf_add(out, STR(" .. "));
    add_instant(out, window.to_us);
}

static void add_count(struct buf *out, int64_t count, const char *what)
{
    text_count(out, count);
    buf_printf(out, " %s", what);
}

static void add_slices(const struct harvest_summary *summary, struct buf *out)
{
    const struct partition_count *count = &summary->count;
    const int64_t left = count->queued + count->running;

    buf_add(out, STR("  slices      "));
    add_count(out, count->ended[TASK_SUCCEEDED], "done");
    buf_printf(out, ", %" PRId64 " partial, %" PRId64 " failed", count->ended[TASK_PARTIAL],
               count->ended[TASK_FAILED]);
    if (count->ended[TASK_CANCELLED] > 0)
        buf_printf(out, ", %" PRId64 " cancelled", count->ended[TASK_CANCELLED]);
    if (left > 0)
        buf_printf(out, ", %" PRId64 " left", left);
    buf_add_char(out, '\n');
}

static void add_records(const struct progress_view *view, struct buf *out)
{
    buf_add(out, STR("  records     "));
    text_count(out, view->records);
    buf_add(out, STR(": "));
    add_count(out, view->sums.created, "new, ");
    add_count(out, view->sums.updated, "changed, ");
    add_count(out, view->sums.unchanged, "unchanged, ");
    add_count(out, view->sums.deleted, "deleted\n");
    if (view->sums.same_date > 0)
        buf_printf(out, "  same date   %" PRId64 " changed without a new date\n",
                   view->sums.same_date);
    if (view->sums.future > 0)
        buf_printf(out,
                   "  future      %" PRId64 " with a date in the future, which is not believed\n",
                   view->sums.future);
}

static void add_requests(const struct progress_view *view, struct buf *out)
{
    buf_add(out, STR("  requests    "));
    text_count(out, view->sums.requests);
    buf_printf(out, " (%" PRId64 " retries, %" PRId64 " answered 429), ", view->sums.retries,
               view->sums.throttled);
    text_bytes(out, view->sums.bytes);
    if (view->waited_us > 0) {
        buf_add(out, STR(", waited "));
        text_span(out, view->waited_us);
    }
    buf_add_char(out, '\n');
}

/* Where no record ever came, the filter is wrong more often than the source is empty. */
static void add_empty(const struct harvest_summary *summary, struct buf *out)
{
    const bool is_listed = summary->first->operation == OPERATION_HARVEST ||
                           summary->first->operation == OPERATION_BACKFILL;

    if (!is_listed || summary->view.records > 0 || summary->view.sums.quarantined > 0 ||
        summary->count.ended[TASK_SUCCEEDED] == 0 || summary->after.observed_max.len > 0)
        return;
    buf_printf(out,
               "  empty       no record came: is the filter by date right? patra source test %.*s "
               "--live shows what the source returns\n",
               STR_ARG(summary->source));
}

/* Slices that are complete by all signs, which are not enough to be certain. */
static void add_doubts(const struct progress_sums *sums, struct buf *out)
{
    for (int i = 0; i < FETCH_DOUBTS; i++) {
        if (sums->doubts[i] > 0)
            buf_printf(out, "  doubt       %" PRId64 " slice%s %s\n", sums->doubts[i],
                       sums->doubts[i] == 1 ? "" : "s", view_doubt_text((enum fetch_doubt)i));
    }
}

static void add_cursor(const struct harvest_summary *summary, struct buf *out)
{
    char before[INSTANT_TEXT_MAX], after[INSTANT_TEXT_MAX];

    if (!summary->has_cursor || summary->after.id == 0)
        return;
    buf_add(out, STR("  cursor      "));
    if (summary->before.id != 0)
        buf_add(out, cursor_value_text(&summary->before.value, before));
    else
        buf_add(out, STR("(none)"));
    buf_add(out, STR(" -> "));
    buf_add(out, cursor_value_text(&summary->after.value, after));
    buf_add_char(out, '\n');
}

static void add_ids(struct buf *out, struct id_range range)
{
    char text[ID_RANGE_TEXT_MAX];

    if (!id_range_is_valid(range))
        return;
    id_range_text(range, text);
    buf_printf(out, ", %s", text);
}

static void add_trouble(const struct trouble *trouble, bool takes_signals, struct buf *out)
{
    const struct task *task = &trouble->ended.task;

    buf_printf(out, "  %-10s  ", trouble->is_missing ? "missing" : "holes");
    if (window_is_valid(task->window)) {
        add_window(out, task->window);
        add_ids(out, task->ids);
    } else
        buf_printf(out, "task %" PRId64, task->id);
    buf_printf(out, ": %.*s\n              %s\n", STR_ARG(task->last_error),
               trouble_advice(trouble, takes_signals));
}

static void add_troubles(const struct harvest_summary *summary, struct buf *out)
{
    const struct trouble_list *list = &summary->troubles;
    int64_t shown = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (!trouble_is_open(&list->items[i]))
            continue;
        if (shown++ < TROUBLES_SHOWN)
            add_trouble(&list->items[i], summary->takes_signals, out);
    }
    if (shown > TROUBLES_SHOWN)
        buf_printf(out, "              ... and %" PRId64 " more: patra status %.*s\n",
                   shown - TROUBLES_SHOWN, STR_ARG(summary->source));
}

/* Other processes may cancel tasks while the harvest runs. */
static void add_cancelled(const struct harvest_summary *summary, struct buf *out)
{
    if (summary->count.ended[TASK_CANCELLED] > 0)
        buf_add(out,
                STR("  cancelled   what was cancelled covers nothing; the next trigger plans it "
                    "again\n"));
}

/* Why it ended before everything was done, and what to do. */
static void add_end(const struct harvest_summary *summary, struct buf *out)
{
    switch (summary->end) {
    case HARVEST_DONE:
        break;
    case HARVEST_INTERRUPTED:
        buf_add(out, STR("  next        run the same command again to continue\n"));
        break;
    case HARVEST_STOPPED:
        buf_printf(
            out,
            "  stopped     %.*s\n  next        fix the cause, then run: patra resume %.*s%s%.*s\n",
            STR_ARG(summary->pause.reason), STR_ARG(summary->source),
            summary->pause.endpoint.len > 0 ? "/" : "", STR_ARG(summary->pause.endpoint));
        break;
    case HARVEST_PAUSED:
        buf_printf(out, "  paused      %.*s\n  next        run: patra resume %.*s%s%.*s\n",
                   STR_ARG(summary->pause.reason), STR_ARG(summary->source),
                   summary->pause.endpoint.len > 0 ? "/" : "", STR_ARG(summary->pause.endpoint));
        break;
    case HARVEST_WAITS:
        buf_add(out, STR("  waits       no task may run before "));
        add_instant(out, summary->waits_until_us);
        if (summary->view.is_resting)
            buf_printf(out, " (%.*s)",
                       STR_ARG(WAIT_REASON_CODES.items[summary->view.rest.reason].meaning));
        buf_add(out, STR("; run the same command then to continue\n"));
        break;
    case HARVEST_BUDGET:
        buf_printf(out, "  budget      %.*s; run the same command later to continue\n",
                   STR_ARG(BUDGET_STOP_CODES.items[summary->stop].meaning));
        break;
    }
}

struct str harvest_idle_text(const struct plan_result *result)
{
    return result->idle == PLAN_IDLE_WINDOW
               ? WINDOW_EMPTY_CODES.items[result->decision.empty].meaning
               : PLAN_IDLE_CODES.items[result->idle].meaning;
}

/* What was planned. Where ids were chosen, the window only paces them. */
static void add_planned(const struct plan_result *first, struct buf *out)
{
    if (first->idle != PLAN_IDLE_NOT) {
        buf_printf(out, "  planned     nothing: %.*s\n", STR_ARG(harvest_idle_text(first)));
    } else if (first->ids > 0) {
        buf_add(out, STR("  planned     "));
        add_count(out, first->ids, first->ids == 1 ? "id\n" : "ids\n");
    } else if (window_is_valid(first->decision.window)) {
        buf_add(out, STR("  window      "));
        add_window(out, first->decision.window);
        buf_add_char(out, '\n');
    }
}

/* Records that the plan read again by a changed mapping, without a request. */
static void add_rederived(const struct rederive_result *done, struct buf *out)
{
    if (done->read == 0)
        return;
    buf_add(out, STR("  rederived   "));
    add_count(out, done->read, done->read == 1 ? "record" : "records");
    buf_printf(out, " by the changed mapping: %" PRId64 " changed, %" PRId64 " unchanged",
               done->changed, done->unchanged);
    if (done->bad > 0)
        buf_printf(out, ", %" PRId64 " cannot be read by it", done->bad);
    if (done->is_left)
        buf_add(out, STR("; the next update or patra rederive reads the rest"));
    buf_add_char(out, '\n');
}

/* "  lost        3 ids without a record, 1 of them refused: patra signal list pubmed". */
static void add_lost(const struct harvest_summary *summary, struct buf *out)
{
    const struct progress_sums *sums = &summary->view.sums;

    if (sums->lost_ids == 0)
        return;
    buf_printf(out, "  lost        %" PRId64 " id%s without a record", sums->lost_ids,
               sums->lost_ids == 1 ? "" : "s");
    if (sums->refused_ids > 0)
        buf_printf(out, ", %" PRId64 " of them refused", sums->refused_ids);
    buf_printf(out, ": patra signal list %.*s\n", STR_ARG(summary->source));
}

void harvest_print(const struct harvest_summary *summary, struct arena *arena, FILE *out)
{
    const int64_t cancelled = summary->count.ended[TASK_CANCELLED];
    const struct plan_result *first = summary->first;
    struct buf text;
    struct error err;

    buf_init(&text, arena, OUTPUT_BYTES_MAX);
    buf_printf(&text, "%.*s %.*s of %.*s: %s", STR_ARG(summary->source),
               STR_ARG(code_of(&OPERATION_CODES, (int)first->operation)), STR_ARG(first->endpoint),
               word_of(summary));
    if (cancelled > 0)
        buf_printf(&text, ", %" PRId64 " slice%s cancelled", cancelled, cancelled == 1 ? "" : "s");
    buf_add(&text, STR(", after "));
    text_span(&text, summary->view.elapsed_us);
    buf_add_char(&text, '\n');
    add_planned(first, &text);
    add_rederived(&summary->rederived, &text);
    add_slices(summary, &text);
    add_records(&summary->view, &text);
    add_requests(&summary->view, &text);
    add_empty(summary, &text);
    add_cursor(summary, &text);
    if (summary->view.sums.quarantined > 0)
        buf_printf(&text, "  quarantine  %" PRId64 " record%s; see patra quarantine list %.*s\n",
                   summary->view.sums.quarantined, summary->view.sums.quarantined == 1 ? "" : "s",
                   STR_ARG(summary->source));
    add_lost(summary, &text);
    add_doubts(&summary->view.sums, &text);
    add_troubles(summary, &text);
    add_cancelled(summary, &text);
    add_end(summary, &text);
    if (buf_ok(&text, &err))
        (void)fwrite(text.data, 1, text.len, out);
    else
        fprintf(out, "%s\n", err.text);
}

/* ---- for programs ---- */

static void write_sums(struct json_writer *w, const struct progress_view *view)
{
    const struct progress_sums *sums = &view->sums;

    json_write_name(w, STR("records"));
    json_write_object(w);
    json_write_member_i64(w, STR("created"), sums->created);
    json_write_member_i64(w, STR("updated"), sums->updated);
    json_write_member_i64(w, STR("changedSameDate"), sums->same_date);
    json_write_member_i64(w, STR("futureDates"), sums->future);
    json_write_member_i64(w, STR("unchanged"), sums->unchanged);
    json_write_member_i64(w, STR("deleted"), sums->deleted);
    json_write_member_i64(w, STR("quarantined"), sums->quarantined);
    json_write_end(w);
    json_write_member_i64(w, STR("lostIds"), sums->lost_ids);
    json_write_member_i64(w, STR("refusedIds"), sums->refused_ids);
    json_write_name(w, STR("doubts"));
    json_write_object(w);
    for (int i = 0; i < FETCH_DOUBTS; i++)
        json_write_member_i64(w, str_of(fetch_doubt_name((enum fetch_doubt)i)), sums->doubts[i]);
    json_write_end(w);
    json_write_member_i64(w, STR("batches"), sums->batches);
    json_write_member_i64(w, STR("requests"), sums->requests);
    json_write_member_i64(w, STR("retries"), sums->retries);
    json_write_member_i64(w, STR("throttled"), sums->throttled);
    json_write_member_i64(w, STR("bytes"), sums->bytes);
    json_write_member_i64(w, STR("waitedMs"), view->waited_us / US_PER_MS);
}

static void write_rederived(struct json_writer *w, const struct rederive_result *done)
{
    if (done->read == 0)
        return;
    json_write_name(w, STR("rederived"));
    json_write_object(w);
    json_write_member_i64(w, STR("read"), done->read);
    json_write_member_i64(w, STR("changed"), done->changed);
    json_write_member_i64(w, STR("unchanged"), done->unchanged);
    json_write_member_i64(w, STR("bad"), done->bad);
    json_write_member_bool(w, STR("left"), done->is_left);
    json_write_end(w);
}

static void write_slices(struct json_writer *w, const struct partition_count *count)
{
    json_write_name(w, STR("slices"));
    json_write_object(w);
    json_write_member_i64(w, STR("succeeded"), count->ended[TASK_SUCCEEDED]);
    json_write_member_i64(w, STR("partial"), count->ended[TASK_PARTIAL]);
    json_write_member_i64(w, STR("failed"), count->ended[TASK_FAILED]);
    json_write_member_i64(w, STR("cancelled"), count->ended[TASK_CANCELLED]);
    json_write_member_i64(w, STR("left"), count->queued + count->running);
    json_write_end(w);
}

static void write_cursor(struct json_writer *w, struct str name, const struct cursor *cursor)
{
    char text[INSTANT_TEXT_MAX];

    json_write_name(w, name);
    if (cursor->id == 0)
        json_write_null(w);
    else
        json_write_str(w, cursor_value_text(&cursor->value, text));
}

static void write_troubles(struct json_writer *w, const struct trouble_list *list)
{
    json_write_name(w, STR("troubles"));
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        const struct task *task = &list->items[i].ended.task;

        json_write_object(w);
        json_write_member_i64(w, STR("task"), task->id);
        json_write_member_str(w, STR("status"), code_of(&TASK_STATUS_CODES, (int)task->status));
        view_write_member_window(w, STR("window"), task->window);
        view_write_member_ids(w, task->ids);
        json_write_member_bool(w, STR("missing"), list->items[i].is_missing);
        json_write_member_bool(w, STR("holes"), list->items[i].has_holes);
        json_write_member_str(w, STR("text"), task->last_error);
        json_write_end(w);
    }
    json_write_end(w);
}

static struct str end_word(enum harvest_end end)
{
    static const struct str words[] = {
        [HARVEST_DONE] = STR_INIT("done"),       [HARVEST_INTERRUPTED] = STR_INIT("interrupted"),
        [HARVEST_STOPPED] = STR_INIT("stopped"), [HARVEST_PAUSED] = STR_INIT("paused"),
        [HARVEST_WAITS] = STR_INIT("waits"),     [HARVEST_BUDGET] = STR_INIT("budget"),
    };

    return words[end];
}

/* Why it ended, and until when. */
static void write_end(struct json_writer *w, const struct harvest_summary *summary)
{
    const bool is_shut = summary->end == HARVEST_STOPPED || summary->end == HARVEST_PAUSED;

    json_write_member_str(w, STR("end"), end_word(summary->end));
    json_write_member_i64(w, STR("exit"), harvest_exit(summary));
    if (is_shut)
        json_write_member_str(w, STR("reason"), summary->pause.reason);
    else if (summary->first->idle != PLAN_IDLE_NOT)
        json_write_member_str(w, STR("reason"), harvest_idle_text(summary->first));
    else if (summary->end == HARVEST_BUDGET)
        json_write_member_str(w, STR("reason"), BUDGET_STOP_CODES.items[summary->stop].meaning);
    if (summary->end == HARVEST_WAITS)
        json_write_member_instant(w, STR("until"), summary->waits_until_us);
}

bool harvest_print_json(const struct harvest_summary *summary, int64_t now_us, struct arena *arena,
                        FILE *out, struct error *err)
{
    const struct plan_result *first = summary->first;
    const bool has_window = first->decision.empty == WINDOW_EMPTY_NOT && first->ids == 0 &&
                            first->idle != PLAN_IDLE_CANDIDATES;
    struct output output;
    struct json_writer *w = output_begin(&output, arena);

    json_write_object(w);
    json_write_member_str(w, STR("event"), STR("summary"));
    json_write_member_instant(w, STR("ts"), now_us);
    json_write_member_str(w, STR("source"), summary->source);
    json_write_member_str(w, STR("endpoint"), first->endpoint);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)first->operation));
    json_write_member_i64(w, STR("planId"), first->plan_id);
    write_end(w, summary);
    json_write_member_i64(w, STR("elapsedMs"), summary->view.elapsed_us / US_PER_MS);
    view_write_member_window(w, STR("window"),
                             has_window ? first->decision.window : (struct window){ 0 });
    write_rederived(w, &summary->rederived);
    write_slices(w, &summary->count);
    write_sums(w, &summary->view);
    if (summary->has_cursor) {
        json_write_name(w, STR("cursor"));
        json_write_object(w);
        write_cursor(w, STR("before"), &summary->before);
        write_cursor(w, STR("after"), &summary->after);
        json_write_end(w);
    }
    write_troubles(w, &summary->troubles);
    json_write_end(w);
    return output_end(&output, out, err);
}
