/* A query runs segment by segment, from one list of nodes to the next. A filter is tested for each
 * child; the queries inside it run the same way, on a frame of their own. */
#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "data/jsonpath_program.h"

bool path_spend(struct path_run *run, uint64_t steps)
{
    if (*run->steps < steps) {
        *run->steps = 0;
        return error_set(run->err, ERROR_REQUEST, "jsonpath.limit",
                         "the query takes more steps than allowed");
    }
    *run->steps -= steps;
    return true;
}

bool path_spend_bytes(struct path_run *run, size_t bytes)
{
    return path_spend(run, 1 + bytes / 64);
}

bool path_next(struct path_run *run, struct json_iter *it, bool *more)
{
    *more = json_next(it);
    return *more ? path_spend_bytes(run, json_iter_bytes(it)) : path_spend(run, 1);
}

static bool add(struct path_run *run, struct path_list *list, struct json_node node)
{
    if (list->count == list->capacity) {
        const size_t old = list->capacity;
        struct json_node *items;

        list->capacity = old > 0 ? 2 * old : 16;
        items = arena_grow(run->arena, list->items, old * sizeof(*items),
                           list->capacity * sizeof(*items));
        if (items == NULL)
            return arena_error(run->arena, run->err);
        list->items = items;
    }
    list->items[list->count++] = node;
    return true;
}

bool path_member(struct path_run *run, struct json_node object, struct str name,
                 struct json_node *out)
{
    struct json_iter it = json_each(run->doc, object);
    bool more;

    *out = JSON_NODE_NONE;
    if (json_type(run->doc, object) != JSON_OBJECT)
        return true;
    while (path_next(run, &it, &more)) {
        if (!more)
            return true;
        if (json_string_is(run->doc, it.name, name)) {
            *out = it.value;
            return true;
        }
    }
    return false;
}

static bool array_len(struct path_run *run, struct json_node array, int64_t *len)
{
    struct json_iter it = json_each(run->doc, array);
    bool more;

    for (*len = 0; path_next(run, &it, &more); ++*len) {
        if (!more)
            return true;
    }
    return false;
}

static bool element(struct path_run *run, struct json_node array, int64_t index,
                    struct json_node *out)
{
    struct json_iter it = json_each(run->doc, array);
    int64_t len;
    bool more;

    *out = JSON_NODE_NONE;
    if (json_type(run->doc, array) != JSON_ARRAY)
        return true;
    if (index < 0) {
        if (!array_len(run, array, &len))
            return false;
        index += len;
    }
    while (index >= 0 && path_next(run, &it, &more)) {
        if (!more)
            return true;
        if ((int64_t)it.index == index) {
            *out = it.value;
            return true;
        }
    }
    return index < 0;
}

/* ---- slices, section 2.3.4.2 ---- */

struct bounds {
    int64_t lower, upper; /* forwards [lower, upper), backwards (lower, upper] */
};

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static struct bounds slice_bounds(const struct path_selector *s, int64_t len)
{
    const bool forwards = s->step > 0;
    int64_t start = s->has_start ? s->index : forwards ? 0 : len - 1;
    int64_t end = s->has_end ? s->end : forwards ? len : -len - 1;

    if (start < 0)
        start += s->has_start ? len : 0;
    if (end < 0)
        end += len;
    if (forwards)
        return (struct bounds){ clamp(start, 0, len), clamp(end, 0, len) };
    return (struct bounds){ clamp(end, -1, len - 1), clamp(start, -1, len - 1) };
}

static bool is_taken(const struct path_selector *s, struct bounds b, int64_t i)
{
    if (s->step > 0)
        return i >= b.lower && i < b.upper && (i - b.lower) % s->step == 0;
    return i > b.lower && i <= b.upper && (b.upper - i) % -s->step == 0;
}

static void reverse(struct json_node *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const struct json_node node = items[i];

        items[i] = items[count - 1 - i];
        items[count - 1 - i] = node;
    }
}

/* Elements can only be walked forwards; a backward slice is collected forwards and reversed. */
static bool select_slice(struct path_run *run, const struct path_selector *s,
                         struct json_node array, struct path_list *out)
{
    const size_t first = out->count;
    const bool forwards = s->step > 0;
    struct json_iter it = json_each(run->doc, array);
    struct bounds b;
    int64_t len;
    bool more;

    if (json_type(run->doc, array) != JSON_ARRAY || s->step == 0)
        return true;
    if (!array_len(run, array, &len))
        return false;
    b = slice_bounds(s, len);
    while (path_next(run, &it, &more)) {
        if (!more) {
            if (!forwards && out->count > first)
                reverse(out->items + first, out->count - first);
            return true;
        }
        if (is_taken(s, b, (int64_t)it.index) && !add(run, out, it.value))
            return false;
    }
    return false;
}

/* ---- selectors ---- */

/* All children, or those for which the filter holds. */
static bool select_children(struct path_run *run, size_t frame, const struct path_expr *filter,
                            struct json_node node, struct path_list *out)
{
    struct json_iter it = json_each(run->doc, node);
    bool more;

    while (path_next(run, &it, &more)) {
        bool holds = true;

        if (!more)
            return true;
        if (filter != NULL && !path_test(run, frame + 1, filter, it.value, &holds))
            return false;
        if (holds && !add(run, out, it.value))
            return false;
    }
    return false;
}

static bool apply_one(struct path_run *run, size_t frame, const struct path_selector *s,
                      struct json_node node, struct path_list *out)
{
    struct json_node found = JSON_NODE_NONE;

    switch (s->kind) {
    case SELECT_NAME:
        if (!path_member(run, node, s->name, &found))
            return false;
        break;
    case SELECT_INDEX:
        if (!element(run, node, s->index, &found))
            return false;
        break;
    case SELECT_SLICE:
        return select_slice(run, s, node, out);
    case SELECT_ALL:
    case SELECT_FILTER:
        return select_children(run, frame, s->filter, node, out);
    }
    return !json_exists(found) || add(run, out, found);
}

static bool apply(struct path_run *run, size_t frame, const struct path_segment *segment,
                  struct json_node node, struct path_list *out)
{
    for (const struct path_selector *s = segment->selectors; s != NULL; s = s->next) {
        if (!path_spend(run, 1) || !apply_one(run, frame, s, node, out))
            return false;
    }
    return true;
}

/* ---- descendants ---- */

static bool push(struct path_run *run, struct path_frame *f, size_t *depth, struct json_node node)
{
    if (*depth == f->stack_capacity) {
        const size_t old = f->stack_capacity;
        struct json_iter *stack;

        f->stack_capacity = old > 0 ? 2 * old : 16;
        stack = arena_grow(run->arena, f->stack, old * sizeof(*stack),
                           f->stack_capacity * sizeof(*stack));
        if (stack == NULL)
            return arena_error(run->arena, run->err);
        f->stack = stack;
    }
    f->stack[(*depth)++] = json_each(run->doc, node);
    return true;
}

/* The node and all below it, each before its children. */
static bool apply_below(struct path_run *run, size_t frame, const struct path_segment *segment,
                        struct json_node node, struct path_list *out)
{
    struct path_frame *f = &run->frames[frame];
    size_t depth = 0;

    if (!apply(run, frame, segment, node, out) || !push(run, f, &depth, node))
        return false;
    while (depth > 0) {
        struct json_iter *it = &f->stack[depth - 1];
        struct json_node child;
        bool more;

        if (!path_next(run, it, &more))
            return false;
        if (!more) {
            depth--;
            continue;
        }
        child = it->value;
        if (json_type(run->doc, child) < JSON_ARRAY)
            continue; /* a scalar has no children to select */
        if (!apply(run, frame, segment, child, out) || !push(run, f, &depth, child))
            return false;
    }
    return true;
}

/* ---- queries ---- */

bool path_run_query(struct path_run *run, size_t frame, const struct path_query *query,
                    struct json_node current, struct path_list **out)
{
    struct path_list *from, *to;

    assert(frame < ARRAY_LEN(run->frames));
    from = &run->frames[frame].lists[0];
    to = &run->frames[frame].lists[1];
    from->count = 0;
    if (!add(run, from, query->relative ? current : run->root))
        return false;
    for (const struct path_segment *s = query->segments; s != NULL; s = s->next) {
        struct path_list *const swap = from;

        to->count = 0;
        for (size_t i = 0; i < from->count; i++) {
            if (!(s->descendant ? apply_below(run, frame, s, from->items[i], to)
                                : apply(run, frame, s, from->items[i], to)))
                return false;
        }
        from = to;
        to = swap;
    }
    *out = from;
    return true;
}

bool path_run_singular(struct path_run *run, const struct path_query *query,
                       struct json_node current, struct json_node *out)
{
    *out = query->relative ? current : run->root;
    for (const struct path_segment *s = query->segments; s != NULL && json_exists(*out);
         s = s->next) {
        if (!(s->selectors->kind == SELECT_NAME ? path_member(run, *out, s->selectors->name, out)
                                                : element(run, *out, s->selectors->index, out)))
            return false;
    }
    return true;
}

bool jsonpath_run(const struct jsonpath *path, struct arena *arena, struct jsonpath_target target,
                  struct jsonpath_nodes *out, struct error *err)
{
    uint64_t steps = JSONPATH_STEPS_MAX;
    struct path_run *run = ARENA_NEW(arena, struct path_run);
    struct path_list *found;
    bool ok;

    if (run == NULL)
        return arena_error(arena, err);
    run->doc = target.doc;
    run->root = target.root;
    run->arena = arena;
    run->steps = target.steps != NULL ? target.steps : &steps;
    run->err = err;
    arena_init(&run->patterns, PATH_PATTERN_BYTES_MAX);
    for (size_t i = 0; i < ARRAY_LEN(run->frames); i++) {
        buf_init(&run->frames[i].texts[0], arena, SIZE_MAX);
        buf_init(&run->frames[i].texts[1], arena, SIZE_MAX);
    }
    ok = path_run_query(run, 0, &path->query, target.root, &found);
    arena_release(&run->patterns);
    if (ok)
        *out = (struct jsonpath_nodes){ found->items, found->count };
    return ok || error_wrap(err, "JSONPath %.*s", STR_ARG(path->text));
}
