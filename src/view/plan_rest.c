/* The rest of a PARTIAL plan, judged by what its namespace has covered since. */
#include "view/plan_rest.h"

#include <inttypes.h>

#include "core/coverage.h"
#include "engine/coverage/coverage.h"
#include "spec/spec.h"
#include "view/plan.h"

/* ---- by window ---- */

static bool find_later(const struct view_reader *reader, const struct plan *plan, int64_t *plan_id,
                       struct error *err)
{
    const struct coverage_namespace of = plan_namespace(plan);
    struct task_list tasks;

    if (!store_coverage_tasks(
            reader->store, reader->arena,
            &(struct window_query){ .of = &of, .window = plan->window, .limit = 1 }, &tasks, err))
        return false;
    *plan_id = tasks.count > 0 && tasks.items[0].plan_id > plan->id ? tasks.items[0].plan_id : 0;
    return true;
}

static bool judge_window(const struct view_reader *reader, const struct plan *plan,
                         struct plan_rest *rest, struct error *err)
{
    struct coverage_query query = { plan_namespace(plan), SLICE_TIME, plan->window.from_us };
    struct window_list covered;
    struct coverage_list list;
    struct plan whole; /* lists leave the snapshot out */
    struct spec spec;
    bool is_held;

    if (!view_plan_find(reader, plan->id, &whole, err) ||
        !spec_read(reader->arena, whole.expr_proto_snapshot, &spec, err))
        return false;
    query.dimension = spec.operation.slice_by;
    if (!coverage_load(reader->store, reader->arena, &query, &list, err) ||
        !coverage_of(reader->arena, list.covered, &covered, err) ||
        !coverage_holds(reader->arena, &list, (struct id_part){ .window = plan->window }, &is_held,
                        err))
        return false;
    rest->state = coverage_contains(covered, plan->window) ? PLAN_REST_FINISHED
                  : is_held                                ? PLAN_REST_UNDER_WAY
                                                           : PLAN_REST_OPEN;
    return find_later(reader, plan, &rest->plan_id, err);
}

/* ---- by id ---- */

/* A later plan has chosen the records again, and has all of them if no limit stopped it. */
static bool judge_ids(const struct view_reader *reader, const struct plan *plan,
                      struct plan_rest *rest, struct error *err)
{
    const struct plan_filter filter = { .source = plan->source,
                                        .endpoint = plan->endpoint,
                                        .has_operation = true,
                                        .operation = plan->operation,
                                        .limit = 1 };
    struct plan_progress progress;
    struct plan_list plans;

    if (!store_plan_list(reader->store, reader->arena, &filter, &plans, err))
        return false;
    if (plans.count == 0 || plans.items[0].id <= plan->id || plans.items[0].status != PLAN_READY)
        return true;
    if (!store_plan_progress(reader->store, plans.items[0].id, &progress, err))
        return false;
    rest->plan_id = plans.items[0].id;
    rest->state = progress.tasks[TASK_QUEUED] + progress.tasks[TASK_DISPATCHED] +
                              progress.tasks[TASK_EXECUTING] >
                          0
                      ? PLAN_REST_UNDER_WAY
                      : PLAN_REST_FINISHED;
    return true;
}

bool view_plan_rest(const struct view_reader *reader, const struct plan *plan,
                    struct plan_rest *rest, struct error *err)
{
    *rest = (struct plan_rest){ 0 };
    if (plan->status != PLAN_PARTIAL)
        return true;
    rest->state = PLAN_REST_OPEN;
    return (view_plan_is_by_id(plan)        ? judge_ids(reader, plan, rest, err)
            : window_is_valid(plan->window) ? judge_window(reader, plan, rest, err)
                                            : true) ||
           error_wrap(err, "the rest of plan %" PRId64, plan->id);
}

/* ---- for people and programs ---- */

static const char *state_word(enum plan_rest_state state)
{
    return state == PLAN_REST_FINISHED ? "FINISHED"
           : state == PLAN_REST_OPEN   ? "OPEN"
                                       : "UNDER_WAY";
}

struct str plan_rest_text(struct arena *arena, const struct plan_rest *rest)
{
    const char *text =
        rest->state == PLAN_REST_FINISHED ? "the rest was finished" : "the rest is under way";

    if (rest->state == PLAN_REST_NONE)
        return STR("");
    if (rest->state == PLAN_REST_OPEN)
        return STR("the next trigger plans the rest");
    return rest->plan_id == 0 ? str_of(text)
                              : arena_printf(arena, "%s by plan %" PRId64, text, rest->plan_id);
}

void plan_rest_write(struct json_writer *w, const struct plan_rest *rest)
{
    if (rest->state == PLAN_REST_NONE)
        return;
    json_write_name(w, STR("rest"));
    json_write_object(w);
    json_write_member_str(w, STR("state"), str_of(state_word(rest->state)));
    if (rest->plan_id > 0)
        json_write_member_i64(w, STR("planId"), rest->plan_id);
    json_write_end(w);
}
