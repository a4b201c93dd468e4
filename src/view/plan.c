/* Plans: gathered with the state of their tasks, and written as JSON. */
#include "view/plan.h"

#include <inttypes.h>

#include "data/json.h"
#include "engine/slice/slice_read.h"
#include "view/members.h"

/* ---- a list ---- */

bool view_plan_list(const struct view_reader *reader, const struct plan_filter *filter,
                    struct view_plan_list *list, struct error *err)
{
    struct plan_list plans;

    *list = (struct view_plan_list){ 0 };
    if (!store_plan_list(reader->store, reader->arena, filter, &plans, err) ||
        (plans.count == 0 && !view_source_check(reader, filter->source, err)))
        return false;
    list->items = ARENA_ARRAY(reader->arena, struct view_plan_row, plans.count + 1);
    if (list->items == NULL)
        return arena_error(reader->arena, err);
    for (size_t i = 0; i < plans.count; i++) {
        struct view_plan_row *row = &list->items[list->count++];

        row->plan = plans.items[i];
        if (!store_plan_progress(reader->store, row->plan.id, &row->progress, err) ||
            !view_plan_rest(reader, &row->plan, &row->rest, err))
            return false;
    }
    list->is_full = (int64_t)list->count == filter->limit;
    return true;
}

bool view_plan_is_by_id(const struct plan *plan)
{
    return (plan->operation == OPERATION_UPDATE || plan->operation == OPERATION_METRICS) &&
           plan->cursor_key.len == 0;
}

/* ---- one plan ---- */

bool view_plan_find(const struct view_reader *reader, int64_t id, struct plan *plan,
                    struct error *err)
{
    bool found;

    return store_plan_get(reader->store, reader->arena, id, plan, &found, err) &&
           (found || error_set(err, ERROR_REQUEST, "plan.id", "there is no plan %" PRId64, id));
}

static bool gather_slices(const struct view_reader *reader, const struct view_plan_filter *filter,
                          struct view_plan *view, struct error *err)
{
    struct view_slice_list *list = &view->slices;
    struct plan_slice_list slices;

    if (!store_slice_list(
            reader->store, reader->arena, filter->id,
            (struct store_page){ .after = filter->after_number, .limit = filter->slices_max },
            &slices, err))
        return false;
    list->items = ARENA_ARRAY(reader->arena, struct view_slice, slices.count + 1);
    if (list->items == NULL)
        return arena_error(reader->arena, err);
    for (size_t i = 0; i < slices.count; i++) {
        struct slice_limits limits;
        struct slice slice;

        if (!slice_read(reader->arena, &view->plan, &slices.items[i], &slice, &limits, err))
            return false;
        list->items[list->count++] = (struct view_slice){ slices.items[i], slice.part };
        list->has_ids |= id_range_is_valid(slice.part);
    }
    return true;
}

/* The member of the group, or of the remarks themselves where the group is ''; '' where it is not
 * a string, or the one that says nothing. */
static struct str remark(const struct json_doc *doc, struct str group, struct str name,
                         struct str nothing)
{
    const struct json_node root = json_root(doc);
    const struct json_node node =
        json_get(doc, group.len > 0 ? json_get(doc, root, group) : root, name);

    return json_type(doc, node) == JSON_STRING && !json_string_is(doc, node, nothing)
               ? json_string_raw(doc, node)
               : STR("");
}

static bool read_remarks(const struct view_reader *reader, struct view_plan *view,
                         struct error *err)
{
    struct json_doc doc;

    if (!json_parse(&doc, reader->arena, view->plan.remarks, err))
        return error_wrap(err, "remarks of plan %" PRId64, view->plan.id);
    view->remarks = (struct view_plan_remarks){
        .feed = remark(&doc, STR("feed"), STR("type"), STR("TIME")),
        .after = remark(&doc, STR("feed"), STR("after"), STR("")),
        .empty = remark(&doc, STR("decision"), STR("empty"), STR("NOT_EMPTY")),
        .idle = remark(&doc, STR(""), STR("idle"), STR("")),
        .stopped = remark(&doc, STR("budget"), STR("stop"), STR("GO")),
        .error = remark(&doc, STR("error"), STR("text"), STR("")),
    };
    return true;
}

bool view_plan(const struct view_reader *reader, const struct view_plan_filter *filter,
               struct view_plan *view, struct error *err)
{
    *view = (struct view_plan){ 0 };
    return view_plan_find(reader, filter->id, &view->plan, err) &&
           store_plan_progress(reader->store, filter->id, &view->progress, err) &&
           view_plan_rest(reader, &view->plan, &view->rest, err) &&
           store_schedule_get(reader->store, reader->arena, view->plan.schedule_instance_id,
                              &view->trigger, &view->has_trigger, err) &&
           read_remarks(reader, view, err) && gather_slices(reader, filter, view, err);
}

/* ---- JSON ---- */

static void write_plan(struct json_writer *w, const struct plan *plan)
{
    json_write_member_i64(w, STR("id"), plan->id);
    json_write_member_i64(w, STR("scheduleInstanceId"), plan->schedule_instance_id);
    json_write_member_str(w, STR("source"), plan->source);
    json_write_member_str(w, STR("endpoint"), plan->endpoint);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)plan->operation));
    json_write_member_str(w, STR("status"), code_of(&PLAN_STATUS_CODES, (int)plan->status));
    view_write_member_window(w, STR("window"), plan->window);
    json_write_member_instant(w, STR("createdAt"), plan->created_us);
    json_write_member_str(w, STR("exprProtoHash"), plan->expr_proto_hash);
    json_write_member_str(w, STR("specFingerprint"), plan->spec_fingerprint);
    json_write_name(w, STR("remarks"));
    json_write_raw(w, plan->remarks);
}

static void write_progress(struct json_writer *w, const struct plan_progress *progress)
{
    json_write_member_i64(w, STR("sliceCount"), progress->slices);
    json_write_name(w, STR("tasks"));
    json_write_object(w);
    for (int i = 0; i < TASK_STATUS_COUNT; i++)
        json_write_member_i64(w, code_of(&TASK_STATUS_CODES, i), progress->tasks[i]);
    json_write_end(w);
}

void view_plan_list_write(struct json_writer *w, const struct view_plan_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        json_write_object(w);
        write_plan(w, &list->items[i].plan);
        write_progress(w, &list->items[i].progress);
        plan_rest_write(w, &list->items[i].rest);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_slice(struct json_writer *w, const struct plan_slice *slice)
{
    json_write_object(w);
    json_write_member_i64(w, STR("id"), slice->id);
    json_write_member_i64(w, STR("number"), slice->number);
    if (slice->parent_id > 0)
        json_write_member_i64(w, STR("parentId"), slice->parent_id);
    json_write_member_str(w, STR("status"), code_of(&SLICE_STATUS_CODES, (int)slice->status));
    view_write_member_window(w, STR("window"), slice->window);
    json_write_name(w, STR("spec"));
    json_write_raw(w, slice->spec);
    json_write_end(w);
}

static void write_trigger(struct json_writer *w, const struct schedule_instance *trigger)
{
    json_write_name(w, STR("trigger"));
    json_write_object(w);
    json_write_member_str(w, STR("type"), code_of(&TRIGGER_TYPE_CODES, (int)trigger->trigger));
    json_write_member_str(w, STR("scheduler"), trigger->scheduler);
    if (trigger->job_id.len > 0)
        json_write_member_str(w, STR("jobId"), trigger->job_id);
    if (trigger->log_id.len > 0)
        json_write_member_str(w, STR("logId"), trigger->log_id);
    json_write_end(w);
}

void view_plan_write(struct json_writer *w, const struct view_plan *view)
{
    json_write_object(w);
    write_plan(w, &view->plan);
    if (view->has_trigger)
        write_trigger(w, &view->trigger);
    write_progress(w, &view->progress);
    plan_rest_write(w, &view->rest);
    json_write_name(w, STR("slices"));
    json_write_array(w);
    for (size_t i = 0; i < view->slices.count; i++)
        write_slice(w, &view->slices.items[i].slice);
    json_write_end(w);
    json_write_end(w);
}
