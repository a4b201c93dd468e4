/* The kinds of damage, a function each, and when one is done. */
#include "damage.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static bool rename_member(struct arena *arena, struct tree *member)
{
    if (member == NULL)
        return false;
    member->key = arena_printf(arena, "%.*sV2", STR_ARG(member->key));
    return true;
}

static bool become(struct tree *tree, const struct tree *other)
{
    if (tree == NULL)
        return false;
    tree_become(tree, other);
    return true;
}

static bool drop(struct tree *parent, const char *key)
{
    const struct tree *member = tree_get(parent, key);

    if (member == NULL)
        return false;
    tree_remove(parent, member);
    return true;
}

/* The list, if it has at least so many items. */
static struct tree *list_of(const struct shape *shape, const struct answer *answer, size_t least)
{
    struct tree *list = shape_list(shape, answer);

    return list != NULL && list->kind == TREE_LIST && list->count >= least ? list : NULL;
}

static struct tree *some_item(const struct shape *shape, const struct answer *answer,
                              struct random *random)
{
    const struct tree *list = list_of(shape, answer, 1);

    return list != NULL ? list->items[random_between(random, 0, (int64_t)list->count)] : NULL;
}

/* ---- the list ---- */

static bool list_renamed(const struct damage_input *in)
{
    struct tree *list = shape_list(in->shape, in->answer);

    return list != in->answer->root && rename_member(in->arena, list);
}

static bool list_removed(const struct damage_input *in)
{
    struct tree *parent = in->answer->is_detail || in->shape->depth == 1
                              ? in->answer->root
                              : tree_get(in->answer->root, "data");

    return drop(parent, "items");
}

static bool list_null(const struct damage_input *in)
{
    return become(list_of(in->shape, in->answer, 1), tree_new(in->arena, TREE_NULL));
}

static bool list_text(const struct damage_input *in)
{
    return become(list_of(in->shape, in->answer, 1), tree_text(in->arena, "see the manual"));
}

static bool list_number(const struct damage_input *in)
{
    return become(list_of(in->shape, in->answer, 1), tree_bare(in->arena, 7));
}

/* A list of one item is written as that item, or a page as its first item. */
static bool list_to_first_item(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);

    return list != NULL && become(list, list->items[0]);
}

static bool list_to_keyed_object(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);
    struct tree *object = tree_new(in->arena, TREE_OBJECT);

    for (size_t i = 0; list != NULL && i < list->count; i++)
        tree_put(in->arena, object, arena_printf(in->arena, "k%zu", i).data, list->items[i]);
    return become(list, object);
}

static bool list_to_error_object(const struct damage_input *in)
{
    struct tree *error = tree_new(in->arena, TREE_OBJECT);

    tree_put(in->arena, error, "error", tree_text(in->arena, "%s", "backend is busy"));
    return become(list_of(in->shape, in->answer, 1), error);
}

static bool list_in_a_list(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);
    struct tree *outer = tree_new(in->arena, TREE_LIST);

    if (list == NULL)
        return false;
    tree_add(in->arena, outer, tree_copy(in->arena, list));
    return become(list, outer);
}

static bool list_emptied(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);

    if (list == NULL)
        return false;
    list->count = 0;
    return true;
}

static bool list_truncated(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 2);

    if (list == NULL)
        return false;
    list->count = (size_t)random_between(in->random, 1, (int64_t)list->count);
    return true;
}

static bool list_reversed(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 2);

    for (size_t i = 0; list != NULL && i < list->count / 2; i++) {
        struct tree *item = list->items[i];

        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = item;
    }
    return list != NULL;
}

/* Two lists of one name: the one that a reader does not expect is empty. */
static bool list_twice(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);
    struct tree *parent = in->answer->is_detail || in->shape->depth == 1
                              ? in->answer->root
                              : tree_get(in->answer->root, "data");

    if (list == NULL || list == in->answer->root)
        return false;
    if (random_chance(in->random, 50)) {
        tree_put(in->arena, parent, "items", tree_new(in->arena, TREE_LIST));
    } else {
        struct tree *copy = tree_copy(in->arena, list);

        list->count = 0;
        tree_put(in->arena, parent, "items", copy);
    }
    return true;
}

/* ---- items ---- */

static bool items_as_text(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);

    if (list == NULL || (in->shape->bare_ids && !in->answer->is_detail))
        return false;
    for (size_t i = 0; i < list->count; i++)
        list->items[i] = tree_text(in->arena, "item %zu", i);
    return true;
}

static bool items_null(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);

    for (size_t i = 0; list != NULL && i < list->count; i++)
        list->items[i] = tree_new(in->arena, TREE_NULL);
    return list != NULL;
}

static bool items_wrapped(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        struct tree *outer = tree_new(in->arena, TREE_OBJECT);

        tree_put(in->arena, outer, "record", list->items[i]);
        list->items[i] = outer;
    }
    return list != NULL;
}

static bool items_as_lists(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (list->items[i]->kind == TREE_OBJECT)
            list->items[i]->kind = TREE_LIST;
    }
    return list != NULL && list->items[0]->kind == TREE_LIST;
}

static bool items_without_id(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);
    bool done = false;

    for (size_t i = 0; list != NULL && i < list->count; i++)
        done |= rename_member(in->arena, tree_get(list->items[i], "id"));
    return done;
}

static bool items_without_date(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 1);
    bool done = false;

    for (size_t i = 0; list != NULL && i < list->count; i++)
        done |= rename_member(in->arena, tree_get(list->items[i], "updated"));
    return done;
}

static bool item_without_id(const struct damage_input *in)
{
    struct tree *item = some_item(in->shape, in->answer, in->random);

    return item != NULL && drop(item, "id");
}

static bool item_id_null(const struct damage_input *in)
{
    return become(tree_get(some_item(in->shape, in->answer, in->random), "id"),
                  tree_new(in->arena, TREE_NULL));
}

static bool item_id_object(const struct damage_input *in)
{
    struct tree *id = tree_get(some_item(in->shape, in->answer, in->random), "id");
    struct tree *object = tree_new(in->arena, TREE_OBJECT);

    if (id == NULL)
        return false;
    tree_put(in->arena, object, "value", tree_copy(in->arena, id));
    return become(id, object);
}

static bool item_date_null(const struct damage_input *in)
{
    return become(tree_get(some_item(in->shape, in->answer, in->random), "updated"),
                  tree_new(in->arena, TREE_NULL));
}

static bool item_date_text(const struct damage_input *in)
{
    return become(tree_get(some_item(in->shape, in->answer, in->random), "updated"),
                  tree_text(in->arena, "last Tuesday"));
}

static bool item_empty(const struct damage_input *in)
{
    return become(some_item(in->shape, in->answer, in->random), tree_new(in->arena, TREE_OBJECT));
}

/* An item in place of its neighbour: an id twice, and one is missing. */
static bool item_twice(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 2);
    size_t at;

    if (list == NULL)
        return false;
    at = (size_t)random_between(in->random, 1, (int64_t)list->count);
    list->items[at] = tree_copy(in->arena, list->items[at - 1]);
    return true;
}

static bool item_left_out(const struct damage_input *in)
{
    struct tree *list = list_of(in->shape, in->answer, 2);

    if (list == NULL)
        return false;
    tree_remove(list, list->items[random_between(in->random, 0, (int64_t)list->count - 1)]);
    return true;
}

/* ---- the next page ---- */

/* Replaces the token or URL; only where there is one. data NULL: removes it. */
static bool set_next(struct arena *arena, struct answer *answer, struct str value)
{
    struct tree *next = tree_get(answer->root, "next");

    if (answer->in_header) {
        if (answer->next.data == NULL)
            return false;
        answer->next = value;
        return true;
    }
    if (next == NULL || next->kind != TREE_TEXT || next->text.len == 0)
        return false;
    if (value.data == NULL)
        tree_remove(answer->root, next);
    else
        tree_become(next, tree_text(arena, "%.*s", STR_ARG(value)));
    return true;
}

static struct tree *full_next(const struct answer *answer)
{
    struct tree *next = tree_get(answer->root, "next");

    return next != NULL && next->kind == TREE_TEXT && next->text.len > 0 ? next : NULL;
}

static bool next_removed(const struct damage_input *in)
{
    return set_next(in->arena, in->answer, (struct str){ NULL, 0 });
}

static bool next_renamed(const struct damage_input *in)
{
    return rename_member(in->arena, full_next(in->answer));
}

static bool next_null(const struct damage_input *in)
{
    return become(full_next(in->answer), tree_new(in->arena, TREE_NULL));
}

static bool next_empty(const struct damage_input *in)
{
    return set_next(in->arena, in->answer, STR(""));
}

static bool next_object(const struct damage_input *in)
{
    struct tree *next = full_next(in->answer);
    struct tree *object = tree_new(in->arena, TREE_OBJECT);

    if (next == NULL)
        return false;
    tree_put(in->arena, object, "href", tree_copy(in->arena, next));
    return become(next, object);
}

static bool next_list(const struct damage_input *in)
{
    struct tree *next = full_next(in->answer);
    struct tree *list = tree_new(in->arena, TREE_LIST);

    if (next == NULL)
        return false;
    tree_add(in->arena, list, tree_copy(in->arena, next));
    return become(next, list);
}

static bool next_false(const struct damage_input *in)
{
    return become(full_next(in->answer), tree_bool(in->arena, false));
}

static bool next_number(const struct damage_input *in)
{
    return become(full_next(in->answer), tree_bare(in->arena, 0));
}

static bool next_same(const struct damage_input *in)
{
    return in->answer->sent.data != NULL && set_next(in->arena, in->answer, in->answer->sent);
}

static bool next_unknown(const struct damage_input *in)
{
    return set_next(in->arena, in->answer, STR("xyz"));
}

static bool next_first_page(const struct damage_input *in)
{
    if (in->shape->paging == NEED_TOKEN || in->shape->paging == NEED_TOKEN_HEADER)
        return set_next(in->arena, in->answer, STR("t0"));
    return false;
}

static bool next_with_line_end(const struct damage_input *in)
{
    return set_next(in->arena, in->answer, STR("t5\r\nX-Evil: 1"));
}

/* ---- has_more ---- */

static bool more_removed(const struct damage_input *in)
{
    return drop(in->answer->root, "more");
}

static bool more_flipped(const struct damage_input *in)
{
    struct tree *more = tree_get(in->answer->root, "more");

    return more != NULL && become(more, tree_bool(in->arena, str_eq(more->text, STR("false"))));
}

static bool more_null(const struct damage_input *in)
{
    return become(tree_get(in->answer->root, "more"), tree_new(in->arena, TREE_NULL));
}

static bool more_text(const struct damage_input *in)
{
    return become(tree_get(in->answer->root, "more"), tree_text(in->arena, "maybe"));
}

/* ---- the total ---- */

static struct tree *total_of(const struct answer *answer)
{
    return tree_get(answer->root, "total");
}

static bool total_removed(const struct damage_input *in)
{
    return drop(in->answer->root, "total");
}

static bool total_renamed(const struct damage_input *in)
{
    return rename_member(in->arena, total_of(in->answer));
}

static bool total_null(const struct damage_input *in)
{
    return become(total_of(in->answer), tree_new(in->arena, TREE_NULL));
}

static bool total_text(const struct damage_input *in)
{
    return become(total_of(in->answer), tree_text(in->arena, "many"));
}

static bool total_object(const struct damage_input *in)
{
    struct tree *total = total_of(in->answer);
    struct tree *object = tree_new(in->arena, TREE_OBJECT);

    if (total == NULL)
        return false;
    tree_put(in->arena, object, "value", tree_copy(in->arena, total));
    tree_put(in->arena, object, "relation", tree_text(in->arena, "eq"));
    return become(total, object);
}

static bool total_quoted(const struct damage_input *in)
{
    struct tree *total = total_of(in->answer);

    return total != NULL && become(total, tree_text(in->arena, "%.*s", STR_ARG(total->text)));
}

static bool total_by(struct arena *arena, struct answer *answer, int64_t by)
{
    struct tree *total = total_of(answer);
    int64_t number;

    if (total == NULL || !str_to_i64(total->text, &number) || number + by < 0)
        return false;
    return become(total, tree_bare(arena, number + by));
}

static bool total_low(const struct damage_input *in)
{
    return total_by(in->arena, in->answer, -random_between(in->random, 1, 8));
}

static bool total_high(const struct damage_input *in)
{
    return total_by(in->arena, in->answer, random_between(in->random, 1, 8));
}

static bool total_zero(const struct damage_input *in)
{
    const struct tree *total = total_of(in->answer);

    return total != NULL && !str_eq(total->text, STR("0")) &&
           become(total_of(in->answer), tree_bare(in->arena, 0));
}

static bool total_negative(const struct damage_input *in)
{
    return become(total_of(in->answer), tree_bare(in->arena, -1));
}

/* ---- the whole answer ---- */

static bool answer_is_error(const struct damage_input *in)
{
    struct tree *root = tree_new(in->arena, TREE_OBJECT), *error = tree_new(in->arena, TREE_OBJECT);

    tree_put(in->arena, error, "code", tree_bare(in->arena, 17));
    tree_put(in->arena, error, "message", tree_text(in->arena, "backend is busy"));
    tree_put(in->arena, root, "error", error);
    in->answer->root = root;
    return true;
}

static bool answer_is_message(const struct damage_input *in)
{
    struct tree *root = tree_new(in->arena, TREE_OBJECT);

    tree_put(in->arena, root, "status", tree_text(in->arena, "failed"));
    tree_put(in->arena, root, "message", tree_text(in->arena, "try again later"));
    in->answer->root = root;
    return true;
}

static bool answer_is_empty(const struct damage_input *in)
{
    in->answer->root = tree_new(in->arena, TREE_OBJECT);
    return true;
}

static bool answer_is_null(const struct damage_input *in)
{
    in->answer->root = tree_new(in->arena, TREE_NULL);
    return !in->shape->is_xml;
}

static bool answer_wrapped(const struct damage_input *in)
{
    struct tree *outer = tree_new(in->arena, TREE_OBJECT);

    tree_put(in->arena, outer, "response", in->answer->root);
    in->answer->root = outer;
    return true;
}

static bool answer_in_a_list(const struct damage_input *in)
{
    struct tree *outer = tree_new(in->arena, TREE_LIST);

    tree_add(in->arena, outer, in->answer->root);
    in->answer->root = outer;
    return true;
}

static bool data_is_a_list(const struct damage_input *in)
{
    struct tree *data = tree_get(in->answer->root, "data");
    struct tree *list = tree_new(in->arena, TREE_LIST);

    if (data == NULL)
        return false;
    tree_add(in->arena, list, tree_copy(in->arena, data));
    return become(data, list);
}

static bool namespace_dropped(const struct damage_input *in)
{
    const bool had = in->answer->space != NULL;

    in->answer->space = NULL;
    return had;
}

static bool namespace_changed(const struct damage_input *in)
{
    const bool had = in->answer->space != NULL;

    in->answer->space = had ? "urn:example:list:2" : NULL;
    return had;
}

static bool namespace_added(const struct damage_input *in)
{
    const bool had = in->answer->space != NULL;

    in->answer->space = SHAPE_SPACE;
    return in->shape->is_xml && !had;
}

static bool member_added(const struct damage_input *in)
{
    if (in->answer->root->kind != TREE_OBJECT)
        return false;
    tree_put(in->arena, in->answer->root, "took", tree_bare(in->arena, 12));
    return true;
}

const struct damage_kind damage_kinds[] = {
    { "list renamed", list_renamed, LOOK_NO_LIST },
    { "list removed", list_removed, LOOK_NO_LIST },
    { "list null", list_null, LOOK_NO_LIST },
    { "list a text", list_text, LOOK_BROKEN },
    { "list a number", list_number, LOOK_BROKEN },
    { "list its first item", list_to_first_item, LOOK_EMPTY_XML },
    { "list an object by key", list_to_keyed_object, LOOK_EMPTY_XML },
    { "list an error object", list_to_error_object, LOOK_EMPTY_XML },
    { "list in a list", list_in_a_list, LOOK_BROKEN },
    { "page emptied", list_emptied, LOOK_EMPTY },
    { "page truncated", list_truncated, LOOK_SHORTER },
    { "page reversed", list_reversed, LOOK_BROKEN },
    { "list twice", list_twice, LOOK_BROKEN },
    { "items texts", items_as_text, LOOK_BROKEN },
    { "items null", items_null, LOOK_BROKEN },
    { "items wrapped", items_wrapped, LOOK_BROKEN },
    { "items lists", items_as_lists, LOOK_BROKEN },
    { "ids renamed", items_without_id, LOOK_BROKEN },
    { "dates renamed", items_without_date, LOOK_BROKEN },
    { "an item without id", item_without_id, LOOK_BROKEN },
    { "an id null", item_id_null, LOOK_BROKEN },
    { "an id an object", item_id_object, LOOK_BROKEN },
    { "a date null", item_date_null, LOOK_BROKEN },
    { "a date a text", item_date_text, LOOK_BROKEN },
    { "an item empty", item_empty, LOOK_BROKEN },
    { "an item twice", item_twice, LOOK_SHORTER },
    { "an item left out", item_left_out, LOOK_SHORTER },
    { "next removed", next_removed, LOOK_BROKEN },
    { "next renamed", next_renamed, LOOK_BROKEN },
    { "next null", next_null, LOOK_BROKEN },
    { "next empty", next_empty, LOOK_BROKEN },
    { "next an object", next_object, LOOK_BROKEN },
    { "next a list", next_list, LOOK_BROKEN },
    { "next false", next_false, LOOK_BROKEN },
    { "next a number", next_number, LOOK_BROKEN },
    { "next as sent", next_same, LOOK_BROKEN },
    { "next unknown", next_unknown, LOOK_BROKEN },
    { "next the first page", next_first_page, LOOK_BROKEN },
    { "next with a line end", next_with_line_end, LOOK_BROKEN },
    { "has_more removed", more_removed, LOOK_BROKEN },
    { "has_more flipped", more_flipped, LOOK_BROKEN },
    { "has_more null", more_null, LOOK_BROKEN },
    { "has_more a text", more_text, LOOK_BROKEN },
    { "total removed", total_removed, LOOK_BROKEN },
    { "total renamed", total_renamed, LOOK_BROKEN },
    { "total null", total_null, LOOK_BROKEN },
    { "total a text", total_text, LOOK_BROKEN },
    { "total an object", total_object, LOOK_BROKEN },
    { "total quoted", total_quoted, LOOK_BROKEN },
    { "total too low", total_low, LOOK_BROKEN },
    { "total too high", total_high, LOOK_BROKEN },
    { "total zero", total_zero, LOOK_BROKEN },
    { "total negative", total_negative, LOOK_BROKEN },
    { "error with 200", answer_is_error, LOOK_NO_LIST },
    { "message with 200", answer_is_message, LOOK_NO_LIST },
    { "answer empty", answer_is_empty, LOOK_NO_LIST },
    { "answer null", answer_is_null, LOOK_NO_LIST },
    { "answer wrapped", answer_wrapped, LOOK_NO_LIST },
    { "answer in a list", answer_in_a_list, LOOK_NO_LIST },
    { "data a list", data_is_a_list, LOOK_NO_LIST },
    { "namespace dropped", namespace_dropped, LOOK_NO_LIST },
    { "namespace changed", namespace_changed, LOOK_NO_LIST },
    { "namespace added", namespace_added, LOOK_NO_LIST },
    { "a member added", member_added, LOOK_BROKEN },
};
const size_t damage_kind_count = ARRAY_LEN(damage_kinds);

/* ---- what can be seen ---- */

static bool has_next(const struct shape *shape)
{
    return shape->paging == NEED_TOKEN || shape->paging == NEED_TOKEN_HEADER ||
           shape->paging == NEED_URL || shape->paging == NEED_LINK;
}

const char *damage_unseen(const struct shape *shape, const struct damage *damage)
{
    enum damage_look look = damage_kinds[damage->kind].look;

    /* Where has_more is true, the page after it is missed, unless a next leads there. */
    const bool stays_empty =
        damage->scope != DAMAGE_ONCE && (damage->last_hits > 0 || has_next(shape));

    if (shape->has_total || damage->list_hits == 0)
        return NULL;
    if (shape->paging == NEED_SINGLE && !shape->two_phases && !shape->is_wild &&
        damage_kinds[damage->kind].apply == list_to_first_item)
        return "where there are no pages, an object may be the only record";
    if (look == LOOK_NO_LIST && shape->is_xml && damage_kinds[damage->kind].apply == list_null)
        look = LOOK_EMPTY_XML;
    switch (look) {
    case LOOK_BROKEN:
        break;
    case LOOK_SHORTER:
        return "without a total a shorter page is a valid page";
    case LOOK_EMPTY:
        return stays_empty ? "without a total a page that stays empty is a valid page" : NULL;
    case LOOK_EMPTY_XML:
        return shape->is_xml && stays_empty
                   ? "a container of XML may have elements of several names beside records"
                   : NULL;
    case LOOK_NO_LIST:
        return shape->omits_empty_list && stays_empty
                   ? "the source says that a page without its list is empty"
                   : NULL;
    }
    return NULL;
}

/* A shorter page is an end only where nothing says that there are more. */
int64_t damage_unseen_max(const struct shape *shape, const struct damage *damage)
{
    const bool says_end = has_next(shape) || shape->has_more;

    return damage_kinds[damage->kind].look == LOOK_SHORTER && says_end ? damage->left_out
                                                                       : INT64_MAX;
}

unsigned damage_doubt_named(struct str name)
{
    return str_eq(name, STR("lost-next"))     ? DOUBT_NEXT
           : str_eq(name, STR("wrong-total")) ? DOUBT_TOTAL
           : str_eq(name, STR("repeats"))     ? DOUBT_REPEATS
                                              : 0;
}

unsigned damage_doubts(const struct shape *shape, const struct damage *damage)
{
    bool (*const apply)(const struct damage_input *) = damage_kinds[damage->kind].apply;

    /* The source says that a last page has no next, so a next that was lost is a last page. */
    if ((apply == next_removed || apply == next_renamed) && shape->end == END_ABSENT)
        return DOUBT_NEXT;
    /* By these an upstream says that a page is the last. */
    if (apply == next_null || apply == next_empty || apply == next_same)
        return DOUBT_NEXT;
    if (shape->has_total && (apply == total_low || apply == total_zero))
        return DOUBT_TOTAL;
    /* The total counts items; it does not say that they differ. */
    if (shape->has_total && (apply == item_twice || apply == list_twice))
        return DOUBT_REPEATS;
    return 0;
}

/* ---- when ---- */

const char *damage_scope_name(enum damage_scope scope)
{
    static const char *const names[] = { "once", "lasting", "one page" };

    return names[scope];
}

static int64_t count_items(const struct shape *shape, const struct answer *answer)
{
    const struct tree *list = list_of(shape, answer, 0);

    return list != NULL ? (int64_t)list->count : 0;
}

static bool is_due(const struct damage *damage, const struct answer *answer)
{
    if (damage->is_over || answer->number < damage->from)
        return false;
    if (damage->scope == DAMAGE_PAGE && damage->key[0] != '\0')
        return str_eq(answer->key, str_of(damage->key));
    return damage->scope != DAMAGE_ONCE || damage->hits == 0;
}

void damage_answer(void *context, struct arena *arena, struct answer *answer)
{
    struct damager *damager = context;
    struct damage *damage = &damager->damage;
    struct random random = { damage->seed }; /* a page is damaged the same way each time */
    const struct tree *more = tree_get(answer->root, "more");
    const bool says_more = more != NULL && str_eq(more->text, STR("true"));
    const int64_t items = count_items(damager->shape, answer);

    if (!is_due(damage, answer) || !damage_kinds[damage->kind].apply(&(struct damage_input){
                                       damager->shape, arena, &random, answer }))
        return;
    damage->hits++;
    damage->list_hits += !answer->is_detail;
    damage->last_hits += !answer->is_detail && !says_more;
    damage->left_out += damage_kinds[damage->kind].apply == item_twice
                            ? 1
                            : items - count_items(damager->shape, answer);
    if (damage->scope == DAMAGE_PAGE)
        (void)snprintf(damage->key, sizeof(damage->key), "%.*s", STR_ARG(answer->key));
}
