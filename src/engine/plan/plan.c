/* A trigger from its request to its commit, or to its refusal. */
#include "engine/plan/plan.h"

#include <string.h>

#include "base/instant.h"
#include "engine/cursor/cursor_advance.h"
#include "engine/cursor/cursor_feed.h"
#include "engine/plan/cutter.h"
#include "engine/plan/draft.h"
#include "engine/plan/remarks.h"
#include "engine/rederive/rederive.h"
#include "port/store_expr.h"
#include "port/store_schedule.h"

enum { REDERIVED_MAX = 10000 }; /* records, by one trigger */

static const struct code_item IDLE_ITEMS[] = {
    [PLAN_IDLE_NOT] = CODE_ITEM("NOT_IDLE", "there are slices"),
    [PLAN_IDLE_WINDOW] = CODE_ITEM("WINDOW", "the window is empty"),
    [PLAN_IDLE_COVERED] = CODE_ITEM("COVERED", "all of it is covered or under way"),
    [PLAN_IDLE_CANDIDATES] = CODE_ITEM("CANDIDATES", "no record needs to be looked at again"),
    [PLAN_IDLE_HELD] =
        CODE_ITEM("HELD", "what is missing cannot be read as the source file is; see patra status"),
    [PLAN_IDLE_BUDGET] = CODE_ITEM("BUDGET", "the budget allows no task now"),
};
const struct code_table PLAN_IDLE_CODES =
    CODE_TABLE("ing_plan_idle", "why a plan has no slices", IDLE_ITEMS);

/* ---- the root of the lineage ---- */

static bool claim_tick(struct store *store, const struct plan_draft *draft, bool *claimed,
                       struct error *err)
{
    const struct plan_request *request = draft->request;
    const struct plan_tick *tick = request->tick;
    const struct schedule_tick row = { .source = draft->plan.source,
                                       .schedule = request->operation,
                                       .tick_us = tick != NULL ? tick->at_us : 0 };

    *claimed = true;
    return tick == NULL ||
           store_tick_claim(store, &row, tick->owner, request->now_us, claimed, err);
}

/* For a tick of patra's own schedule: the job is the schedule, its log the tick. */
static bool name_tick(struct arena *arena, const struct plan_request *request,
                      struct schedule_instance *row, struct error *err)
{
    char at[INSTANT_TEXT_MAX];

    if (request->tick == NULL)
        return true;
    (void)instant_format(request->tick->at_us, at);
    row->job_id =
        arena_printf(arena, "%.*s/%.*s", STR_ARG(request->source), STR_ARG(request->operation));
    row->log_id = arena_copy(arena, str_of(at));
    return (row->job_id.data != NULL && row->log_id.data != NULL) || arena_error(arena, err);
}

static bool add_instance(struct store *store, struct arena *arena, const struct plan_draft *draft,
                         struct str remarks, int64_t *id, struct error *err)
{
    const struct plan_request *request = draft->request;
    struct schedule_instance row = {
        .scheduler = request->scheduler.len > 0 ? request->scheduler : STR("patra"),
        .job_id = request->job_id,
        .log_id = request->log_id,
        .trigger = request->trigger,
        .source = draft->plan.source,
        .endpoint = draft->plan.endpoint,
        .operation = draft->plan.operation,
        .expr_proto_hash = draft->plan.expr_proto_hash,
        .remarks = remarks,
        .triggered_us = request->now_us,
    };

    return name_tick(arena, request, &row, err) && plan_params(arena, request, &row.params, err) &&
           store_schedule_add(store, &row, id, err);
}

/* ---- a trigger that makes no plan ---- */

/* A plan that was begun and cannot be made is FAILED; before that there is no plan. */
static bool add_failed(struct store *store, struct plan_draft *draft, struct str remarks,
                       struct plan_result *result, struct error *err)
{
    if (draft->plan.namespace_key.len == 0)
        return true;
    draft->plan.schedule_instance_id = result->schedule_instance_id;
    draft->plan.window = (struct window){ 0 };
    draft->plan.status = PLAN_FAILED;
    draft->plan.remarks = remarks;
    draft->plan.created_us = draft->request->now_us;
    result->status = PLAN_FAILED;
    return store_plan_add(store, &draft->plan, &result->plan_id, err);
}

static bool record_refusal(struct store *store, struct arena *arena, struct plan_draft *draft,
                           const struct error *why, struct plan_result *result, struct error *err)
{
    struct str remarks;

    if (!plan_refusal(arena, &draft->faults, why, &remarks, err) || !store_begin(store, err))
        return false;
    if (!claim_tick(store, draft, &result->is_fired, err))
        goto rollback;
    if (!result->is_fired) {
        store_rollback(store);
        return true;
    }
    if (!add_instance(store, arena, draft, remarks, &result->schedule_instance_id, err) ||
        !add_failed(store, draft, remarks, result, err))
        goto rollback;
    return store_commit(store, err);
rollback:
    store_rollback(store);
    return false;
}

/* True only for a tick whose refusal another process has recorded. */
static bool refuse(struct store *store, struct arena *arena, struct plan_draft *draft,
                   struct plan_result *result, struct error *err)
{
    struct error why = *err;

    if (why.level == ERROR_TRANSIENT || draft->plan.source.len == 0)
        return error_wrap(err, "trigger %.*s", STR_ARG(draft->request->source));
    if (!record_refusal(store, arena, draft, &why, result, err))
        return error_wrap(err, "record a refused trigger (%s)", why.text);
    *err = why;
    return !result->is_fired || error_wrap(err, "trigger %.*s", STR_ARG(draft->request->source));
}

/* ---- a plan ---- */

/* Everything that cutting needs. */
static bool prepare(struct store *store, struct arena *arena, struct plan_draft *draft,
                    struct plan_result *result, struct error *err)
{
    const bool is_feed = draft_is_feed(draft), is_of_files = draft_is_of_files(draft);

    if (!(is_feed       ? draft_decide_feed
          : is_of_files ? draft_decide_files
                        : draft_decide)(store, arena, draft, err))
        return false;
    result->endpoint = draft->plan.endpoint;
    result->operation = draft->plan.operation;
    result->decision = draft->decision;
    result->feed = is_feed ? &draft->feed : NULL;
    result->files = is_of_files ? &draft->files : NULL;
    if (draft->decision.empty != WINDOW_EMPTY_NOT)
        return true;
    return (draft_is_by_id(draft) || is_feed || is_of_files ||
            draft_cover(store, arena, draft, err)) &&
           draft_recall(store, arena, draft, err) && draft_spend(store, draft, err) &&
           draft_pace(store, arena, draft, err) && draft_quota(store, arena, draft, err);
}

static bool cut(struct store *store, struct arena *arena, struct plan_cutter *cutter,
                struct error *err)
{
    const struct plan_draft *draft = cutter->draft;

    if (draft->decision.empty != WINDOW_EMPTY_NOT)
        return true;
    if (draft_is_by_id(draft))
        return plan_cutter_run_ids(cutter, store, arena, err);
    if (draft_is_feed(draft))
        return plan_cutter_run_feed(cutter, err);
    if (draft_is_of_files(draft))
        return plan_cutter_run_files(cutter, arena, err);
    return draft->pieces.count == 0 || plan_cutter_run(cutter, err);
}

static enum plan_idle idle_of(const struct plan_draft *draft, const struct plan_result *result)
{
    if (result->slices > 0)
        return PLAN_IDLE_NOT;
    if (draft->decision.empty != WINDOW_EMPTY_NOT)
        return PLAN_IDLE_WINDOW;
    if (result->stop != BUDGET_GO)
        return PLAN_IDLE_BUDGET;
    if (draft->held_until.is_set)
        return PLAN_IDLE_HELD;
    return draft_is_by_id(draft) ? PLAN_IDLE_CANDIDATES : PLAN_IDLE_COVERED;
}

static bool conclude(struct arena *arena, const struct plan_draft *draft,
                     struct plan_result *result, struct error *err)
{
    result->status = budget_plan_status(result->stop);
    result->apart = draft_apart(arena, draft);
    if (result->apart.data == NULL)
        return arena_error(arena, err);
    result->idle = idle_of(draft, result);
    return plan_remarks(arena, draft, result, &result->remarks, err);
}

static bool write_slices(struct store *store, struct arena *arena, struct plan_draft *draft,
                         struct plan_result *result, struct error *err)
{
    const struct plan_origin origin = { .plan = &draft->plan,
                                        .spec = draft->spec,
                                        .target = draft->target,
                                        .now_us = draft->request->now_us,
                                        .first_number = 1,
                                        .watch = draft->request->watch };
    struct plan_writer *writer = ARENA_NEW(arena, struct plan_writer);
    struct plan_cutter cutter = { .draft = draft, .result = result, .writer = writer };
    bool ok;

    if (writer == NULL)
        return arena_error(arena, err);
    plan_writer_init(writer, store, &origin);
    ok = cut(store, arena, &cutter, err) && plan_writer_finish(writer, err);
    plan_writer_release(writer);
    return ok;
}

/* So that its records can be read again by another mapping. */
static bool add_expr(struct store *store, const struct plan_draft *draft, struct error *err)
{
    const struct spec *spec = draft->spec;
    const struct expr expr = {
        .expr_hash = draft->plan.expr_proto_hash,
        .source = draft->plan.source,
        .endpoint = spec->is_two_phase ? spec->detail.name : spec->endpoint.name,
        .query_hash = str_of(draft->snapshot.query_hash),
        .mapping_hash = str_of(draft->snapshot.mapping_hash),
        .snapshot = draft->snapshot.json,
        .created_us = draft->request->now_us,
    };

    return store_expr_add(store, &expr, err);
}

static bool write_plan(struct store *store, struct arena *arena, struct plan_draft *draft,
                       struct plan_result *result, struct error *err)
{
    struct plan_move move;
    bool moved;

    draft->plan.schedule_instance_id = result->schedule_instance_id;
    draft->plan.status = PLAN_SLICING;
    draft->plan.remarks = STR("{}");
    draft->plan.created_us = draft->request->now_us;
    if (!add_expr(store, draft, err) || !store_plan_add(store, &draft->plan, &draft->plan.id, err))
        return false;
    result->plan_id = draft->plan.id;
    if (draft->decision.starts_cursor && !draft_start_cursor(store, arena, draft, err))
        return false;
    if (!write_slices(store, arena, draft, result, err) ||
        !draft_book(store, arena, draft, result->requests, err) ||
        !conclude(arena, draft, result, err))
        return false;
    move = (struct plan_move){ .id = draft->plan.id,
                               .from = PLAN_SLICING,
                               .to = result->status,
                               .remarks = result->remarks,
                               .now_us = draft->request->now_us };
    return store_plan_move(store, &move, &moved, err);
}

static bool make_plan(struct store *store, struct arena *arena, struct plan_draft *draft,
                      struct plan_result *result, struct error *err)
{
    if (!store_begin(store, err))
        return false;
    if (!claim_tick(store, draft, &result->is_fired, err))
        goto rollback;
    if (!result->is_fired) {
        store_rollback(store);
        return true;
    }
    if (!add_instance(store, arena, draft, STR("{}"), &result->schedule_instance_id, err))
        goto rollback;
    /* From here on, what is read stays true until the commit. */
    if (!store_namespace_lock(store, &draft->plan, err) ||
        !prepare(store, arena, draft, result, err) || !write_plan(store, arena, draft, result, err))
        goto rollback;
    return store_commit(store, err);
rollback:
    store_rollback(store);
    return false;
}

/* An executor may have died after its task ended and before it moved the cursor. */
static bool catch_up(struct store *store, struct arena *arena, const struct plan_draft *draft,
                     struct error *err)
{
    struct cursor_advance_request request = {
        .of = plan_namespace(&draft->plan),
        .dimension = draft->spec->operation.slice_by,
        .sharing = { draft->spec->operation.shares_with, draft->spec->operation.shares_with_count,
                     .is_current = true },
        .now_us = draft->request->now_us,
    };
    const struct cursor_feed_request feed = { .of = request.of,
                                              .type = draft->spec->endpoint.window.type,
                                              .now_us = request.now_us };
    struct cursor_advance_result result;

    if (draft_is_feed(draft))
        return cursor_feed_advance(store, arena, &feed, &result, err);
    request.of.late_us = spec_late_us(draft->spec);
    return cursor_advance(store, arena, &request, &result, err);
}

/* An update takes records of an old mapping: not by requests, but from their payloads. The rest of
 * many is left for the next trigger, so that one does not take hours. */
static bool read_again(struct store *store, struct arena *arena, const struct plan_draft *draft,
                       struct rederive_result *done, struct error *err)
{
    const struct plan_request *request = draft->request;
    const struct rederive_request again = { .source = &draft->source,
                                            .endpoint = draft->target,
                                            .now_us = request->now_us,
                                            .records_max = REDERIVED_MAX,
                                            .random = request->random,
                                            .specs = request->specs };

    *done = (struct rederive_result){ 0 };
    if (request->random == NULL || !draft_is_by_id(draft) ||
        !draft->spec->operation.candidates[CANDIDATE_EXPR_CHANGE])
        return true;
    return rederive(store, arena, &again, done, err);
}

bool plan_error_is_paused(const struct error *err)
{
    return strcmp(err->code, PLAN_PAUSED) == 0;
}

static bool compile(struct store *store, struct arena *arena, const struct plan_request *request,
                    struct plan_draft *draft, struct error *err)
{
    const bool ok = draft_compile(store, arena, request, draft, err);

    if (request->watch != NULL)
        request->watch->see(request->watch, &(struct plan_event){ .kind = PLAN_EVENT_COMPILED,
                                                                  .plan = &draft->plan,
                                                                  .err = ok ? NULL : err });
    return ok;
}

bool plan_trigger(struct store *store, struct arena *arena, const struct plan_request *request,
                  struct plan_result *result, struct error *err)
{
    struct plan_draft *draft = ARENA_NEW(arena, struct plan_draft);
    bool ok;

    *result = (struct plan_result){ .is_fired = true };
    if (draft == NULL)
        return arena_error(arena, err);
    result->faults = &draft->faults;
    ok = (compile(store, arena, request, draft, err) && draft_may_run(store, arena, draft, err) &&
          draft_name(arena, draft, err) && catch_up(store, arena, draft, err) &&
          read_again(store, arena, draft, &result->rederived, err) &&
          make_plan(store, arena, draft, result, err)) ||
         refuse(store, arena, draft, result, err);
    draft_release(draft);
    return ok;
}

/* ---- a plan that is only shown ---- */

static bool preview(struct store *store, struct arena *arena, const struct plan_request *request,
                    struct plan_viewer *viewer, struct plan_result *result, struct error *err)
{
    struct plan_draft *draft = ARENA_NEW(arena, struct plan_draft);
    struct plan_cutter cutter = { .draft = draft, .result = result, .viewer = viewer };
    bool ok;

    if (draft == NULL)
        return arena_error(arena, err);
    result->faults = &draft->faults;
    ok = draft_compile(store, arena, request, draft, err) && draft_name(arena, draft, err) &&
         prepare(store, arena, draft, result, err) && cut(store, arena, &cutter, err) &&
         conclude(arena, draft, result, err);
    draft_release(draft);
    return ok;
}

bool plan_preview(struct store *store, struct arena *arena, const struct plan_request *request,
                  struct plan_viewer *viewer, struct plan_result *result, struct error *err)
{
    bool ok;

    *result = (struct plan_result){ .is_fired = true };
    if (!store_begin_read(store, err))
        return false;
    ok = preview(store, arena, request, viewer, result, err);
    store_rollback(store);
    return ok || error_wrap(err, "preview %.*s", STR_ARG(request->source));
}
