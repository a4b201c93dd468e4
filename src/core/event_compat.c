/* Two schemas compared, field by field. */
#include "core/event_compat.h"

#include <inttypes.h>

#include "base/list.h"

const struct compat_rule event_compat_rules[COMPAT_RULE_COUNT] = {
#define COMPAT_ROW(id, code, consumers, replay, reason) { code, consumers, replay, reason },
    EVENT_COMPAT_RULES(COMPAT_ROW)
#undef COMPAT_ROW
};

struct comparing {
    struct arena *arena;
    struct compat_change_list *changes;
    const struct schema_message *old_one, *new_one; /* the message at hand */
};

static void add(struct comparing *c, enum compat_rule_id rule, struct str message, struct str field,
                struct str detail)
{
    struct compat_change *change = LIST_ADD(c->arena, c->changes);

    if (change != NULL)
        *change = (struct compat_change){ rule, message, field, detail };
}

static void add_field(struct comparing *c, enum compat_rule_id rule,
                      const struct schema_field *field, struct str detail)
{
    add(c, rule, c->old_one->name, field->name, detail);
}

/* ---- finding ---- */

static const struct schema_field *by_name(const struct schema_message *message, struct str name)
{
    for (size_t i = 0; i < message->fields.count; i++) {
        if (str_eq(message->fields.items[i].name, name))
            return &message->fields.items[i];
    }
    return NULL;
}

/* The same field of another message. */
static const struct schema_field *twin(const struct schema_message *message,
                                       const struct schema_field *field)
{
    const struct schema_field *same = by_name(message, field->name);

    if ((field->number == 0 && !message->is_enum) ||
        (same != NULL && same->number == field->number)) /* an enum may name a number twice */
        return same;
    for (size_t i = 0; i < message->fields.count; i++) {
        if (message->fields.items[i].number == field->number)
            return &message->fields.items[i];
    }
    return NULL;
}

static const struct schema_message *message_of(const struct event_schema *schema, struct str name)
{
    for (size_t i = 0; i < schema->messages.count; i++) {
        if (str_eq(schema->messages.items[i].name, name))
            return &schema->messages.items[i];
    }
    return NULL;
}

static bool reserves_numbers(const struct schema_message *message, int64_t first, int64_t last)
{
    for (size_t i = 0; i < message->reserved.count; i++) {
        const struct schema_reserved *range = &message->reserved.items[i];

        if (range->name.len == 0 && range->first <= first && last <= range->last)
            return true;
    }
    return false;
}

static bool reserves_name(const struct schema_message *message, struct str name)
{
    for (size_t i = 0; i < message->reserved.count; i++) {
        if (message->reserved.items[i].name.len > 0 &&
            str_eq(message->reserved.items[i].name, name))
            return true;
    }
    return false;
}

static size_t members_of(const struct schema_message *message, struct str oneof)
{
    size_t count = 0;

    for (size_t i = 0; i < message->fields.count; i++)
        count += str_eq(message->fields.items[i].oneof, oneof);
    return count;
}

/* ---- one field ---- */

static const char *shape_name(enum schema_shape shape)
{
    static const char *const names[] = { "one value", "a list", "a map" };

    return names[shape];
}

/* Of sources: which of two types has the values of the other and more (core/source_codes.h). */
static bool is_wider(struct str wide, struct str narrow)
{
    const bool is_any = str_eq(wide, STR("ANY")) || str_eq(wide, STR("JSON"));
    const bool is_text = str_eq(wide, STR("TEXT"));

    return is_any || (str_eq(wide, STR("NUMBER")) && str_eq(narrow, STR("INTEGER"))) ||
           (is_text && (str_eq(narrow, STR("INSTANT")) || str_eq(narrow, STR("DATE"))));
}

static enum compat_rule_id type_rule(const struct schema_field *from, const struct schema_field *to)
{
    const bool has_words = from->number == 0 && to->number == 0; /* a source's */
    const bool up = has_words && is_wider(to->type, from->type);
    const bool down = has_words && is_wider(from->type, to->type);

    if (up && down)
        return COMPAT_TYPE_ALIKE;
    return up ? COMPAT_TYPE_WIDENED : down ? COMPAT_TYPE_NARROWED : COMPAT_TYPE_CHANGED;
}

static void compare_type(struct comparing *c, const struct schema_field *from,
                         const struct schema_field *to)
{
    if (from->shape != to->shape)
        add_field(c, COMPAT_SHAPE_CHANGED, from,
                  arena_printf(c->arena, "%s becomes %s", shape_name(from->shape),
                               shape_name(to->shape)));
    if (!str_eq(from->type, to->type))
        add_field(
            c, type_rule(from, to), from,
            arena_printf(c->arena, "%.*s becomes %.*s", STR_ARG(from->type), STR_ARG(to->type)));
    else if (!str_eq(from->key_type, to->key_type) && from->shape == to->shape)
        add_field(c, COMPAT_TYPE_CHANGED, from,
                  arena_printf(c->arena, "keys: %.*s becomes %.*s", STR_ARG(from->key_type),
                               STR_ARG(to->key_type)));
}

static void compare_oneof(struct comparing *c, const struct schema_field *from,
                          const struct schema_field *to)
{
    const bool is_alone = from->oneof.len == 0 && members_of(c->new_one, to->oneof) == 1;

    if (str_eq(from->oneof, to->oneof))
        return;
    add_field(c, is_alone ? COMPAT_ONEOF_ENTERED : COMPAT_ONEOF_CHANGED, from,
              to->oneof.len > 0 ? arena_printf(c->arena, "now in %.*s", STR_ARG(to->oneof))
                                : arena_printf(c->arena, "no more in %.*s", STR_ARG(from->oneof)));
}

static void compare_field(struct comparing *c, const struct schema_field *from,
                          const struct schema_field *to)
{
    if (!str_eq(from->name, to->name))
        add_field(c, COMPAT_FIELD_RENAMED, from,
                  arena_printf(c->arena, "now %.*s", STR_ARG(to->name)));
    compare_type(c, from, to);
    compare_oneof(c, from, to);
    if (from->is_required != to->is_required)
        add_field(c, from->is_required ? COMPAT_REQUIRED_DROPPED : COMPAT_REQUIRED_MADE, from,
                  (struct str){ 0 });
}

static void field_gone(struct comparing *c, const struct schema_field *from)
{
    const struct schema_field *moved = by_name(c->new_one, from->name);

    if (moved != NULL)
        add_field(
            c, COMPAT_NUMBER_CHANGED, from,
            arena_printf(c->arena, "%" PRId64 " becomes %" PRId64, from->number, moved->number));
    else if (from->number == 0 && !c->old_one->is_enum)
        add_field(c, COMPAT_FIELD_REMOVED, from, STR("removed"));
    else if (reserves_numbers(c->new_one, from->number, from->number) &&
             reserves_name(c->new_one, from->name))
        add_field(c, COMPAT_FIELD_RESERVED, from, STR("removed"));
    else
        add_field(c, COMPAT_FIELD_NOT_RESERVED, from, STR("removed"));
}

static void field_new(struct comparing *c, const struct schema_field *to)
{
    const bool has_number = to->number != 0 || c->new_one->is_enum;

    if (by_name(c->old_one, to->name) != NULL)
        return; /* its number changed: reported with the old one */
    if ((has_number && reserves_numbers(c->old_one, to->number, to->number)) ||
        reserves_name(c->old_one, to->name))
        add_field(c, COMPAT_RESERVED_USED, to, STR("added"));
    else if (c->new_one->is_enum)
        add_field(c, COMPAT_VALUE_ADDED, to, STR("added"));
    else
        add_field(c, to->is_required ? COMPAT_REQUIRED_ADDED : COMPAT_FIELD_ADDED, to,
                  STR("added"));
}

/* ---- one message ---- */

static bool is_used(const struct schema_message *message, const struct schema_reserved *reserved)
{
    if (reserved->name.len > 0)
        return by_name(message, reserved->name) != NULL;
    for (size_t i = 0; i < message->fields.count; i++) {
        if (message->fields.items[i].number >= reserved->first &&
            message->fields.items[i].number <= reserved->last)
            return true; /* reported with that field */
    }
    return false;
}

static void compare_reserved(struct comparing *c)
{
    for (size_t i = 0; i < c->old_one->reserved.count; i++) {
        const struct schema_reserved *reserved = &c->old_one->reserved.items[i];
        const bool is_kept = reserved->name.len > 0
                                 ? reserves_name(c->new_one, reserved->name)
                                 : reserves_numbers(c->new_one, reserved->first, reserved->last);

        if (is_kept || is_used(c->new_one, reserved))
            continue;
        add(c, COMPAT_RESERVATION_DROPPED, c->old_one->name, reserved->name,
            reserved->name.len > 0 ? STR("")
                                   : arena_printf(c->arena, "%" PRId64 " to %" PRId64,
                                                  reserved->first, reserved->last));
    }
}

static void compare_message(struct comparing *c)
{
    if (c->old_one->is_enum != c->new_one->is_enum) {
        add(c, COMPAT_KIND_CHANGED, c->old_one->name, (struct str){ 0 }, (struct str){ 0 });
        return;
    }
    for (size_t i = 0; i < c->old_one->fields.count; i++) {
        const struct schema_field *from = &c->old_one->fields.items[i];
        const struct schema_field *to = twin(c->new_one, from);

        if (to != NULL)
            compare_field(c, from, to);
        else
            field_gone(c, from);
    }
    for (size_t i = 0; i < c->new_one->fields.count; i++) {
        if (twin(c->old_one, &c->new_one->fields.items[i]) == NULL)
            field_new(c, &c->new_one->fields.items[i]);
    }
    compare_reserved(c);
}

/* ---- the whole ---- */

bool event_compat(struct arena *arena, const struct event_schema *old_one,
                  const struct event_schema *new_one, struct compat_change_list *changes,
                  struct error *err)
{
    struct comparing c = { .arena = arena, .changes = changes };

    *changes = (struct compat_change_list){ 0 };
    if (!str_eq(old_one->name, new_one->name))
        add(&c, COMPAT_SCHEMA_RENAMED, old_one->name, (struct str){ 0 },
            arena_printf(arena, "now %.*s", STR_ARG(new_one->name)));
    for (size_t i = 0; i < old_one->messages.count && !arena->failed; i++) {
        c.old_one = &old_one->messages.items[i];
        c.new_one = message_of(new_one, c.old_one->name);
        if (c.new_one == NULL)
            add(&c, COMPAT_MESSAGE_REMOVED, c.old_one->name, (struct str){ 0 }, STR("removed"));
        else
            compare_message(&c);
    }
    for (size_t i = 0; i < new_one->messages.count && !arena->failed; i++) {
        if (message_of(old_one, new_one->messages.items[i].name) == NULL)
            add(&c, COMPAT_MESSAGE_ADDED, new_one->messages.items[i].name, (struct str){ 0 },
                STR("added"));
    }
    return !arena->failed || arena_error(arena, err);
}
