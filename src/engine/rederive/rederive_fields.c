/* Fields before and after: which differ, how often, and a few examples. */
#include "base/list.h"
#include "data/json.h"
#include "data/utf8.h"
#include "engine/rederive/rederive_internal.h"

static struct rederive_field *field_of(struct rederiving *r, struct str name)
{
    struct rederive_field_list *fields = &r->result->fields;
    struct rederive_field *field;

    for (size_t i = 0; i < fields->count; i++) {
        if (str_eq(fields->items[i].name, name))
            return &fields->items[i];
    }
    field = LIST_ADD(r->arena, fields);
    if (field != NULL)
        field->name = arena_copy(r->arena, name);
    return field;
}

/* Cut at the end of a character. */
static struct str sample(struct arena *arena, struct str text)
{
    size_t len = text.len < REDERIVE_SAMPLE_MAX ? text.len : REDERIVE_SAMPLE_MAX;

    while (len > 0 && len < text.len && ((unsigned char)text.data[len] & 0xC0) == 0x80)
        len--;
    return arena_copy(arena, str_slice(text, 0, len));
}

bool rederive_note(struct rederiving *r, const struct rederive_difference *difference,
                   struct error *err)
{
    struct rederive_field *field = field_of(r, difference->name);

    if (field == NULL)
        return arena_error(r->arena, err);
    field->changed++;
    if (field->example_count < REDERIVE_EXAMPLES)
        field->examples[field->example_count++] =
            (struct rederive_example){ .id = arena_copy(r->arena, difference->id),
                                       .from = sample(r->arena, difference->from),
                                       .to = sample(r->arena, difference->to) };
    return !r->arena->failed || arena_error(r->arena, err);
}

static struct str member_of(const struct json_doc *doc, struct str name)
{
    const struct json_node node = json_get(doc, json_root(doc), name);

    return json_exists(node) ? json_raw(doc, node) : STR("");
}

/* Members of `a` that `b` has otherwise, or (is_reverse) members of `a` that `b` lacks. */
static bool compare_members(struct rederiving *r, struct str id, const struct json_doc *a,
                            const struct json_doc *b, bool is_reverse, bool *differ,
                            struct error *err)
{
    struct json_iter it;

    for (it = json_each(a, json_root(a)); json_next(&it);) {
        struct rederive_difference difference = { .id = id };
        struct str other;

        if (!json_string(a, it.name, &r->page, &difference.name, err))
            return false;
        other = member_of(b, difference.name);
        if (is_reverse ? other.len > 0 : str_eq(json_raw(a, it.value), other))
            continue;
        difference.from = is_reverse ? STR("") : json_raw(a, it.value);
        difference.to = is_reverse ? json_raw(a, it.value) : other;
        *differ = true;
        if (!rederive_note(r, &difference, err))
            return false;
    }
    return true;
}

bool rederive_compare(struct rederiving *r, struct str id, struct str from, struct str to,
                      bool *differ, struct error *err)
{
    struct json_doc before, after;

    if (str_eq(from, to))
        return true;
    return json_parse(&before, &r->page, from.len > 0 ? from : STR("{}"), err) &&
           json_parse(&after, &r->page, to.len > 0 ? to : STR("{}"), err) &&
           compare_members(r, id, &before, &after, false, differ, err) &&
           compare_members(r, id, &after, &before, true, differ, err);
}
