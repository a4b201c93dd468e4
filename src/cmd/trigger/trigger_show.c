/* The result of a trigger, for people and for programs. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/list.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cmd/trigger/trigger.h"
#include "data/json_write.h"
#include "view/members.h"

/* ---- gathering ---- */

static void keep_slice(struct plan_viewer *viewer, const struct plan_shown *shown)
{
    struct trigger_preview *preview = (struct trigger_preview *)viewer;
    struct {
        struct trigger_slice *items;
        size_t count;
    } list = { preview->slices, preview->count };
    struct trigger_slice *slice;

    if ((int64_t)preview->count >= preview->limit || preview->failed)
        return;
    slice = LIST_ADD(preview->arena, &list);
    preview->failed = slice == NULL;
    if (slice == NULL)
        return;
    *slice =
        (struct trigger_slice){ *shown->slice, shown->ids, shown->is_now, shown->scheduled_us };
    preview->slices = list.items;
    preview->count = list.count;
}

void trigger_preview_init(struct trigger_preview *preview, struct arena *arena, int64_t limit)
{
    *preview = (struct trigger_preview){ .viewer = { keep_slice }, .arena = arena, .limit = limit };
}

/* ---- for people ---- */

static void add_bounds(struct columns *columns, const struct trigger_slice *row, int64_t now_us)
{
    const struct slice *slice = &row->slice;
    struct arena *arena = columns->arena;

    switch (slice->dimension) {
    case SLICE_TIME:
        columns_window(columns, slice->window, now_us);
        break;
    case SLICE_PAGE:
        columns_cell(columns, arena_printf(arena, "page %" PRId64, slice->pages.from));
        columns_cell(columns, arena_printf(arena, "page %" PRId64, slice->pages.to));
        break;
    case SLICE_ID:
        if (slice->ids.slicing == ID_SLICING_HASH)
            columns_cell(columns, arena_printf(arena, "bucket %u of %u", slice->ids.bucket,
                                               slice->ids.bucket_count));
        else
            columns_cell(columns, arena_printf(arena, "id %" PRId64, slice->ids.from));
        columns_cell(columns, arena_printf(arena, "%" PRId64 " ids", row->ids));
        break;
    case SLICE_FEED:
        columns_cell(columns,
                     slice->feed.after.data == NULL ? STR("the beginning") : slice->feed.after);
        columns_cell(columns, STR("as far as it goes"));
        break;
    case SLICE_FILE:
        columns_cell(columns, STR("file"));
        columns_cell(columns, slice->file.len > 0 ? slice->file : STR("the one of its path"));
        break;
    }
}

static struct str due_text(struct arena *arena, const struct plan_request *request,
                           const struct trigger_slice *row)
{
    const int64_t in_s = (row->scheduled_us - request->now_us) / US_PER_SECOND;

    if (!row->is_now)
        return STR("later"); /* with the next trigger */
    return in_s <= 0 ? STR("now") : arena_printf(arena, "in %" PRId64 "s", in_s);
}

static bool print_slices(const struct trigger_shown *shown, struct error *err)
{
    const struct trigger_preview *preview = shown->preview;
    const struct plan_request *request = shown->request;
    FILE *out = shown->out;
    static const char *const heads[] = { "SLICE", "FROM", "TO", "QUERY FROM", "TO", "DUE" };
    struct arena *arena = preview->arena;
    const int64_t total = shown->result->slices + shown->result->slices_left;
    struct columns columns;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < preview->count; i++) {
        const struct trigger_slice *row = &preview->slices[i];
        columns_i64(&columns, row->slice.number + 1);
        add_bounds(&columns, row, request->now_us);
        columns_window(&columns,
                       row->slice.dimension == SLICE_TIME ? row->slice.query.window
                                                          : (struct window){ 0 },
                       request->now_us);
        columns_cell(&columns, due_text(arena, request, row));
    }
    fprintf(out, "\n");
    if (preview->failed)
        return arena_error(arena, err);
    if (!columns_print(&columns, out, err))
        return false;
    if (total > (int64_t)preview->count)
        fprintf(out, "... and %" PRId64 " more (--limit)\n", total - (int64_t)preview->count);
    return true;
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* Records that the plan read again by a changed mapping, without a request. */
static void print_rederived(const struct rederive_result *done, FILE *out)
{
    if (done->read > 0)
        fprintf(out, "%" PRId64 " record%s rederived by the changed mapping, %" PRId64 " changed; ",
                done->read, plural(done->read), done->changed);
}

/* The result, in a sentence. */
static void print_outcome(const struct plan_result *result, bool is_preview, FILE *out)
{
    if (!is_preview)
        print_rederived(&result->rederived, out);
    if (result->idle != PLAN_IDLE_NOT) {
        fprintf(out, "nothing to do: %.*s", STR_ARG(PLAN_IDLE_CODES.items[result->idle].meaning));
        if (result->idle == PLAN_IDLE_BUDGET)
            fprintf(out, " (%.*s)", STR_ARG(BUDGET_STOP_CODES.items[result->stop].meaning));
        fprintf(out, "\n");
        return;
    }
    fprintf(out, "%" PRId64 " slice%s", result->slices, plural(result->slices));
    if (result->ids > 0)
        fprintf(out, " of %" PRId64 " record%s", result->ids, plural(result->ids));
    fprintf(out, " %s%s", is_preview ? "would be queued" : "queued",
            result->stop == BUDGET_GO ? "" : "; the next trigger queues the rest: ");
    if (result->stop != BUDGET_GO)
        fprintf(out, "%.*s", STR_ARG(BUDGET_STOP_CODES.items[result->stop].meaning));
    fprintf(out, "\n");
}

static void explain_feed(const struct plan_feed *feed, struct buf *text)
{
    const bool is_id = feed->slice.type == CURSOR_ID;

    if (feed->slice.cursor.data != NULL)
        buf_printf(text, "cursor %.*s\n", STR_ARG(feed->slice.cursor));
    else
        buf_printf(text, "no cursor yet\n");
    if (feed->live_task_id != 0)
        buf_printf(text, "task %" PRId64 " is under way\n", feed->live_task_id);
    else if (feed->slice.after.data == NULL)
        buf_printf(text, "the whole feed\n");
    else if (is_id && feed->lookback_ids > 0 && feed->slice.cursor.data != NULL)
        buf_printf(text, "ids above %.*s, %" PRId64 " before the cursor\n",
                   STR_ARG(feed->slice.after), feed->lookback_ids);
    else if (is_id)
        buf_printf(text, "ids above %.*s\n", STR_ARG(feed->slice.after));
    else
        buf_printf(text, "changes since that token\n");
}

static void explain_files(const struct plan_files *files, struct buf *text)
{
    if (files->live_task_id != 0)
        buf_printf(text, "task %" PRId64 " is under way\n", files->live_task_id);
    else
        buf_printf(text, "%" PRId64 " file%s\n", files->count, plural(files->count));
}

bool trigger_print(const struct trigger_shown *shown, struct error *err)
{
    const struct plan_result *result = shown->result;
    const bool is_preview = shown->preview != NULL;
    FILE *out = shown->out;
    struct buf text;

    buf_init(&text, shown->arena, OUTPUT_BYTES_MAX);
    if (result->feed != NULL)
        explain_feed(result->feed, &text);
    else if (result->files != NULL)
        explain_files(result->files, &text);
    else
        window_decision_explain(&result->decision, &text);
    if (!buf_ok(&text, err))
        return false;
    if (!is_preview)
        fprintf(out, "plan %" PRId64 ": ", result->plan_id);
    fprintf(out, "%.*s %.*s of %.*s%s%.*s\n", STR_ARG(shown->request->source),
            STR_ARG(code_of(&OPERATION_CODES, (int)result->operation)), STR_ARG(result->endpoint),
            !is_preview ? ", " : "",
            STR_ARG(!is_preview ? code_of(&PLAN_STATUS_CODES, (int)result->status) : STR("")));
    fprintf(out, "%.*s", STR_ARG(buf_str(&text)));
    if (result->apart.len > 0)
        fprintf(out, "apart   %.*s\n", STR_ARG(result->apart));
    print_outcome(result, is_preview, out);
    if (is_preview && result->slices + result->slices_left > 0)
        return print_slices(shown, err);
    return true;
}

/* ---- for programs ---- */

static void write_slice(struct json_writer *w, const struct trigger_slice *row)
{
    const struct slice *slice = &row->slice;

    json_write_object(w);
    json_write_member_i64(w, STR("number"), slice->number + 1);
    json_write_member_str(w, STR("dimension"),
                          code_of(&SLICE_DIMENSION_CODES, (int)slice->dimension));
    switch (slice->dimension) {
    case SLICE_TIME:
        view_write_member_window(w, STR("window"), slice->window);
        view_write_member_window(w, STR("query"), slice->query.window);
        break;
    case SLICE_PAGE:
        json_write_member_i64(w, STR("fromPage"), slice->pages.from);
        json_write_member_i64(w, STR("toPage"), slice->pages.to);
        break;
    case SLICE_ID:
        json_write_member_i64(w, STR("ids"), row->ids);
        break;
    case SLICE_FEED:
        if (slice->feed.after.data != NULL)
            json_write_member_str(w, STR("after"), slice->feed.after);
        break;
    case SLICE_FILE:
        json_write_member_str(w, STR("file"), slice->file);
        break;
    }
    json_write_member_bool(w, STR("now"), row->is_now);
    if (row->is_now)
        json_write_member_instant(w, STR("scheduledAt"), row->scheduled_us);
    json_write_end(w);
}

static void write_preview(struct json_writer *w, const struct plan_result *result,
                          const struct trigger_preview *preview)
{
    json_write_member_i64(w, STR("sliceCountLater"), result->slices_left);
    json_write_name(w, STR("slices"));
    json_write_array(w);
    for (size_t i = 0; i < preview->count; i++)
        write_slice(w, &preview->slices[i]);
    json_write_end(w);
}

bool trigger_print_json(const struct trigger_shown *shown, struct error *err)
{
    const struct trigger_preview *preview = shown->preview;
    const struct plan_result *result = shown->result;
    const bool has_window = result->decision.empty == WINDOW_EMPTY_NOT;
    struct output output;
    struct json_writer *w = output_begin(&output, shown->arena);

    if (preview != NULL && preview->failed)
        return arena_error(shown->arena, err);
    json_write_object(w);
    json_write_member_bool(w, STR("dryRun"), preview != NULL);
    json_write_member_str(w, STR("source"), shown->request->source);
    json_write_member_str(w, STR("endpoint"), result->endpoint);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)result->operation));
    if (preview == NULL) {
        json_write_member_i64(w, STR("planId"), result->plan_id);
        json_write_member_i64(w, STR("scheduleInstanceId"), result->schedule_instance_id);
    }
    json_write_member_str(w, STR("status"), code_of(&PLAN_STATUS_CODES, (int)result->status));
    view_write_member_window(w, STR("window"),
                             has_window ? result->decision.window : (struct window){ 0 });
    json_write_member_str(w, STR("stop"), code_of(&BUDGET_STOP_CODES, (int)result->stop));
    json_write_member_i64(w, STR("sliceCount"), result->slices);
    if (preview != NULL)
        write_preview(w, result, preview);
    json_write_name(w, STR("remarks"));
    json_write_raw(w, result->remarks);
    json_write_end(w);
    return output_end(&output, shown->out, err);
}
