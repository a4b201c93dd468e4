/* event_compat: what a change of an event's schema breaks, and by which rule.
 *
 * A schema is compatible with an older one when two things hold:
 *
 *      consumers   who was written for the old one reads events made by the new one
 *      replay      who is written for the new one reads events made by the old one, which are
 *                  still in the stream, on a bus or in a dead letter
 *
 * Each change has one rule (event_compat_rules), which says what of these it breaks, and why.
 *
 * A schema is a set of messages with fields. In Protobuf a field is known by its number; where
 * numbers are 0 (the events of a source, in JSON), by its name. An enum is a message whose fields
 * are its values.
 */
#ifndef PATRA_CORE_EVENT_COMPAT_H
#define PATRA_CORE_EVENT_COMPAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

enum schema_shape { SHAPE_ONE, SHAPE_LIST, SHAPE_MAP };

struct schema_field {
    struct str name;
    int64_t number;  /* 0: it is known by its name */
    struct str type; /* empty: a value of an enum */
    enum schema_shape shape;
    struct str key_type; /* of a map */
    struct str oneof;    /* empty: none */
    bool is_required;
};

struct schema_field_list {
    struct schema_field *items;
    size_t count;
};

struct schema_reserved { /* a name, or numbers from `first` to `last` */
    struct str name;     /* empty: numbers */
    int64_t first;
    int64_t last;
};

struct schema_reserved_list {
    struct schema_reserved *items;
    size_t count;
};

struct schema_message {
    struct str name;
    bool is_enum;
    struct schema_field_list fields;
    struct schema_reserved_list reserved;
};

struct schema_message_list {
    struct schema_message *items;
    size_t count;
};

struct event_schema {
    struct str name; /* the package, or the source */
    struct schema_message_list messages;
};

#define EVENT_COMPAT_RULES(RULE)                                                                  \
    RULE(SCHEMA_RENAMED, "schema-renamed", true, true,                                            \
         "events have another origin: consumers do not expect them")                              \
    RULE(MESSAGE_ADDED, "message-added", false, false, "nobody expects it yet")                   \
    RULE(MESSAGE_REMOVED, "message-removed", true, true,                                          \
         "consumers get it no more, and stored events still have it")                             \
    RULE(KIND_CHANGED, "kind-changed", true, true, "a message is not an enum")                    \
    RULE(FIELD_ADDED, "field-added", false, false, "who does not know a field ignores it")        \
    RULE(REQUIRED_ADDED, "required-field-added", false, true, "stored events do not have it")     \
    RULE(FIELD_REMOVED, "field-removed", true, false, "consumers do not find it")                 \
    RULE(FIELD_RESERVED, "field-reserved", false, false,                                          \
         "it reads as its default, and its number and name are not used again")                   \
    RULE(FIELD_NOT_RESERVED, "field-not-reserved", true, true,                                    \
         "its number and name must be reserved, or they may come back with another meaning")      \
    RULE(RESERVED_USED, "reserved-used", true, true, "it had another meaning before")             \
    RULE(RESERVATION_DROPPED, "reservation-dropped", false, true,                                 \
         "it may now come back with another meaning")                                             \
    RULE(FIELD_RENAMED, "field-renamed", true, true,                                              \
         "the bytes are the same, but JSON and generated code know it by its name")               \
    RULE(NUMBER_CHANGED, "number-changed", true, true, "the bytes say its number, not its name")  \
    RULE(TYPE_CHANGED, "type-changed", true, true, "its values are read as something else")       \
    RULE(TYPE_WIDENED, "type-widened", true, false, "consumers do not expect the other values")   \
    RULE(TYPE_NARROWED, "type-narrowed", false, true, "stored events may have other values")      \
    RULE(TYPE_ALIKE, "type-alike", false, false, "events have the same values")                   \
    RULE(SHAPE_CHANGED, "shape-changed", true, true, "one value, a list and a map are different") \
    RULE(REQUIRED_DROPPED, "required-dropped", true, false, "consumers may not find it")          \
    RULE(REQUIRED_MADE, "required-made", false, true, "stored events may not have it")            \
    RULE(ONEOF_ENTERED, "oneof-entered", false, false, "it is alone in a new oneof")              \
    RULE(ONEOF_CHANGED, "oneof-changed", true, true,                                              \
         "a member of a oneof clears the others when it is read")                                 \
    RULE(VALUE_ADDED, "value-added", false, false,                                                \
         "an enum is open: who does not know a value keeps its number")

enum compat_rule_id {
#define COMPAT_ENUM(id, code, consumers, replay, reason) COMPAT_##id,
    EVENT_COMPAT_RULES(COMPAT_ENUM)
#undef COMPAT_ENUM
        COMPAT_RULE_COUNT
};

struct compat_rule {
    const char *code;
    bool breaks_consumers;
    bool breaks_replay;
    const char *reason;
};
extern const struct compat_rule event_compat_rules[COMPAT_RULE_COUNT];

struct compat_change {
    enum compat_rule_id rule;
    struct str message;
    struct str field;  /* empty: of the whole message */
    struct str detail; /* "int64 becomes string"; may be empty */
};

struct compat_change_list {
    struct compat_change *items; /* in the order of the schemas */
    size_t count;
};

/* Every difference, also those that break nothing. */
bool event_compat(struct arena *arena, const struct event_schema *old_one,
                  const struct event_schema *new_one, struct compat_change_list *changes,
                  struct error *err) MUST_CHECK;

static inline bool compat_rule_breaks(enum compat_rule_id id)
{
    return event_compat_rules[id].breaks_consumers || event_compat_rules[id].breaks_replay;
}

#endif
