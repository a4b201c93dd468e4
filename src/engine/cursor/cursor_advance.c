/* One move of a cursor: load, decide, write the event, move the value. */
#include "engine/cursor/cursor_advance.h"

#include <assert.h>

#include "core/coverage.h"
#include "core/limits.h"
#include "core/watermark.h"
#include "data/date.h"
#include "engine/coverage/coverage.h"
#include "engine/cursor/cursor_event.h"

/* One attempt, from its begin to its commit. */
struct step {
    struct store *store;
    struct arena *arena;
    const struct cursor_advance_request *request;
    struct cursor cursor;
    bool found;
    struct cursor_value candidate;
    struct endpoint_list members; /* TIME: whose coverage decides */
    size_t beyond;                /* TIME: covered windows that wait after a gap */
    struct str observed_max;      /* of the cursor; '' = nothing new */
    struct str passed_max; /* of the slices that the move passes; '' = they have no records */
};

struct cursor_advance_request cursor_advance_of(const struct task *task, int64_t run_id,
                                                int64_t now_us)
{
    return (struct cursor_advance_request){
        .of = { .source = task->source,
                .endpoint = task->endpoint,
                .operation = task->operation,
                .cursor_key = task->cursor_key,
                .scope = task->scope,
                .namespace_key = task->namespace_key },
        .dimension = window_is_valid(task->window) ? SLICE_TIME : SLICE_PAGE,
        .lineage = { .schedule_instance_id = task->schedule_instance_id,
                     .plan_id = task->plan_id,
                     .slice_id = task->slice_id,
                     .task_id = task->id,
                     .run_id = run_id },
        .expr_hash = task->expr_hash,
        .now_us = now_us,
    };
}

/* ---- what it may move to ---- */

/* What an endpoint has covered, and which part of it is not settled and must be read again. */
static bool read_coverage(struct step *step, struct str endpoint, struct window_list *covered,
                          struct window_list *owed, struct error *err)
{
    struct coverage_query query = { step->request->of, step->request->dimension,
                                    step->cursor.value.instant_us - step->request->of.late_us };
    struct window_list settled;
    struct coverage_list list;

    query.of.endpoint = endpoint;
    return coverage_load(step->store, step->arena, &query, &list, err) &&
           coverage_of(step->arena, list.covered, covered, err) &&
           coverage_of(step->arena, list.settled, &settled, err) &&
           coverage_subtract(step->arena, *covered, settled, owed, err);
}

/* How far one endpoint allows the cursor to move. */
static bool find_low(struct step *step, struct str endpoint, int64_t *low_us, struct error *err)
{
    const int64_t cursor_us = step->cursor.value.instant_us;
    struct window_list covered, owed;

    if (!read_coverage(step, endpoint, &covered, &owed, err))
        return false;
    *low_us = watermark_held(cursor_us, step->request->of.late_us, owed,
                             watermark_low(cursor_us, covered.items, covered.count));
    for (size_t i = 0; i < covered.count; i++)
        step->beyond += covered.items[i].from_us > *low_us;
    return true;
}

/* Endpoints that share the cursor must all have covered what it passes. */
static bool find_time(struct step *step, struct error *err)
{
    int64_t low_us = INT64_MAX;

    if (!cursor_members(step->store, step->arena, &step->request->of, step->request->sharing,
                        &step->members, err))
        return false;
    for (size_t i = 0; i < step->members.count; i++) {
        int64_t own_us;

        if (!find_low(step, step->members.items[i], &own_us, err))
            return false;
        low_us = own_us < low_us ? own_us : low_us;
    }
    if (step->members.count == 0)
        low_us = step->cursor.value.instant_us;
    step->candidate = (struct cursor_value){ .type = CURSOR_TIME, .instant_us = low_us };
    return true;
}

static bool find_candidate(struct step *step, struct error *err)
{
    const struct cursor_value *given = step->request->candidate;
    const enum cursor_type wanted = given != NULL ? given->type : CURSOR_TIME;

    if (step->found && step->cursor.value.type != wanted)
        return error_set(err, ERROR_FATAL, "cursor.type", "it is of type %.*s, not %.*s",
                         STR_ARG(code_of(&CURSOR_TYPE_CODES, (int)step->cursor.value.type)),
                         STR_ARG(code_of(&CURSOR_TYPE_CODES, (int)wanted)));
    if (given == NULL)
        return find_time(step, err);
    step->candidate = *given;
    return true;
}

static bool instant_text(struct arena *arena, int64_t at_us, struct str *text, struct error *err)
{
    const struct cursor_value value = { .type = CURSOR_TIME, .instant_us = at_us };

    *text = cursor_text(arena, &value);
    return text->data != NULL || arena_error(arena, err);
}

/* The latest record of the slices that a move passes, of whichever endpoint and worker. */
static bool find_passed(struct step *step, struct maybe_instant *passed, struct error *err)
{
    const struct window window = { step->cursor.value.instant_us, step->candidate.instant_us };
    struct coverage_namespace of = step->request->of;

    if (step->candidate.type != CURSOR_TIME || !step->found || !window_is_valid(window))
        return true;
    for (size_t i = 0; i < step->members.count; i++) {
        struct maybe_instant own;

        of.endpoint = step->members.items[i];
        if (!store_coverage_observed(step->store, &of, window, &own, err))
            return false;
        if (own.is_set)
            maybe_instant_raise(passed, own.at_us);
    }
    return !passed->is_set || instant_text(step->arena, passed->at_us, &step->passed_max, err);
}

/* The highest id, where it is another one than what is known. A source whose highest id went back
 * is believed: its feed was reset. */
static bool find_observed_id(struct step *step, struct error *err)
{
    const struct str seen = step->request->observed_id;

    if (seen.len == 0 || str_eq(cursor_id_normal(seen), step->cursor.observed_max))
        return true;
    step->observed_max = arena_copy(step->arena, cursor_id_normal(seen));
    return step->observed_max.data != NULL || arena_error(step->arena, err);
}

/* The latest record seen, where that is later than what is known. */
static bool find_observed(struct step *step, struct error *err)
{
    struct maybe_instant seen = { 0 };
    struct error unread;
    struct date known;

    if (step->candidate.type == CURSOR_ID)
        return find_observed_id(step, err);
    if (!find_passed(step, &seen, err))
        return false;
    if (step->request->observed_max.is_set)
        maybe_instant_raise(&seen, step->request->observed_max.at_us);
    if (!seen.is_set)
        return true;
    if (step->cursor.observed_max.len > 0 &&
        date_parse(date_format_find(STR("rfc3339")), step->cursor.observed_max, &known, &unread) &&
        known.at_us >= seen.at_us)
        return true;
    return instant_text(step->arena, seen.at_us, &step->observed_max, err);
}

/* ---- writing ---- */

static bool write_remarks(struct step *step, bool is_forward, struct str *remarks,
                          struct error *err)
{
    const struct str candidate = cursor_text(step->arena, &step->candidate);
    struct canon canon;
    struct buf out;

    if (candidate.data == NULL)
        return arena_error(step->arena, err);
    buf_init(&out, step->arena, CURSOR_REMARKS_MAX);
    canon = canon_begin(&out);
    if (step->request->batch_no > 0)
        canon_i64(&canon, "batchNo", step->request->batch_no);
    if (step->candidate.type == CURSOR_TIME)
        canon_i64(&canon, "beyond", (int64_t)step->beyond);
    if (!is_forward)
        canon_str(&canon, "candidate", candidate);
    if (step->request->lineage.task_id == 0)
        canon_bool(&canon, "caughtUp", true); /* not by the executor of the task */
    canon_code(&canon, "reason", &OPERATION_CODES, (int)step->request->of.operation);
    if (step->request->is_compensation)
        canon_i64(&canon, "unseen", step->request->unseen);
    canon_end(&canon);
    *remarks = buf_str(&out);
    return buf_ok(&out, err);
}

static struct str expr_hash_of(const struct step *step)
{
    return step->request->expr_hash.len > 0 ? step->request->expr_hash : step->cursor.expr_hash;
}

static bool write_event(struct step *step, enum cursor_event_reason reason, struct error *err)
{
    const struct cursor_advance_request *request = step->request;
    const bool is_forward = reason != CURSOR_EVENT_NO_FORWARD;
    struct cursor_event event = {
        .reason = reason,
        .next = is_forward ? step->candidate : step->cursor.value,
        .observed_max = step->candidate.type == CURSOR_TIME ? step->passed_max : step->observed_max,
        .lineage = request->lineage,
        .expr_hash = expr_hash_of(step),
        .created_us = request->now_us,
    };

    if (step->candidate.type == CURSOR_TIME)
        event.window = (struct window){ step->cursor.value.instant_us, step->candidate.instant_us };
    return write_remarks(step, is_forward, &event.remarks, err) &&
           cursor_event_record(step->store, step->arena, &step->cursor, &event, err);
}

static bool move(struct step *step, bool *moved, struct error *err)
{
    const struct cursor_move to = { .to = step->candidate,
                                    .observed_max = step->observed_max,
                                    .lineage = step->request->lineage,
                                    .expr_hash = expr_hash_of(step),
                                    .now_us = step->request->now_us };
    const enum cursor_event_reason reason =
        step->request->is_compensation ? CURSOR_EVENT_COMPENSATE : CURSOR_EVENT_ADVANCE;

    /* Event first: the value can be rebuilt from its events, never the other way round. */
    return write_event(step, reason, err) &&
           store_cursor_move(step->store, &step->cursor, &to, moved, err);
}

/* Not forward. Most calls find the cursor where it was, which needs no event. A candidate before
 * the cursor does; a low watermark is never before it. */
static bool stay(struct step *step, bool *no_forward, struct error *err)
{
    *no_forward =
        step->request->is_stuck || !cursor_value_eq(&step->candidate, &step->cursor.value);
    if (*no_forward && !write_event(step, CURSOR_EVENT_NO_FORWARD, err))
        return false;
    return step->observed_max.len == 0 ||
           store_cursor_observe(step->store, &step->cursor, step->observed_max, err);
}

/* ---- one attempt ---- */

/* A person has set the cursor since the candidate's task was planned. */
static bool is_overtaken(const struct step *step)
{
    const struct cursor_advance_request *request = step->request;

    return request->has_base && step->cursor.version != request->base_version &&
           step->cursor.lineage.task_id != request->lineage.task_id;
}

/* *lost: the compare-and-set failed; nothing of it may be kept. */
static bool advance(struct step *step, struct cursor_advance_result *result, bool *lost,
                    struct error *err)
{
    const struct cursor_name name = cursor_name_of(&step->request->of);
    bool moved = false;

    if (!store_coverage_lock(step->store, &step->request->of, err) ||
        !store_cursor_load(step->store, step->arena, &name, &step->cursor, &step->found, err))
        return false;
    if (!step->found && step->request->candidate == NULL)
        return true;
    if (is_overtaken(step))
        return true;
    if (!find_candidate(step, err) || !find_observed(step, err))
        return false;
    if (!step->found && step->request->is_stuck) {
        result->no_forward = true;
        return true; /* there is no cursor whose history could have the event */
    }
    result->has_cursor = true;
    result->value = step->found ? step->cursor.value : step->candidate;
    if (step->found &&
        (step->request->is_stuck || !cursor_is_forward(&step->cursor.value, &step->candidate)))
        return stay(step, &result->no_forward, err);
    if (!move(step, &moved, err))
        return false;
    *lost = !moved;
    result->moved = moved;
    result->compensated = moved && step->request->is_compensation;
    if (moved && step->found && step->candidate.type == CURSOR_TIME)
        result->distance_us = step->candidate.instant_us - step->cursor.value.instant_us;
    if (moved)
        result->value = step->candidate;
    return true;
}

static bool advance_once(struct step *step, struct cursor_advance_result *result, bool *lost,
                         struct error *err)
{
    *lost = false;
    if (!store_begin(step->store, err))
        return false;
    if (!advance(step, result, lost, err)) {
        store_rollback(step->store);
        return false;
    }
    if (!*lost)
        return store_commit(step->store, err);
    store_rollback(step->store);
    return true;
}

bool cursor_advance(struct store *store, struct arena *arena,
                    const struct cursor_advance_request *request,
                    struct cursor_advance_result *result, struct error *err)
{
    assert(request->candidate == NULL || request->candidate->type != CURSOR_TIME);
    assert(!request->is_compensation || request->candidate != NULL);
    *result = (struct cursor_advance_result){ 0 };
    if (request->of.cursor_key.len == 0)
        return true;
    for (int attempt = 0; attempt <= CURSOR_RETRIES_MAX; attempt++) {
        struct step step = { .store = store, .arena = arena, .request = request };
        bool lost;

        if (!advance_once(&step, result, &lost, err))
            return error_wrap(err, "advance the cursor %.*s of %.*s",
                              STR_ARG(request->of.cursor_key), STR_ARG(request->of.source));
        if (!lost)
            return true;
        result->conflicts++;
    }
    return true;
}
