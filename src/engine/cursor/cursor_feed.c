/* The candidate of a feed's cursor, from the last checkpoint of its last task. */
#include "engine/cursor/cursor_feed.h"

#include <inttypes.h>

#include "data/json.h"
#include "engine/cursor/cursor_event.h"
#include "engine/cursor/feed_unseen.h"
#include "port/store_run.h"

struct place { /* texts: data NULL where there is none */
    struct str at;
    struct str behind;
    struct str latest;
    bool is_full;
    bool is_bridged;
    int64_t full_us;
};

/* ---- reading ---- */

static bool read_text(const struct json_doc *doc, struct json_node feed, const char *name,
                      struct arena *arena, struct str *text)
{
    const struct json_node node = json_get(doc, feed, str_of(name));
    struct error ignored;

    *text = (struct str){ NULL, 0 };
    if (!json_exists(node))
        return true;
    return json_type(doc, node) == JSON_STRING && json_string(doc, node, arena, text, &ignored) &&
           text->len > 0 && text->len <= CURSOR_VALUE_MAX;
}

static bool is_id(struct str text)
{
    return text.data == NULL || cursor_id_is_valid(text);
}

static bool read_place(struct arena *arena, struct str checkpoint, enum cursor_type type,
                       struct place *place, struct error *err)
{
    struct json_doc doc;
    struct json_node feed, full, bridged;

    if (!json_parse(&doc, arena, checkpoint, err))
        return false;
    feed = json_get(&doc, json_root(&doc), STR("feed"));
    full = json_get(&doc, feed, STR("isFull"));
    bridged = json_get(&doc, feed, STR("isBridged"));
    *place = (struct place){ 0 };
    if (read_text(&doc, feed, "at", arena, &place->at) &&
        read_text(&doc, feed, "behind", arena, &place->behind) &&
        read_text(&doc, feed, "latest", arena, &place->latest) &&
        (!json_exists(full) ||
         (json_bool(&doc, full, &place->is_full) &&
          json_i64(&doc, json_get(&doc, feed, STR("fullUs")), &place->full_us))) &&
        (!json_exists(bridged) || json_bool(&doc, bridged, &place->is_bridged)) &&
        (type != CURSOR_ID || (is_id(place->at) && is_id(place->behind) && is_id(place->latest))))
        return true;
    return error_set(err, ERROR_FATAL, "cursor.checkpoint", "its checkpoint is unreadable: feed");
}

static bool read_version(struct arena *arena, const struct task *task, int64_t *version,
                         struct error *err)
{
    struct json_doc doc;

    return json_parse(&doc, arena, task->params, err) &&
           (json_i64(&doc, json_get(&doc, json_root(&doc), STR("cursorVersion")), version) ||
            error_set(err, ERROR_FATAL, "task.params", "its params have no cursorVersion"));
}

/* The last run that stored a checkpoint; id 0: none did. */
static bool find_run(struct store *store, struct arena *arena, int64_t task_id, struct run *found,
                     struct error *err)
{
    struct run_list runs;

    *found = (struct run){ 0 };
    if (!store_run_list(store, arena, task_id, &runs, err))
        return false;
    for (size_t i = 0; i < runs.count; i++) {
        if (runs.items[i].checkpoint.len > 0)
            *found = runs.items[i];
    }
    return true;
}

/* ---- a full sync ---- */

/* Signals come before the move: a crash in between repeats them, and none is added twice. */
static bool signal_unseen(struct store *store, struct arena *arena,
                          const struct cursor_advance_request *request, const struct place *place,
                          int64_t *unseen, struct error *err)
{
    const struct cursor_name name = cursor_name_of(&request->of);
    struct cursor cursor;
    bool found;

    *unseen = 0;
    if (!place->is_full || place->is_bridged || place->at.data == NULL)
        return true;
    if (!store_cursor_load(store, arena, &name, &cursor, &found, err))
        return false;
    if (found && str_eq(cursor.value.text, place->at))
        return true; /* it has moved already */
    return feed_unseen_signal(store, arena,
                              &(struct feed_unseen_request){ .source = request->of.source,
                                                             .endpoint = request->of.endpoint,
                                                             .since_us = place->full_us,
                                                             .now_us = request->now_us },
                              unseen, err);
}

/* ---- moving ---- */

static bool advance(struct store *store, struct arena *arena,
                    const struct cursor_advance_request *request, const struct place *place,
                    struct cursor_advance_result *result, struct error *err)
{
    struct cursor_advance_request again = *request;
    struct cursor_value candidate = *request->candidate;
    struct cursor_advance_result second;

    if (!signal_unseen(store, arena, request, place, &again.unseen, err))
        return false;
    if (place->at.data != NULL) {
        candidate.text = place->at;
        again.candidate = &candidate;
        again.is_compensation = place->is_full;
        if (!cursor_advance(store, arena, &again, result, err))
            return false;
    }
    if (place->behind.data == NULL)
        return true;
    candidate.text = place->behind;
    again.candidate = &candidate;
    again.is_compensation = false;
    again.is_stuck = true;
    if (!cursor_advance(store, arena, &again, &second, err))
        return false;
    result->has_cursor = second.has_cursor;
    result->no_forward = second.no_forward;
    result->value = second.value;
    return true;
}

static bool advance_by(struct store *store, struct arena *arena,
                       const struct cursor_feed_request *request, const struct task *task,
                       struct cursor_advance_result *result, struct error *err)
{
    const struct cursor_value blank = { .type = request->type };
    struct cursor_advance_request advance_request;
    struct place place;
    struct run run;

    if (!find_run(store, arena, task->id, &run, err))
        return false;
    if (run.id == 0)
        return true;
    advance_request = cursor_advance_of(task, run.id, request->now_us);
    advance_request.of = request->of;
    advance_request.candidate = &blank;
    advance_request.has_base = true;
    if (!read_place(arena, run.checkpoint, request->type, &place, err) ||
        !read_version(arena, task, &advance_request.base_version, err))
        return false;
    advance_request.observed_id = place.latest;
    return advance(store, arena, &advance_request, &place, result, err);
}

bool cursor_feed_advance(struct store *store, struct arena *arena,
                         const struct cursor_feed_request *request,
                         struct cursor_advance_result *result, struct error *err)
{
    struct task task;
    bool found;

    *result = (struct cursor_advance_result){ 0 };
    if (!store_task_last(store, arena, &request->of, &task, &found, err))
        return false;
    if (!found)
        return true;
    return advance_by(store, arena, request, &task, result, err) ||
           error_wrap(err, "task %" PRId64, task.id);
}
