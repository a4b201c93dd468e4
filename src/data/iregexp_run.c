/* All possible states at once: a set for this character, a set for the next. A set is a list of
 * states and, for each state, its place in the list, so that lookup and clearing take constant
 * time. */
#include "data/iregexp.h"

#include "data/iregexp_program.h"
#include "data/unicode.h"
#include "data/utf8.h"

struct set {
    uint32_t *list;
    uint32_t *place;
    uint32_t count;
};

struct run {
    const struct iregexp *re;
    struct set now, next;
    uint32_t *stack; /* states to follow; each enters it at most twice per character */
    bool at_first;   /* whether this is before the first character, after the last */
    bool at_last;
    bool ended; /* STATE_END was reached */
};

static bool set_has(const struct set *set, uint32_t state)
{
    return set->place[state] < set->count && set->list[set->place[state]] == state;
}

/* Adds the state and all states reached from it without a character. */
static void enter(struct run *r, struct set *set, uint32_t first)
{
    uint32_t depth = 0;

    r->stack[depth++] = first;
    while (depth > 0) {
        const uint32_t at = r->stack[--depth];
        const struct state *state = &r->re->states[at];

        if (set_has(set, at))
            continue;
        set->place[at] = set->count;
        set->list[set->count++] = at;
        if (state->kind == STATE_SPLIT)
            r->stack[depth++] = at + (uint32_t)state->b;
        if (state->kind == STATE_SPLIT || state->kind == STATE_JUMP)
            r->stack[depth++] = at + (uint32_t)state->a;
        if ((state->kind == STATE_FIRST && r->at_first) ||
            (state->kind == STATE_LAST && r->at_last))
            r->stack[depth++] = at + 1;
        r->ended = r->ended || state->kind == STATE_END;
    }
}

static bool class_has(const struct iregexp *re, const struct class *class, uint32_t point)
{
    bool found = false;

    for (size_t i = class->first; i < class->first + class->count && !found; i++) {
        const struct class_item *item = &re->items[i];

        if (item->categories != 0)
            found = ((item->categories >> unicode_category(point) & 1) != 0) != item->outside;
        else
            found = point >= item->low && point <= item->high;
    }
    return found != class->negated;
}

static bool passes(const struct iregexp *re, const struct state *state, uint32_t point)
{
    switch (state->kind) {
    case STATE_CHAR:
        return (uint32_t)state->a == point;
    case STATE_ANY:
        return point != '\n' && point != '\r';
    case STATE_CLASS:
        return class_has(re, &re->classes[state->a], point);
    default:
        return false;
    }
}

/* The cost of one character: a step for each state, and for each item of its class. */
static uint64_t cost(const struct run *r)
{
    uint64_t sum = 1;

    for (uint32_t i = 0; i < r->now.count; i++) {
        const struct state *state = &r->re->states[r->now.list[i]];

        sum += state->kind == STATE_CLASS ? r->re->classes[state->a].count : 1;
    }
    return sum;
}

static void step(struct run *r, uint32_t point)
{
    const struct set before = r->now;

    r->next.count = 0;
    r->ended = false;
    for (uint32_t i = 0; i < r->now.count; i++) {
        const uint32_t at = r->now.list[i];

        if (passes(r->re, &r->re->states[at], point))
            enter(r, &r->next, at + 1);
    }
    r->now = r->next;
    r->next = before;
}

static bool init(struct run *r, struct arena *arena)
{
    uint32_t *words = ARENA_ARRAY(arena, uint32_t, 6 * r->re->count + 1);

    if (words == NULL)
        return false;
    r->now = (struct set){ words, words + r->re->count, 0 };
    r->next = (struct set){ words + 2 * r->re->count, words + 3 * r->re->count, 0 };
    r->stack = words + 4 * r->re->count;
    return true;
}

bool iregexp_run(const struct iregexp *re, struct arena *arena, struct iregexp_text text,
                 bool *found, struct error *err)
{
    struct run r = { .re = re };
    const char *at = text.text.len > 0 ? text.text.data : "";
    const char *const end = at + text.text.len;

    if (!init(&r, arena))
        return arena_error(arena, err);
    r.at_first = true;
    r.at_last = at == end;
    enter(&r, &r.now, 0);
    r.at_first = false;
    while (at < end && !(text.search && r.ended)) {
        const uint64_t price = cost(&r);
        uint32_t point;

        if (*text.steps < price) {
            *text.steps = 0;
            return error_set(err, ERROR_REQUEST, "iregexp.limit",
                             "a regular expression took more steps than allowed");
        }
        *text.steps -= price;
        if (r.now.count == 0 && !text.search)
            break;
        point = utf8_next(&at, end);
        r.at_last = at == end;
        step(&r, point);
        if (text.search)
            enter(&r, &r.now, 0);
    }
    *found = r.ended && (text.search || at == end);
    return true;
}
