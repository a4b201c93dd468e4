/* gaps: ranges in order, found by bisection. */
#include "core/gaps.h"

#include <assert.h>
#include <string.h>

void gaps_init(struct gaps *gaps, struct gap *items, size_t room, int64_t cursor)
{
    assert(room > 0);
    *gaps = (struct gaps){ .items = items, .room = room, .cursor = cursor };
}

bool gaps_pass(struct gaps *gaps, int64_t number)
{
    assert(number >= gaps->cursor);
    if (number == gaps->cursor)
        return true;
    if (gaps->count > 0 && gaps->items[gaps->count - 1].last == gaps->cursor)
        gaps->items[gaps->count - 1].last = number;
    else if (gaps->count == gaps->room)
        return false;
    else
        gaps->items[gaps->count++] = (struct gap){ gaps->cursor + 1, number };
    gaps->cursor = number;
    return true;
}

bool gaps_see(struct gaps *gaps, int64_t number)
{
    assert(number > gaps->cursor);
    if (!gaps_pass(gaps, number - 1))
        return false;
    gaps->cursor = number;
    return true;
}

/* The first gap that does not end before the number; or the count. */
static size_t find(const struct gaps *gaps, int64_t number)
{
    size_t low = 0, high = gaps->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (gaps->items[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool gaps_has(const struct gaps *gaps, int64_t number)
{
    const size_t at = find(gaps, number);

    return at < gaps->count && gaps->items[at].first <= number;
}

static void move(struct gaps *gaps, size_t from, size_t to)
{
    memmove(&gaps->items[to], &gaps->items[from], (gaps->count - from) * sizeof(gaps->items[0]));
    gaps->count = gaps->count + to - from;
}

bool gaps_fill(struct gaps *gaps, int64_t number)
{
    const size_t at = find(gaps, number);
    struct gap *gap = &gaps->items[at];

    assert(number <= gaps->cursor);
    if (at == gaps->count || gap->first > number)
        return true;
    if (gap->first == gap->last) {
        move(gaps, at + 1, at);
    } else if (gap->first == number) {
        gap->first++;
    } else if (gap->last == number) {
        gap->last--;
    } else {
        if (gaps->count == gaps->room)
            return false;
        move(gaps, at, at + 1);
        gap[0].last = number - 1;
        gap[1].first = number + 1;
    }
    return true;
}

void gaps_settle(struct gaps *gaps, int64_t up_to)
{
    const size_t at = find(gaps, up_to);

    if (at < gaps->count && gaps->items[at].first <= up_to && gaps->items[at].last > up_to) {
        gaps->items[at].first = up_to + 1;
        move(gaps, at, 0);
        return;
    }
    move(gaps, at + (at < gaps->count && gaps->items[at].last == up_to), 0);
}

int64_t gaps_horizon(const struct gaps *gaps)
{
    return gaps->count > 0 ? gaps->items[0].first - 1 : gaps->cursor;
}
