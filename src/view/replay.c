/* The report on a replayed batch as JSON. */
#include "view/replay.h"

static void write_side(struct json_writer *w, const char *name, const struct replay_side *side)
{
    json_write_name(w, str_of(name));
    json_write_object(w);
    json_write_member_i64(w, STR("status"), side->status);
    if (side->code.len > 0) {
        json_write_member_str(w, STR("level"), side->level);
        json_write_member_str(w, STR("code"), side->code);
    }
    if (side->text.len > 0)
        json_write_member_str(w, STR("text"), side->text);
    json_write_member_i64(w, STR("bytes"), side->bytes);
    json_write_member_i64(w, STR("items"), side->items);
    if (side->has_total)
        json_write_member_i64(w, STR("total"), side->total);
    if (side->has_next)
        json_write_member_str(w, STR("nextHint"), side->next);
    if (side->sample.len > 0)
        json_write_member_str(w, STR("sample"), side->sample);
    json_write_end(w);
}

static void write_records(struct json_writer *w, const struct replay_report *report)
{
    json_write_name(w, STR("counts"));
    json_write_object(w);
    for (size_t i = 0; i < REPLAY_KIND_CODES.count; i++)
        json_write_member_i64(w, code_of(&REPLAY_KIND_CODES, (int)i), report->counts[i]);
    json_write_end(w);
    json_write_name(w, STR("records"));
    json_write_array(w);
    for (size_t i = 0; i < report->records.count; i++) {
        const struct replay_record *record = &report->records.items[i];

        json_write_object(w);
        json_write_member_str(w, STR("id"), record->id);
        json_write_member_str(w, STR("is"), code_of(&REPLAY_KIND_CODES, (int)record->kind));
        if (record->is_bad)
            json_write_member_str(w, STR("bad"), str_of(record->reason));
        json_write_end(w);
    }
    json_write_end(w);
}

void view_replay_write(struct json_writer *w, const struct view_replay *view)
{
    const struct replay_report *report = view->report;

    json_write_object(w);
    json_write_member_i64(w, STR("runId"), view->run_id);
    json_write_member_i64(w, STR("number"), view->number);
    json_write_member_bool(w, STR("offline"), view->is_offline);
    json_write_member_bool(w, STR("byCurrent"), view->is_by_current);
    json_write_member_bool(w, STR("same"), report->is_same);
    json_write_member_bool(w, STR("identical"), report->is_identical);
    json_write_member_str(w, STR("differs"), report->differs);
    json_write_member_bool(w, STR("requestSame"), report->is_request_same);
    json_write_member_bool(w, STR("sourceChanged"), view->is_source_changed);
    write_side(w, "then", &report->then);
    write_side(w, "now", &report->now);
    write_records(w, report);
    json_write_end(w);
}
