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
