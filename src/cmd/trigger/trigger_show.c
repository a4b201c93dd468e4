/* The result of a trigger, for people. */
#include <inttypes.h>

#include "base/instant.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cmd/trigger/trigger.h"

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
    const struct trigger_preview *preview = shown->view.preview;
    const struct plan_request *request = shown->view.request;
    FILE *out = shown->out;
    static const char *const heads[] = { "SLICE", "FROM", "TO", "QUERY FROM", "TO", "DUE" };
    struct arena *arena = preview->arena;
    const int64_t total = shown->view.result->slices + shown->view.result->slices_left;
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
    const struct plan_result *result = shown->view.result;
    const bool is_preview = shown->view.preview != NULL;
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
    fprintf(out, "%.*s %.*s of %.*s%s%.*s\n", STR_ARG(shown->view.request->source),
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
