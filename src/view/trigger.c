/* What a trigger did: the slices of a preview gathered, and all of it as JSON. */
#include "view/trigger.h"

#include "base/list.h"
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

void view_trigger_write(struct json_writer *w, const struct view_trigger *view)
{
    const struct trigger_preview *preview = view->preview;
    const struct plan_result *result = view->result;
    const bool has_window = result->decision.empty == WINDOW_EMPTY_NOT;

    json_write_object(w);
    json_write_member_bool(w, STR("dryRun"), preview != NULL);
    json_write_member_str(w, STR("source"), view->request->source);
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
}
