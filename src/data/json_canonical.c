/* The members of an object are sorted and written one by one; a member that is an object or array
 * is entered before its next sibling. Open containers are on one stack, members still to be written
 * on another, with those of the innermost object on top. */
#include "data/json_canonical.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/json_number.h"
#include "data/json_write.h"

struct member {
    struct str name; /* decoded */
    struct json_node value;
};

struct level {
    bool object;
    bool any;                /* something was written, a comma is due */
    size_t first, next, end; /* of an object: its members on the stack of members */
    struct json_iter it;     /* of an array */
};

struct canonical {
    struct arena *arena;
    const struct json_doc *doc;
    struct buf out;
    struct level *levels;
    size_t depth;
    size_t level_capacity;
    struct member *members;
    size_t member_count;
    size_t member_capacity;
};

int json_utf16_cmp(struct str a, struct str b)
{
    const size_t common = a.len < b.len ? a.len : b.len;
    size_t i = 0;
    unsigned char x, y;

    while (i < common && a.data[i] == b.data[i])
        i++;
    if (i == common)
        return (a.len > b.len) - (a.len < b.len);
    x = (unsigned char)a.data[i];
    y = (unsigned char)b.data[i];
    /* Bytes of UTF-8 sort like code points, and code points like UTF-16 except in one case: what
     * needs a surrogate pair (0xD800...) sorts before U+E000..U+FFFF. */
    if (x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0))
        return x >= 0xF0 ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Most objects are small, and many are sorted already: for those this is much faster than qsort. */
enum { INSERTION_MAX = 32 };

static int by_name(const void *a, const void *b)
{
    return json_utf16_cmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static void sort_members(struct member *members, size_t count)
{
    if (count > INSERTION_MAX) {
        qsort(members, count, sizeof(*members), by_name);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const struct member member = members[i];
        size_t k = i;

        for (; k > 0 && json_utf16_cmp(members[k - 1].name, member.name) > 0; k--)
            members[k] = members[k - 1];
        members[k] = member;
    }
}

static bool refuse(const struct canonical *c, struct json_node node, const char *why,
                   struct error *err)
{
    struct str raw = json_raw(c->doc, node);

    return error_set(err, ERROR_DATA, "json.canonical", "no canonical form: offset %u: %s: %.*s%s",
                     node.at, why, (int)(raw.len < 60 ? raw.len : 60), raw.data,
                     raw.len > 60 ? "..." : "");
}

static bool string_of(struct canonical *c, struct json_node node, struct str *value,
                      struct error *err)
{
    if (!json_string_is_whole(c->doc, node))
        return refuse(c, node, "half of a surrogate pair", err);
    return json_string(c->doc, node, c->arena, value, err);
}

/* Doubles a full array. Returns the items, which may have moved, or NULL. */
static void *grow(struct canonical *c, void *items, size_t size, size_t *capacity,
                  struct error *err)
{
    const size_t old = *capacity;

    *capacity = old > 0 ? 2 * old : 16;
    items = arena_grow(c->arena, items, old * size, *capacity * size);
    if (items == NULL)
        (void)arena_error(c->arena, err);
    return items;
}

/* A string without escapes is canonical as it is in the text, with its quotes; its value is then a
 * view of the text. */
static void add_string(struct canonical *c, struct str value)
{
    const struct str text = c->doc->text;

    if (value.data > text.data && value.data < text.data + text.len)
        buf_add(&c->out, (struct str){ value.data - 1, value.len + 2 });
    else
        json_quote(&c->out, value);
}

/* So is every integer of up to 15 digits, except -0. */
static bool is_plain_integer(struct str text)
{
    const size_t sign = text.data[0] == '-' ? 1 : 0;

    if (text.len > 15 || (text.data[sign] == '0' && text.len > 1))
        return false;
    for (size_t i = sign; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    }
    return true;
}

static bool add_number(struct canonical *c, struct json_node node, struct error *err)
{
    const struct str raw = json_raw(c->doc, node);
    char text[JSON_NUMBER_TEXT_MAX];
    double value;

    if (is_plain_integer(raw)) {
        buf_add(&c->out, raw);
        return true;
    }
    value = json_number_double(raw);
    if (!isfinite(value))
        return refuse(c, node, "larger than any double", err);
    buf_add(&c->out, (struct str){ text, json_number_format(value, text) });
    return true;
}

static bool add_member(struct canonical *c, struct member member, struct error *err)
{
    if (c->member_count == c->member_capacity)
        c->members = grow(c, c->members, sizeof(member), &c->member_capacity, err);
    if (c->members == NULL)
        return false;
    c->members[c->member_count++] = member;
    return true;
}

/* Puts the object's members on the stack, sorted. */
static bool take_members(struct canonical *c, struct json_node object, struct level *level,
                         struct error *err)
{
    struct json_iter it;

    level->first = level->next = c->member_count;
    for (it = json_each(c->doc, object); json_next(&it);) {
        struct member member = { .value = it.value };

        if (!string_of(c, it.name, &member.name, err) || !add_member(c, member, err))
            return false;
    }
    level->end = c->member_count;
    if (level->end == level->next)
        return true; /* {}: the stack of members may not exist yet */
    sort_members(c->members + level->next, level->end - level->next);
    for (size_t i = level->next + 1; i < level->end; i++) {
        if (str_eq(c->members[i - 1].name, c->members[i].name))
            return refuse(c, object, "a name occurs twice in the object", err);
    }
    return true;
}

static bool open_level(struct canonical *c, struct json_node node, struct error *err)
{
    struct level *level;

    if (c->depth == c->level_capacity)
        c->levels = grow(c, c->levels, sizeof(*level), &c->level_capacity, err);
    if (c->levels == NULL)
        return false;
    level = &c->levels[c->depth];
    *level = (struct level){ .object = json_type(c->doc, node) == JSON_OBJECT };
    if (level->object && !take_members(c, node, level, err))
        return false;
    level->it = json_each(c->doc, node);
    buf_add_char(&c->out, level->object ? '{' : '[');
    c->depth++;
    return true;
}

/* The next value of the innermost level, after writing its comma and name; false when there is
 * none. */
static bool next_value(struct canonical *c, struct level *level, struct json_node *value)
{
    if (level->object ? level->next == level->end : !json_next(&level->it))
        return false;
    if (level->any)
        buf_add_char(&c->out, ',');
    level->any = true;
    if (level->object) {
        add_string(c, c->members[level->next].name);
        buf_add_char(&c->out, ':');
        *value = c->members[level->next++].value;
    } else {
        *value = level->it.value;
    }
    return true;
}

/* A scalar is written, an object or array opened. */
static bool add_value(struct canonical *c, struct json_node node, struct error *err)
{
    struct str value = { 0 };

    switch (json_type(c->doc, node)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return open_level(c, node, err);
    case JSON_STRING:
        if (!string_of(c, node, &value, err))
            return false;
        add_string(c, value);
        return true;
    case JSON_NUMBER:
        return add_number(c, node, err);
    default:
        buf_add(&c->out, json_raw(c->doc, node));
        return true;
    }
}

bool json_canonical_node(struct arena *arena, const struct json_doc *doc, struct json_node node,
                         struct str *out, struct error *err)
{
    struct canonical c = { .arena = arena, .doc = doc };

    assert(json_exists(node));
    buf_init(&c.out, arena, SIZE_MAX);
    if (!add_value(&c, node, err))
        return false;
    while (c.depth > 0) {
        struct level *level = &c.levels[c.depth - 1];
        struct json_node value;

        if (next_value(&c, level, &value)) {
            if (!add_value(&c, value, err))
                return false;
            continue;
        }
        buf_add_char(&c.out, level->object ? '}' : ']');
        if (level->object)
            c.member_count = level->first;
        c.depth--;
    }
    *out = buf_str(&c.out);
    return buf_ok(&c.out, err);
}

bool json_canonical(struct arena *arena, const struct json_doc *doc, struct str *out,
                    struct error *err)
{
    return json_canonical_node(arena, doc, json_root(doc), out, err);
}

bool json_canonical_text(struct arena *arena, struct str text, struct str *out, struct error *err)
{
    struct json_doc doc;

    return json_parse(&doc, arena, text, err) && json_canonical(arena, &doc, out, err);
}

bool json_error_is_canonical(const struct error *err)
{
    return strcmp(err->code, "json.canonical") == 0;
}
