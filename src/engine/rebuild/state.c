/* The state of a rebuild, written and read. */
#include "engine/rebuild/state.h"

#include "data/json.h"
#include "data/json_write.h"

enum { STATE_BYTES_MAX = 64 << 10 };

bool rebuild_state_write(struct arena *arena, const struct rebuild_state *state, struct str *json,
                         struct error *err)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, arena, STATE_BYTES_MAX);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_member_str(&w, STR("hash"), state->hash);
    json_write_member_i64(&w, STR("run"), state->run);
    json_write_member_i64(&w, STR("at"), state->at_us);
    json_write_member_bool(&w, STR("hasRecords"), state->has_records);
    json_write_member_bool(&w, STR("recordsDone"), state->records_done);
    json_write_member_bool(&w, STR("isSwapped"), state->is_swapped);
    json_write_member_str(&w, STR("source"), state->source);
    json_write_member_str(&w, STR("endpoint"), state->endpoint);
    json_write_member_i64(&w, STR("recordId"), state->record_id);
    json_write_name(&w, STR("positions"));
    json_write_array(&w);
    for (int lane = 0; lane < OUTBOX_LANES; lane++)
        json_write_i64(&w, state->pos[lane]);
    json_write_end(&w);
    json_write_end(&w);
    if (!buf_ok(&out, err))
        return false;
    json_writer_finish(&w);
    *json = buf_str(&out);
    return true;
}

static bool get_text(const struct json_doc *doc, struct arena *arena, const char *name,
                     struct str *text)
{
    const struct json_node node = json_get(doc, json_root(doc), str_of(name));
    struct error ignored;

    return json_type(doc, node) == JSON_STRING && json_string(doc, node, arena, text, &ignored);
}

bool rebuild_state_read(struct arena *arena, struct str json, struct rebuild_state *state)
{
    struct json_node root, positions;
    struct json_doc doc;
    struct error ignored;
    bool ok;

    *state = (struct rebuild_state){ 0 };
    if (json.len == 0 || !json_parse(&doc, arena, json, &ignored))
        return false;
    root = json_root(&doc);
    positions = json_get(&doc, root, STR("positions"));
    ok = get_text(&doc, arena, "hash", &state->hash) &&
         get_text(&doc, arena, "source", &state->source) &&
         get_text(&doc, arena, "endpoint", &state->endpoint) &&
         json_i64(&doc, json_get(&doc, root, STR("run")), &state->run) &&
         json_i64(&doc, json_get(&doc, root, STR("at")), &state->at_us) &&
         json_i64(&doc, json_get(&doc, root, STR("recordId")), &state->record_id) &&
         json_bool(&doc, json_get(&doc, root, STR("hasRecords")), &state->has_records) &&
         json_bool(&doc, json_get(&doc, root, STR("recordsDone")), &state->records_done) &&
         json_bool(&doc, json_get(&doc, root, STR("isSwapped")), &state->is_swapped) &&
         json_count(&doc, positions) == OUTBOX_LANES;
    for (struct json_iter it = json_each(&doc, positions); ok && json_next(&it);)
        ok = json_i64(&doc, it.value, &state->pos[it.index]) && state->pos[it.index] >= 0;
    return ok;
}
