/* JSON members that several objects have. */
#include "view/members.h"

void view_write_window(struct json_writer *w, struct window window)
{
    if (!window_is_valid(window)) {
        json_write_null(w);
        return;
    }
    json_write_object(w);
    json_write_member_instant(w, STR("from"), window.from_us);
    json_write_member_instant(w, STR("to"), window.to_us);
    json_write_end(w);
}

void view_write_member_window(struct json_writer *w, struct str name, struct window window)
{
    json_write_name(w, name);
    view_write_window(w, window);
}

void view_write_member_ids(struct json_writer *w, struct id_range ids)
{
    if (!id_range_is_valid(ids))
        return;
    if (ids.from != ID_LOWEST)
        json_write_member_i64(w, STR("fromId"), ids.from);
    if (ids.to != ID_HIGHEST)
        json_write_member_i64(w, STR("toId"), ids.to);
}

void view_write_lineage(struct json_writer *w, const struct lineage *lineage)
{
    json_write_name(w, STR("lineage"));
    json_write_object(w);
    json_write_member_i64(w, STR("plan"), lineage->plan_id);
    json_write_member_i64(w, STR("slice"), lineage->slice_id);
    json_write_member_i64(w, STR("task"), lineage->task_id);
    json_write_member_i64(w, STR("run"), lineage->run_id);
    json_write_member_i64(w, STR("batch"), lineage->batch_id);
    json_write_end(w);
}

void view_write_subscription(struct json_writer *w, struct str kind, const struct subscription *row)
{
    json_write_object(w);
    json_write_member_str(w, kind, row->name);
    json_write_member_str(w, STR("state"), code_of(&SUBSCRIPTION_STATE_CODES, (int)row->state));
    json_write_member_str(w, STR("reason"), row->state_reason);
    json_write_member_str(w, STR("onFailure"),
                          code_of(&SUBSCRIPTION_POLICY_CODES, (int)row->policy));
    json_write_member_str(w, STR("hash"), row->spec_hash);
    json_write_member_instant(w, STR("createdAt"), row->created_us);
    json_write_member_instant(w, STR("updatedAt"), row->updated_us);
    json_write_name(w, STR("spec"));
    json_write_raw(w, row->spec);
    json_write_end(w);
}
