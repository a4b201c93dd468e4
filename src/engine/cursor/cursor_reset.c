/* A cursor set by a person, in one transaction with its event. */
#include "engine/cursor/cursor_reset.h"

#include "engine/cursor/cursor_event.h"
#include "engine/cursor/cursor_members.h"

static bool check_value(const struct cursor *cursor, const struct cursor_reset_request *request,
                        struct error *err)
{
    const struct cursor_value *to = &request->to;

    if (to->type != cursor->value.type)
        return error_set(err, ERROR_REQUEST, "cursor.value", "it is of type %.*s, not %.*s",
                         STR_ARG(code_of(&CURSOR_TYPE_CODES, (int)cursor->value.type)),
                         STR_ARG(code_of(&CURSOR_TYPE_CODES, (int)to->type)));
    if (to->type == CURSOR_TIME && to->instant_us > request->now_us)
        return error_set(err, ERROR_REQUEST, "cursor.value",
                         "it cannot be set to an instant after now: nothing can be complete there");
    if (to->type == CURSOR_ID && !cursor_id_is_valid(to->text))
        return error_set(err, ERROR_REQUEST, "cursor.value", "'%.*s' is not a whole number",
                         STR_ARG(to->text));
    return true;
}

/* Coverage after a cursor that is set back. */
static bool uncover(struct store *store, struct arena *arena, const struct cursor *cursor,
                    const struct cursor_reset_request *request, int64_t *tasks, struct error *err)
{
    struct coverage_namespace of = cursor_namespace(&cursor->name);
    struct endpoint_list members;
    int64_t count;

    *tasks = 0;
    if (request->to.type != CURSOR_TIME || request->to.instant_us > cursor->value.instant_us)
        return true;
    if (!cursor_members(store, arena, &of, (struct cursor_sharing){ 0 }, &members, err))
        return false;
    for (size_t i = 0; i < members.count; i++) {
        of.endpoint = members.items[i];
        if (!store_coverage_reset(store, &of, request->to.instant_us, request->now_us, &count, err))
            return false;
        *tasks += count;
    }
    return true;
}

static bool write_remarks(struct arena *arena, const struct cursor_reset_request *request,
                          int64_t tasks, struct str *remarks, struct error *err)
{
    struct canon canon;
    struct buf out;

    buf_init(&out, arena, CURSOR_REMARKS_MAX);
    canon = canon_begin(&out);
    canon_str(&canon, "by", request->who);
    canon_str(&canon, "reason", request->reason);
    canon_i64(&canon, "tasks", tasks);
    canon_end(&canon);
    *remarks = buf_str(&out);
    return buf_ok(&out, err);
}

static bool write_event(struct store *store, struct arena *arena, const struct cursor *cursor,
                        const struct cursor_reset_request *request, int64_t tasks,
                        struct error *err)
{
    const int64_t prev_us = cursor->value.instant_us, next_us = request->to.instant_us;
    struct cursor_event event = { .reason = CURSOR_EVENT_RESET,
                                  .next = request->to,
                                  .expr_hash = cursor->expr_hash,
                                  .created_us = request->now_us };

    if (request->to.type == CURSOR_TIME)
        event.window = prev_us < next_us ? (struct window){ prev_us, next_us }
                                         : (struct window){ next_us, prev_us };
    return write_remarks(arena, request, tasks, &event.remarks, err) &&
           cursor_event_record(store, arena, cursor, &event, err);
}

static bool reset(struct store *store, struct arena *arena,
                  const struct cursor_reset_request *request, struct cursor_reset_result *result,
                  struct error *err)
{
    struct cursor cursor;
    struct cursor_move move;
    bool found;

    if (!cursor_lock(store, &request->name, err) ||
        !store_cursor_load(store, arena, &request->name, &cursor, &found, err))
        return false;
    if (!found)
        return error_set(err, ERROR_REQUEST, "cursor.unknown", "there is no such cursor");
    if (!check_value(&cursor, request, err))
        return false;
    *result = (struct cursor_reset_result){ .prev = cursor.value };
    if (cursor_value_eq(&cursor.value, &request->to))
        return true;
    move = (struct cursor_move){ .to = request->to,
                                 .expr_hash = cursor.expr_hash,
                                 .now_us = request->now_us };
    if (!uncover(store, arena, &cursor, request, &result->tasks, err) ||
        !write_event(store, arena, &cursor, request, result->tasks, err) ||
        !store_cursor_set(store, &cursor, &move, &result->is_moved, err))
        return false;
    return result->is_moved ||
           error_set(err, ERROR_TRANSIENT, "cursor.conflict", "it moved meanwhile");
}

bool cursor_reset(struct store *store, struct arena *arena,
                  const struct cursor_reset_request *request, struct cursor_reset_result *result,
                  struct error *err)
{
    if (!store_begin(store, err))
        return false;
    if (reset(store, arena, request, result, err) && store_commit(store, err))
        return true;
    store_rollback(store);
    return error_wrap(err, "reset the cursor %.*s of %.*s", STR_ARG(request->name.cursor_key),
                      STR_ARG(request->name.source));
}
