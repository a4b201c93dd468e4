/* Tests: what a change of a schema breaks. One message M, before and after. */
#include "core/event_compat.h"

#include "test.h"

#define NO_FIELD    \
    {               \
        .number = 0 \
    }
enum { FIELDS = 3, RULES = 3 };

#define FIELD(number, name, type)                                              \
    {                                                                          \
        STR_INIT(name), number, STR_INIT(type), SHAPE_ONE, { 0 }, { 0 }, false \
    }
#define LIST_OF(number, name, type)                                             \
    {                                                                           \
        STR_INIT(name), number, STR_INIT(type), SHAPE_LIST, { 0 }, { 0 }, false \
    }
#define MAP_OF(number, name, key, type)                                                \
    {                                                                                  \
        STR_INIT(name), number, STR_INIT(type), SHAPE_MAP, STR_INIT(key), { 0 }, false \
    }
#define IN(number, name, type, oneof)                                                    \
    {                                                                                    \
        STR_INIT(name), number, STR_INIT(type), SHAPE_ONE, { 0 }, STR_INIT(oneof), false \
    }
#define REQUIRED(number, name, type)                                          \
    {                                                                         \
        STR_INIT(name), number, STR_INIT(type), SHAPE_ONE, { 0 }, { 0 }, true \
    }
#define NUMBERS(first, last) \
    {                        \
        { 0 }, first, last   \
    }
#define NAME(name)           \
    {                        \
        STR_INIT(name), 0, 0 \
    }

static const struct {
    const char *label;
    struct schema_field before[FIELDS], after[FIELDS];
    struct schema_reserved kept_before[2], kept_after[2];
    enum compat_rule_id rules[RULES];
    size_t rule_count;
} cases[] = {
    { "the same", { FIELD(1, "a", "int64") }, { FIELD(1, "a", "int64") }, .rule_count = 0 },
    { "in another order",
      { FIELD(1, "a", "int64"), FIELD(2, "b", "string") },
      { FIELD(2, "b", "string"), FIELD(1, "a", "int64") },
      .rule_count = 0 },
    { "added",
      { FIELD(1, "a", "int64") },
      { FIELD(1, "a", "int64"), FIELD(2, "b", "string") },
      .rules = { COMPAT_FIELD_ADDED },
      .rule_count = 1 },
    { "removed, not reserved",
      { FIELD(1, "a", "int64") },
      { NO_FIELD },
      .rules = { COMPAT_FIELD_NOT_RESERVED },
      .rule_count = 1 },
    { "removed, its number reserved",
      { FIELD(1, "a", "int64") },
      { NO_FIELD },
      .kept_after = { NUMBERS(1, 5) },
      .rules = { COMPAT_FIELD_NOT_RESERVED },
      .rule_count = 1 },
    { "removed, both reserved",
      { FIELD(1, "a", "int64") },
      { NO_FIELD },
      .kept_after = { NUMBERS(1, 1), NAME("a") },
      .rules = { COMPAT_FIELD_RESERVED },
      .rule_count = 1 },
    { "a reserved number is used",
      { NO_FIELD },
      { FIELD(4, "a", "int64") },
      .kept_before = { NUMBERS(2, 5) },
      .rules = { COMPAT_RESERVED_USED },
      .rule_count = 1 },
    { "a reserved name is used",
      { NO_FIELD },
      { FIELD(4, "a", "int64") },
      .kept_before = { NAME("a") },
      .rules = { COMPAT_RESERVED_USED },
      .rule_count = 1 },
    { "reservations are dropped",
      { NO_FIELD },
      { NO_FIELD },
      .kept_before = { NUMBERS(2, 5), NAME("x") },
      .rules = { COMPAT_RESERVATION_DROPPED, COMPAT_RESERVATION_DROPPED },
      .rule_count = 2 },
    { "a reservation grows",
      { NO_FIELD },
      { NO_FIELD },
      .kept_before = { NUMBERS(2, 5) },
      .kept_after = { NUMBERS(1, 9) },
      .rule_count = 0 },
    { "renamed",
      { FIELD(1, "a", "int64") },
      { FIELD(1, "b", "int64") },
      .rules = { COMPAT_FIELD_RENAMED },
      .rule_count = 1 },
    { "another number",
      { FIELD(1, "a", "int64") },
      { FIELD(2, "a", "int64") },
      .rules = { COMPAT_NUMBER_CHANGED },
      .rule_count = 1 },
    { "another type, of the same bytes",
      { FIELD(1, "a", "int32") },
      { FIELD(1, "a", "int64") },
      .rules = { COMPAT_TYPE_CHANGED },
      .rule_count = 1 },
    { "a list",
      { FIELD(1, "a", "int32") },
      { LIST_OF(1, "a", "int32") },
      .rules = { COMPAT_SHAPE_CHANGED },
      .rule_count = 1 },
    { "a map",
      { LIST_OF(1, "a", "string") },
      { MAP_OF(1, "a", "string", "string") },
      .rules = { COMPAT_SHAPE_CHANGED },
      .rule_count = 1 },
    { "other keys",
      { MAP_OF(1, "a", "int32", "string") },
      { MAP_OF(1, "a", "string", "string") },
      .rules = { COMPAT_TYPE_CHANGED },
      .rule_count = 1 },
    { "alone in a oneof",
      { FIELD(1, "a", "int32") },
      { IN(1, "a", "int32", "o") },
      .rules = { COMPAT_ONEOF_ENTERED },
      .rule_count = 1 },
    { "two in a oneof",
      { FIELD(1, "a", "int32"), FIELD(2, "b", "int32") },
      { IN(1, "a", "int32", "o"), IN(2, "b", "int32", "o") },
      .rules = { COMPAT_ONEOF_CHANGED, COMPAT_ONEOF_CHANGED },
      .rule_count = 2 },
    { "out of a oneof",
      { IN(1, "a", "int32", "o") },
      { FIELD(1, "a", "int32") },
      .rules = { COMPAT_ONEOF_CHANGED },
      .rule_count = 1 },
    { "a source: added",
      { FIELD(0, "a", "TEXT") },
      { FIELD(0, "a", "TEXT"), FIELD(0, "b", "ANY") },
      .rules = { COMPAT_FIELD_ADDED },
      .rule_count = 1 },
    { "a source: required and added",
      { FIELD(0, "a", "TEXT") },
      { FIELD(0, "a", "TEXT"), REQUIRED(0, "b", "ANY") },
      .rules = { COMPAT_REQUIRED_ADDED },
      .rule_count = 1 },
    { "a source: removed",
      { FIELD(0, "a", "TEXT") },
      { NO_FIELD },
      .rules = { COMPAT_FIELD_REMOVED },
      .rule_count = 1 },
    { "a source: renamed",
      { FIELD(0, "a", "TEXT") },
      { FIELD(0, "b", "TEXT") },
      .rules = { COMPAT_FIELD_REMOVED, COMPAT_FIELD_ADDED },
      .rule_count = 2 },
    { "a source: a list becomes its first",
      { LIST_OF(0, "a", "TEXT") },
      { FIELD(0, "a", "TEXT") },
      .rules = { COMPAT_SHAPE_CHANGED },
      .rule_count = 1 },
    { "a source: another type",
      { FIELD(0, "a", "INTEGER") },
      { FIELD(0, "a", "TEXT") },
      .rules = { COMPAT_TYPE_CHANGED },
      .rule_count = 1 },
    { "a source: whole numbers become numbers",
      { FIELD(0, "a", "INTEGER") },
      { FIELD(0, "a", "NUMBER") },
      .rules = { COMPAT_TYPE_WIDENED },
      .rule_count = 1 },
    { "a source: and back",
      { FIELD(0, "a", "NUMBER") },
      { FIELD(0, "a", "INTEGER") },
      .rules = { COMPAT_TYPE_NARROWED },
      .rule_count = 1 },
    { "a source: a type at last",
      { FIELD(0, "a", "ANY") },
      { FIELD(0, "a", "INTEGER") },
      .rules = { COMPAT_TYPE_NARROWED },
      .rule_count = 1 },
    { "a source: an instant is a text",
      { FIELD(0, "a", "INSTANT") },
      { FIELD(0, "a", "TEXT") },
      .rules = { COMPAT_TYPE_WIDENED },
      .rule_count = 1 },
    { "a source: as found is JSON",
      { FIELD(0, "a", "ANY") },
      { FIELD(0, "a", "JSON") },
      .rules = { COMPAT_TYPE_ALIKE },
      .rule_count = 1 },
    { "a source: required no more",
      { REQUIRED(0, "a", "TEXT") },
      { FIELD(0, "a", "TEXT") },
      .rules = { COMPAT_REQUIRED_DROPPED },
      .rule_count = 1 },
    { "a source: required from now on",
      { FIELD(0, "a", "TEXT") },
      { REQUIRED(0, "a", "TEXT") },
      .rules = { COMPAT_REQUIRED_MADE },
      .rule_count = 1 },
};

static struct arena arena;

static struct schema_message message_of(const struct schema_field *fields,
                                        const struct schema_reserved *reserved)
{
    struct schema_message message = { .name = STR("M"),
                                      .fields = { (struct schema_field *)fields, 0 },
                                      .reserved = { (struct schema_reserved *)reserved, 0 } };

    while (message.fields.count < FIELDS && fields[message.fields.count].name.len > 0)
        message.fields.count++;
    while (message.reserved.count < 2 && (reserved[message.reserved.count].name.len > 0 ||
                                          reserved[message.reserved.count].last > 0))
        message.reserved.count++;
    return message;
}

static struct compat_change_list compared(struct schema_message *before,
                                          struct schema_message *after)
{
    const struct event_schema old_one = { STR("p"), { before, before != NULL } };
    const struct event_schema new_one = { STR("p"), { after, after != NULL } };
    struct compat_change_list changes;
    struct error err = { 0 };

    REQUIRE_OK(event_compat(&arena, &old_one, &new_one, &changes, &err), err);
    return changes;
}

TEST(each_change_has_its_rule)
{
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct schema_message before = message_of(cases[i].before, cases[i].kept_before);
        struct schema_message after = message_of(cases[i].after, cases[i].kept_after);
        const struct compat_change_list changes = compared(&before, &after);

        CHECK_EQ(changes.count, cases[i].rule_count, cases[i].label);
        for (size_t k = 0; k < changes.count && k < cases[i].rule_count; k++)
            CHECK_STR(str_of(event_compat_rules[changes.items[k].rule].code),
                      str_of(event_compat_rules[cases[i].rules[k]].code), cases[i].label);
    }
    arena_release(&arena);
}

TEST(messages_and_enums_are_compared_too)
{
    struct schema_field values[] = { FIELD(0, "NONE", ""), FIELD(1, "ONE", "") };
    struct schema_field alias[] = { FIELD(0, "NONE", ""), FIELD(0, "ZERO", "") };
    struct schema_message message = { .name = STR("M") };
    struct schema_message one = { .name = STR("M"), .is_enum = true, .fields = { values, 1 } };
    struct schema_message two = { .name = STR("M"), .is_enum = true, .fields = { values, 2 } };
    struct schema_message twice = { .name = STR("M"), .is_enum = true, .fields = { alias, 2 } };
    struct compat_change_list changes;

    arena_init(&arena, 1 << 20);
    CHECK_EQ(compared(NULL, &message).items[0].rule, COMPAT_MESSAGE_ADDED, "added");
    CHECK_EQ(compared(&message, NULL).items[0].rule, COMPAT_MESSAGE_REMOVED, "removed");
    CHECK_EQ(compared(&message, &one).items[0].rule, COMPAT_KIND_CHANGED, "another kind");
    changes = compared(&one, &two);
    CHECK_EQ(changes.count, 1, "a value more");
    CHECK_EQ(changes.items[0].rule, COMPAT_VALUE_ADDED, "a value more");
    CHECK_EQ(compared(&two, &one).items[0].rule, COMPAT_FIELD_NOT_RESERVED, "a value less");
    CHECK_EQ(compared(&twice, &twice).count, 0, "a number with two names");
    arena_release(&arena);
}

/* Additions may not break, removals and changes must. */
TEST(rules_break_what_they_say)
{
    CHECK(!compat_rule_breaks(COMPAT_FIELD_ADDED), "added");
    CHECK(!compat_rule_breaks(COMPAT_FIELD_RESERVED), "reserved");
    CHECK(!compat_rule_breaks(COMPAT_VALUE_ADDED), "a value");
    CHECK(compat_rule_breaks(COMPAT_TYPE_CHANGED), "type");
    CHECK(!event_compat_rules[COMPAT_REQUIRED_MADE].breaks_consumers, "consumers get more");
    CHECK(event_compat_rules[COMPAT_REQUIRED_MADE].breaks_replay, "old events have less");
    CHECK(event_compat_rules[COMPAT_FIELD_REMOVED].breaks_consumers, "removed");
    CHECK(!event_compat_rules[COMPAT_FIELD_REMOVED].breaks_replay, "who does not know it");
}
