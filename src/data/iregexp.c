/* The compiler writes states as it reads. A quantifier or an alternative, which acts on what is
 * before it, moves the states of that part up and writes in front of them:
 *
 *      x       x*                      x|y
 *      --      split 1, after          split 1, y
 *      x       x                       x
 *              jump split              jump after
 *                                      y
 */
#include "data/iregexp.h"

#include <assert.h>
#include <string.h>

#include "data/iregexp_program.h"
#include "data/unicode.h"
#include "data/utf8.h"

struct compiler {
    struct arena *arena;
    struct str pattern;
    const char *at;
    const char *end;
    unsigned nest;
    size_t state_capacity;
    size_t class_count, class_capacity;
    size_t item_count, item_capacity;
    struct iregexp *re;
    struct error *err;
};

static bool read_alternatives(struct compiler *c);

static bool fault(struct compiler *c, const char *at, const char *what)
{
    return error_set(c->err, ERROR_REQUEST, "iregexp.syntax",
                     "pattern '%.*s': offset %zu: %s (RFC 9485)", STR_ARG(c->pattern),
                     (size_t)(at - c->pattern.data), what);
}

static bool limit(struct compiler *c)
{
    return error_set(
        c->err, ERROR_REQUEST, "iregexp.limit",
        "pattern '%.*s': it needs more than %d states or class items, or %d nested groups",
        STR_ARG(c->pattern), IREGEXP_STATES_MAX, IREGEXP_NEST_MAX);
}

struct room { /* for `more` items of this size, after `count` of them */
    size_t count;
    size_t more;
    size_t size;
};

/* Makes room. Returns the items, which may have moved, or NULL. */
static void *reserve(struct compiler *c, void *items, struct room room, size_t *capacity)
{
    const size_t old = *capacity, wanted = room.count + room.more;

    if (wanted <= old)
        return items;
    *capacity = old * 2 > wanted ? old * 2 : wanted + 8;
    items = arena_grow(c->arena, items, old * room.size, *capacity * room.size);
    if (items == NULL)
        (void)arena_error(c->arena, c->err);
    return items;
}

/* Makes room for `count` states in front of those from `first` on. */
static bool insert(struct compiler *c, size_t first, size_t count)
{
    struct iregexp *re = c->re;

    if (re->count + count > IREGEXP_STATES_MAX)
        return limit(c);
    re->states = reserve(c, re->states, (struct room){ re->count, count, sizeof(struct state) },
                         &c->state_capacity);
    if (re->states == NULL)
        return false;
    memmove(re->states + first + count, re->states + first,
            (re->count - first) * sizeof(struct state));
    re->count += count;
    return true;
}

static bool append(struct compiler *c, struct state state)
{
    if (!insert(c, c->re->count, 1))
        return false;
    c->re->states[c->re->count - 1] = state;
    return true;
}

/* ---- classes ---- */

static bool add_item(struct compiler *c, struct class_item item)
{
    if (c->item_count == IREGEXP_STATES_MAX)
        return limit(c);
    c->re->items = reserve(c, c->re->items, (struct room){ c->item_count, 1, sizeof(item) },
                           &c->item_capacity);
    if (c->re->items == NULL)
        return false;
    c->re->items[c->item_count++] = item;
    return true;
}

/* A class of the items added since `first`, as a state. */
static bool add_class(struct compiler *c, size_t first, bool negated)
{
    c->re->classes =
        reserve(c, c->re->classes, (struct room){ c->class_count, 1, sizeof(struct class) },
                &c->class_capacity);
    if (c->re->classes == NULL)
        return false;
    c->re->classes[c->class_count++] =
        (struct class){ .first = first, .count = c->item_count - first, .negated = negated };
    return append(c, (struct state){ STATE_CLASS, (int32_t)(c->class_count - 1), 0 });
}

/* After "\p" or "\P": {Lu}. */
static bool read_category(struct compiler *c, struct class_item *item)
{
    const char *const start = c->at;
    const char *close;

    *item = (struct class_item){ .outside = c->at[-1] == 'P' };
    close = c->at < c->end ? memchr(c->at, '}', (size_t)(c->end - c->at)) : NULL;
    if (close == NULL || *c->at != '{')
        return fault(c, start, "expected a category, as in \\p{Lu}");
    c->at = close + 1;
    if (!unicode_categories((struct str){ start + 1, (size_t)(close - start - 1) },
                            &item->categories) ||
        item->categories == UINT32_C(1) << UNICODE_CS)
        return fault(c, start, "unknown category; use L, Lu, Nd or another of Unicode");
    return true;
}

/* After a backslash: one character. */
static bool read_escape(struct compiler *c, uint32_t *point)
{
    static const char plain[] = "()*+-.?[\\]^{|}";

    if (c->at == c->end)
        return fault(c, c->at, "expected a character after \\");
    if (*c->at == 'n' || *c->at == 'r' || *c->at == 't')
        *point = *c->at == 'n' ? '\n' : *c->at == 'r' ? '\r' : '\t';
    else if (*c->at != '\0' && strchr(plain, *c->at) != NULL)
        *point = (unsigned char)*c->at;
    else
        return fault(c, c->at - 1, "unknown escape; \\d, \\w, \\s and \\b are not I-Regexp");
    c->at++;
    return true;
}

/* One character of a class, escaped or not. */
static bool read_class_char(struct compiler *c, uint32_t *point)
{
    if (c->at == c->end)
        return fault(c, c->at, "expected ] at the end of the class");
    if (*c->at == '\\') {
        c->at++;
        return read_escape(c, point);
    }
    if (*c->at == '[' || *c->at == ']' || *c->at == '-')
        return fault(c, c->at, "[ ] and - must be escaped in the middle of a class");
    *point = utf8_next(&c->at, c->end);
    return true;
}

static bool is_at(const struct compiler *c, struct str text)
{
    return str_starts((struct str){ c->at, (size_t)(c->end - c->at) }, text);
}

/* One element of a class: \p{..}, a, or a-z. */
static bool read_class_item(struct compiler *c)
{
    struct class_item item = { 0 };

    if (is_at(c, STR("\\p")) || is_at(c, STR("\\P"))) {
        c->at += 2;
        return read_category(c, &item) && add_item(c, item);
    }
    if (!read_class_char(c, &item.low))
        return false;
    item.high = item.low;
    if (is_at(c, STR("-")) && !is_at(c, STR("-]"))) {
        c->at++;
        if (!read_class_char(c, &item.high))
            return false;
        if (item.high < item.low)
            return fault(c, c->at, "the end of the range is less than its start");
    }
    return add_item(c, item);
}

/* After "[". */
static bool read_class(struct compiler *c)
{
    const size_t first = c->item_count;
    const bool negated = is_at(c, STR("^"));

    c->at += negated ? 1 : 0;
    if (is_at(c, STR("-"))) { /* literal at the start */
        c->at++;
        if (!add_item(c, (struct class_item){ .low = '-', .high = '-' }))
            return false;
    } else if (!read_class_item(c)) {
        return false;
    }
    while (!is_at(c, STR("]"))) {
        if (is_at(c, STR("-]"))) {
            c->at++;
            if (!add_item(c, (struct class_item){ .low = '-', .high = '-' }))
                return false;
        } else if (!read_class_item(c)) {
            return false;
        }
    }
    c->at++;
    return add_class(c, first, negated);
}

/* ---- pieces ---- */

static bool read_group(struct compiler *c)
{
    if (++c->nest > IREGEXP_NEST_MAX)
        return limit(c);
    if (!read_alternatives(c))
        return false;
    if (c->at == c->end)
        return fault(c, c->at, "expected )");
    c->at++;
    c->nest--;
    return true;
}

static bool read_atom(struct compiler *c)
{
    const char *const start = c->at;
    uint32_t point = utf8_next(&c->at, c->end);
    struct class_item item;

    switch (point) {
    case '(':
        return read_group(c);
    case '[':
        return read_class(c);
    case '.':
        return append(c, (struct state){ STATE_ANY, 0, 0 });
    case '\\':
        if (is_at(c, STR("p")) || is_at(c, STR("P"))) {
            const size_t first = c->item_count;

            c->at++;
            return read_category(c, &item) && add_item(c, item) && add_class(c, first, false);
        }
        if (!read_escape(c, &point))
            return false;
        break;
    case '^':
        return append(c, (struct state){ STATE_FIRST, 0, 0 });
    case '$':
        return append(c, (struct state){ STATE_LAST, 0, 0 });
    case '*':
    case '+':
    case '?':
    case '{':
        return fault(c, start, "nothing to repeat");
    case ']':
    case '}':
        return fault(c, start, "must be escaped with \\");
    default:
        break;
    }
    return append(c, (struct state){ STATE_CHAR, (int32_t)point, 0 });
}

/* Copies the states [first, first + count) to the end. */
static bool copy(struct compiler *c, size_t first, size_t count)
{
    const size_t to = c->re->count;

    if (!insert(c, to, count))
        return false;
    memmove(c->re->states + to, c->re->states + first, count * sizeof(struct state));
    return true;
}

/* x? of the states from `first` on. */
static bool make_optional(struct compiler *c, size_t first)
{
    if (!insert(c, first, 1))
        return false;
    c->re->states[first] = (struct state){ STATE_SPLIT, 1, (int32_t)(c->re->count - first) };
    return true;
}

/* x* of them. */
static bool make_star(struct compiler *c, size_t first)
{
    if (!make_optional(c, first))
        return false;
    if (!append(c, (struct state){ STATE_JUMP, -(int32_t)(c->re->count - first), 0 }))
        return false;
    c->re->states[first].b++;
    return true;
}

static bool read_count(struct compiler *c, uint32_t *count)
{
    const char *const start = c->at;

    *count = 0;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        if (*count <= IREGEXP_STATES_MAX)
            *count = *count * 10 + (uint32_t)(*c->at - '0');
        c->at++;
    }
    return c->at > start || fault(c, start, "expected a number");
}

struct repeat {
    uint32_t least, most;
    bool endless;
};

/* After "{": n} or n,} or n,m}. */
static bool read_range(struct compiler *c, struct repeat *r)
{
    const char *const start = c->at;

    if (!read_count(c, &r->least))
        return false;
    r->most = r->least;
    r->endless = false;
    if (is_at(c, STR(","))) {
        c->at++;
        r->endless = is_at(c, STR("}"));
        if (!r->endless && !read_count(c, &r->most))
            return false;
    }
    if (!is_at(c, STR("}")))
        return fault(c, c->at, "expected }");
    c->at++;
    if (!r->endless && r->most < r->least)
        return fault(c, start, "the end of the range is less than its start");
    return true;
}

/* (most - least) more copies of the states [first, first + count), each of them optional. */
static bool repeat_optional(struct compiler *c, size_t first, size_t count, uint32_t more)
{
    for (uint32_t i = 0; i < more; i++) {
        const size_t last = c->re->count;

        if (!copy(c, first, count) || !make_optional(c, last))
            return false;
    }
    return true;
}

/* Replaces the piece from `first` on by its repetition. */
static bool repeat(struct compiler *c, size_t first, struct repeat r)
{
    const size_t count = c->re->count - first;

    if (count == 0)
        return true; /* nothing repeated is nothing */
    if (r.least > IREGEXP_STATES_MAX || r.most > IREGEXP_STATES_MAX)
        return limit(c);
    if (r.least == 0 && r.endless)
        return make_star(c, first);
    if (r.least == 0 && r.most == 0) {
        c->re->count = first;
        return true;
    }
    if (r.least == 0)
        return make_optional(c, first) && repeat_optional(c, first + 1, count, r.most - 1);
    for (uint32_t i = 1; i < r.least; i++) {
        if (!copy(c, first, count))
            return false;
    }
    if (r.endless) /* back to the last copy, or on */
        return append(c, (struct state){ STATE_SPLIT, -(int32_t)count, 1 });
    return repeat_optional(c, first, count, r.most - r.least);
}

static bool read_piece(struct compiler *c)
{
    const size_t first = c->re->count;
    struct repeat r = { 1, 1, false };

    if (!read_atom(c))
        return false;
    if (c->at == c->end)
        return true;
    switch (*c->at) {
    case '*':
        r = (struct repeat){ 0, 0, true };
        break;
    case '+':
        r = (struct repeat){ 1, 1, true };
        break;
    case '?':
        r = (struct repeat){ 0, 1, false };
        break;
    case '{':
        c->at++;
        return read_range(c, &r) && repeat(c, first, r);
    default:
        return true;
    }
    c->at++;
    return repeat(c, first, r);
}

static bool read_branch(struct compiler *c)
{
    while (c->at < c->end && *c->at != '|' && *c->at != ')') {
        if (!read_piece(c))
            return false;
    }
    return true;
}

/* Reads to the end or to a closing parenthesis. Each alternative but the last ends with a jump to
 * after the last one; the distance is filled in at the end. */
static bool read_alternatives(struct compiler *c)
{
    size_t first = c->re->count;
    size_t jump = SIZE_MAX; /* the last such jump, which has the distance to the one before */

    if (!read_branch(c))
        return false;
    while (is_at(c, STR("|"))) {
        const size_t before = jump;

        c->at++;
        if (!insert(c, first, 1))
            return false;
        jump = c->re->count;
        if (!append(c, (struct state){ STATE_JUMP, 0, 0 }))
            return false;
        c->re->states[jump].a = before == SIZE_MAX ? 0 : (int32_t)(jump - before);
        c->re->states[first] = (struct state){ STATE_SPLIT, 1, (int32_t)(c->re->count - first) };
        first = c->re->count;
        if (!read_branch(c))
            return false;
    }
    while (jump != SIZE_MAX) {
        const int32_t back = c->re->states[jump].a;

        c->re->states[jump].a = (int32_t)(c->re->count - jump);
        jump = back == 0 ? SIZE_MAX : jump - (size_t)back;
    }
    return true;
}

bool iregexp_compile(struct arena *arena, struct str pattern, const struct iregexp **out,
                     struct error *err)
{
    struct compiler c = { .arena = arena, .pattern = pattern, .err = err };

    c.re = ARENA_NEW(arena, struct iregexp);
    if (c.re == NULL)
        return arena_error(arena, err);
    c.at = pattern.len > 0 ? pattern.data : "";
    c.end = c.at + pattern.len;
    c.pattern.data = c.at;
    if (!read_alternatives(&c))
        return false;
    if (c.at < c.end)
        return fault(&c, c.at, "unmatched )");
    if (!append(&c, (struct state){ STATE_END, 0, 0 }))
        return false;
    *out = c.re;
    return true;
}
