/* Cursors: gathered from the store and the engine's own view of each. */
#include "view/cursor.h"

#include "base/list.h"
#include "port/store_plan.h"

enum { PLANS_SEEN = 50 };

static bool is_chosen(const struct view_cursor_filter *filter, const struct cursor_name *name)
{
    return (filter->source.len == 0 || str_eq(filter->source, name->source)) &&
           (!filter->has_operation || filter->operation == name->operation) &&
           str_starts(name->namespace_key, filter->namespace_prefix);
}

static bool choose(const struct view_reader *reader, const struct view_cursor_filter *filter,
                   struct cursor_list *list, struct error *err)
{
    size_t count = 0;

    if (!store_cursor_list(reader->store, reader->arena, filter->source, list, err))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (is_chosen(filter, &list->items[i].name))
            list->items[count++] = list->items[i];
    }
    list->count = count;
    return count > 0 || view_source_check(reader, filter->source, err);
}

/* ---- which query is in force ---- */

static bool is_kin(const struct cursor_name *a, const struct cursor_name *b)
{
    return a->scope != NAMESPACE_CUSTOM && b->scope != NAMESPACE_CUSTOM &&
           a->operation == b->operation && str_eq(a->source, b->source) &&
           str_eq(a->cursor_key, b->cursor_key);
}

static bool has_kin(const struct cursor_list *list, size_t i)
{
    for (size_t k = 0; k < list->count; k++) {
        if (k != i && is_kin(&list->items[i].name, &list->items[k].name))
            return true;
    }
    return false;
}

/* The namespace of the last plan decides. Plans of campaigns, and of triggers that selected other
 * records, say nothing. */
static bool find_former(const struct view_reader *reader, const struct cursor_name *name,
                        bool *is_former, struct error *err)
{
    const struct plan_filter filter = { .source = name->source,
                                        .has_operation = true,
                                        .operation = name->operation,
                                        .limit = PLANS_SEEN };
    struct plan_list plans;

    if (!store_plan_list(reader->store, reader->arena, &filter, &plans, err))
        return false;
    for (size_t i = 0; i < plans.count; i++) {
        const struct plan *plan = &plans.items[i];

        if (plan->scope == NAMESPACE_CUSTOM || !str_eq(plan->cursor_key, name->cursor_key))
            continue;
        *is_former =
            plan->scope != name->scope || !str_eq(plan->namespace_key, name->namespace_key);
        break;
    }
    return true;
}

static bool add_cursor(const struct view_reader *reader, const struct view_cursor_filter *filter,
                       const struct cursor_list *cursors, size_t i, struct view_cursor_list *list,
                       struct error *err)
{
    struct view_cursor one = { .cursor = cursors->items[i] };
    struct view_cursor *view;

    if (has_kin(cursors, i) && !find_former(reader, &one.cursor.name, &one.is_former, err))
        return false;
    if (one.is_former && filter->without_former)
        return true;
    if (!cursor_way(reader->store, reader->arena, &one.cursor, &one.way, err))
        return false;
    view = LIST_ADD(reader->arena, list);
    if (view == NULL)
        return arena_error(reader->arena, err);
    *view = one;
    return true;
}

bool view_cursor_list(const struct view_reader *reader, const struct view_cursor_filter *filter,
                      struct view_cursor_list *list, struct error *err)
{
    struct cursor_list cursors;

    *list = (struct view_cursor_list){ 0 };
    if (!choose(reader, filter, &cursors, err))
        return false;
    for (size_t i = 0; i < cursors.count; i++) {
        if (!add_cursor(reader, filter, &cursors, i, list, err))
            return false;
    }
    return true;
}

static bool gather_details(const struct view_reader *reader,
                           const struct view_cursor_filter *filter, int64_t events_max,
                           struct view_cursor_details *details, struct error *err)
{
    struct cursor_list cursors;

    if (!choose(reader, filter, &cursors, err))
        return false;
    for (size_t i = 0; i < cursors.count; i++) {
        struct cursor_view *view = LIST_ADD(reader->arena, details);

        if (view == NULL)
            return arena_error(reader->arena, err);
        if (!cursor_view(reader->store, reader->arena, &cursors.items[i], events_max, view, err))
            return false;
    }
    return true;
}

bool view_cursor_details(const struct view_reader *reader, const struct view_cursor_filter *filter,
                         int64_t events_max, struct view_cursor_details *details, struct error *err)
{
    bool ok;

    *details = (struct view_cursor_details){ 0 };
    if (!store_begin_read(reader->store, err))
        return false;
    ok = gather_details(reader, filter, events_max, details, err);
    store_rollback(reader->store);
    return ok;
}

bool view_cursor_checks(const struct view_reader *reader, const struct view_cursor_filter *filter,
                        struct view_cursor_checks *checks, struct error *err)
{
    struct cursor_check_list list;

    *checks = (struct view_cursor_checks){ 0 };
    if (!cursor_verify(reader->store, reader->arena, filter->source, &list, err))
        return false;
    checks->items = list.items;
    for (size_t i = 0; i < list.count; i++) {
        if (!is_chosen(filter, &list.items[i].name))
            continue;
        checks->events += list.items[i].events;
        checks->wrong += !list.items[i].agrees;
        checks->items[checks->count++] = list.items[i];
    }
    return checks->count > 0 || view_source_check(reader, filter->source, err);
}
