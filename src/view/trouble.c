/* Tasks that ended with something missing, judged against what was covered since. */
#include "view/trouble.h"

#include "base/instant.h"
#include "core/limits.h"
#include "data/json.h"
#include "engine/coverage/coverage.h"
#include "port/store_cursor.h"
#include "port/store_plan.h"
#include "port/store_task.h"

/* The endpoints of an operation take turns; the last plan of each is among so many. */
enum { LATER_PLANS_MAX = 200 };

static bool is_same(const struct task *a, const struct task *b)
{
    return a->operation == b->operation && a->scope == b->scope &&
           str_eq(a->endpoint, b->endpoint) && str_eq(a->cursor_key, b->cursor_key) &&
           str_eq(a->namespace_key, b->namespace_key);
}

/* Adds the missing windows of those before it in the list: they ended later. */
static bool add_later(struct arena *arena, const struct trouble_list *list,
                      const struct trouble *trouble, struct coverage_list *coverage,
                      struct error *err)
{
    for (const struct trouble *later = list->items; later < trouble; later++) {
        const struct id_part part = { later->ended.task.window, later->ended.task.ids };

        if (later->is_missing && window_is_valid(part.window) &&
            is_same(&later->ended.task, &trouble->ended.task) &&
            !coverage_list_put(arena, &part, &coverage->covered, &coverage->parts.covered))
            return arena_error(arena, err);
    }
    return true;
}

/* What the task itself covered, and what later tasks covered or are working on. Coverage from
 * before the task says nothing: the task was planned to look there once more. */
static bool list_since(struct store *store, struct arena *arena, const struct task *task,
                       struct str namespace_key, struct coverage_list *since, struct error *err)
{
    const struct coverage_namespace of = { .source = task->source,
                                           .endpoint = task->endpoint,
                                           .operation = task->operation,
                                           .cursor_key = task->cursor_key,
                                           .scope = task->scope,
                                           .namespace_key = namespace_key };
    struct task_list tasks;

    *since = (struct coverage_list){ 0 };
    if (!store_coverage_tasks(
            store, arena,
            &(struct window_query){ .of = &of, .window = task->window, .limit = RESLICE_PARTS_MAX },
            &tasks, err))
        return false;
    for (size_t i = 0; i < tasks.count && tasks.items[i].id >= task->id; i++) {
        if (!coverage_list_add(arena, &tasks.items[i], 0, INSTANT_MIN, since))
            return arena_error(arena, err);
    }
    return true;
}

struct judge {
    struct store *store;
    struct arena *arena;
    const struct trouble_list *list; /* what was judged so far */
};

/* Covered, under way, or missing by a later task. */
static bool is_held(const struct judge *judge, const struct trouble *trouble, bool *held,
                    struct error *err)
{
    const struct task *task = &trouble->ended.task;
    struct coverage_list coverage;

    return list_since(judge->store, judge->arena, task, task->namespace_key, &coverage, err) &&
           add_later(judge->arena, judge->list, trouble, &coverage, err) &&
           coverage_join(judge->arena, &coverage, err) &&
           coverage_holds(judge->arena, &coverage, (struct id_part){ task->window, task->ids },
                          held, err);
}

static bool is_held_by(const struct judge *judge, const struct task *task, struct str namespace_key,
                       bool *held, struct error *err)
{
    struct coverage_list coverage;

    return list_since(judge->store, judge->arena, task, namespace_key, &coverage, err) &&
           coverage_join(judge->arena, &coverage, err) &&
           coverage_holds(judge->arena, &coverage, (struct id_part){ task->window, task->ids },
                          held, err);
}

/* After a change of the query, the new one fetches all that the old one was to fetch, in a
 * namespace of its own. What it has covered or under way since is not missing any more. */
static bool is_held_by_later_query(const struct judge *judge, const struct task *task, bool *held,
                                   struct error *err)
{
    struct cursor_list cursors;

    if (task->scope != NAMESPACE_EXPR)
        return true;
    if (!store_cursor_list(judge->store, judge->arena, task->source, &cursors, err))
        return false;
    for (size_t i = 0; i < cursors.count && !*held; i++) {
        const struct cursor_name *name = &cursors.items[i].name;

        if (name->operation != task->operation || name->scope != NAMESPACE_EXPR ||
            !str_eq(name->cursor_key, task->cursor_key) ||
            str_eq(name->namespace_key, task->namespace_key))
            continue;
        if (!is_held_by(judge, task, name->namespace_key, held, err))
            return false;
    }
    return true;
}

/* For records by id: whether a later plan has chosen them again. */
static bool is_planned_again(const struct judge *judge, const struct task *task, bool *again,
                             struct error *err)
{
    const struct plan_filter filter = {
        .source = task->source, .has_operation = true, .operation = task->operation, .limit = 1
    };
    struct plan_list plans;

    if (!store_plan_list(judge->store, judge->arena, &filter, &plans, err))
        return false;
    *again = plans.count > 0 && plans.items[0].id > task->plan_id;
    return true;
}

/* A task of a feed has the version of its cursor in its params. */
static bool read_is_feed(const struct judge *judge, const struct task *task, bool *is_feed,
                         struct error *err)
{
    struct json_doc doc;

    *is_feed = false;
    if (window_is_valid(task->window) || task->cursor_key.len == 0)
        return true;
    if (!json_parse(&doc, judge->arena, task->params, err))
        return false;
    *is_feed = json_exists(json_get(&doc, json_root(&doc), STR("cursorVersion")));
    return true;
}

/* Whether its endpoint has a later plan: after a change of the query or of the window's type, that
 * is in another namespace. */
static bool has_later_plan(const struct judge *judge, const struct task *task, bool *later,
                           struct error *err)
{
    const struct plan_filter filter = { .source = task->source,
                                        .has_operation = true,
                                        .operation = task->operation,
                                        .limit = LATER_PLANS_MAX };
    struct plan_list plans;

    if (!store_plan_list(judge->store, judge->arena, &filter, &plans, err))
        return false;
    for (size_t i = 0; i < plans.count && !*later; i++)
        *later =
            plans.items[i].id > task->plan_id && str_eq(plans.items[i].endpoint, task->endpoint);
    return true;
}

/* For a feed: whether it was continued by a later task. */
static bool is_continued(const struct judge *judge, const struct task *task, bool *continued,
                         struct error *err)
{
    const struct coverage_namespace of = { .source = task->source,
                                           .endpoint = task->endpoint,
                                           .operation = task->operation,
                                           .cursor_key = task->cursor_key,
                                           .scope = task->scope,
                                           .namespace_key = task->namespace_key };
    struct task last;
    bool found;

    if (!store_task_last(judge->store, judge->arena, &of, &last, &found, err))
        return false;
    *continued = found && last.id > task->id;
    return *continued || has_later_plan(judge, task, continued, err);
}

/* A re-sliced task is missing only where its pieces are, and these are in the list themselves. What
 * was reset is planned again, as if it had not been tried. */
static bool judge_one(const struct judge *judge, struct trouble *trouble, struct error *err)
{
    const struct task *task = &trouble->ended.task;
    const bool has_holes = trouble->ended.has_reason && trouble->ended.reason == PARTIAL_HOLES;
    bool held = trouble->ended.is_resliced || task->is_reset;

    if (!read_is_feed(judge, task, &trouble->is_feed, err))
        return false;
    if (!held && trouble->is_feed) {
        if (!is_continued(judge, task, &held, err))
            return false;
    } else if (!held && window_is_valid(task->window)) {
        if (!is_held(judge, trouble, &held, err) ||
            (!held && !is_held_by_later_query(judge, task, &held, err)))
            return false;
    } else if (!held && !is_planned_again(judge, task, &held, err)) {
        return false;
    }
    /* By id, each hole is a signal of its own. */
    trouble->is_missing = !held && (window_is_valid(task->window) || !has_holes);
    trouble->has_holes = has_holes && (window_is_valid(task->window) || !held);
    return true;
}

static bool is_of(const struct task_partition *partition, const struct task *task)
{
    return partition == NULL ||
           (partition->operation == task->operation && str_eq(partition->endpoint, task->endpoint));
}

bool trouble_list(struct store *store, struct arena *arena, const struct trouble_filter *filter,
                  struct trouble_list *list, struct error *err)
{
    const struct judge judge = { store, arena, list };
    struct ended_task_list ended;

    *list = (struct trouble_list){ 0 };
    if (!store_status_troubled(store, arena,
                               &(struct trouble_query){ .source = filter->source,
                                                        .since_us = filter->since_us,
                                                        .with_held = filter->with_held,
                                                        .limit = filter->limit },
                               &ended, err))
        return false;
    for (size_t i = 0; i < ended.count; i++) {
        struct trouble *trouble;

        if (!is_of(filter->partition, &ended.items[i].task))
            continue;
        trouble = LIST_ADD(arena, list);
        if (trouble == NULL)
            return arena_error(arena, err);
        trouble->ended = ended.items[i];
        if (!judge_one(&judge, trouble, err))
            return error_wrap(err, "task %lld", (long long)trouble->ended.task.id);
        list->missing += trouble->is_missing;
        list->holes += trouble->has_holes;
    }
    return true;
}

static const char *holes_advice(const struct task *task, bool takes_signals)
{
    if (!window_is_valid(task->window))
        return "ids that the source has no record for are left alone; ids that it refused or "
               "failed on are still signals";
    return takes_signals ? "the ids without a record are signals; the next update takes them"
                         : "the ids without a record are signals, but no update takes them: see "
                           "patra signal list";
}

const char *trouble_advice(const struct trouble *trouble, bool takes_signals)
{
    if (!trouble->is_missing)
        return trouble->has_holes ? holes_advice(&trouble->ended.task, takes_signals)
                                  : "nothing to do: it has been covered or is under way";
    if (trouble->is_feed)
        return trouble_is_held(trouble)
                   ? "correct the source file and apply it, or, if the source has begun its ids "
                     "again, set the cursor back: patra cursor reset SOURCE --to 0"
                   : "fix what the error names; the next harvest continues from the cursor";
    if (!window_is_valid(trouble->ended.task.window))
        return "fix what the error names; the next update chooses these records again";
    if (trouble->ended.has_reason && trouble->ended.reason == PARTIAL_CRASHED)
        return "find out what the workers died of (their log, the kernel's); the window is planned "
               "again when you trigger the operation by hand, and otherwise only now and then";
    if (trouble_is_held(trouble))
        return "correct the source file as the error says and apply it; the window is then planned "
               "again, and otherwise only now and then";
    return "fix what the error names; the next trigger plans this window again";
}
