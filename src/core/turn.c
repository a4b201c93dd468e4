/* turn: choosing the next partition. */
#include "core/turn.h"

static bool goes_before(const struct turn *a, const struct turn *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->last < b->last;
}

size_t turn_choose(const struct turn *turns, size_t count)
{
    size_t best = count;

    for (size_t i = 0; i < count; i++) {
        if (!turns[i].may_run || turns[i].live >= turns[i].live_max)
            continue;
        if (best == count || goes_before(&turns[i], &turns[best]))
            best = i;
    }
    return best;
}
