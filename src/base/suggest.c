/* suggest: edit distance to each candidate. */
#include "base/suggest.h"

#include <string.h>

enum { NAME_MAX_LEN = 63 }; /* longer names get no suggestion */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insert, delete, replace, swap neighbours; each costs one. */
static size_t distance(struct str a, struct str b)
{
    size_t before[NAME_MAX_LEN + 1] = { 0 };
    size_t above[NAME_MAX_LEN + 1];
    size_t row[NAME_MAX_LEN + 1];

    for (size_t j = 0; j <= b.len; j++)
        above[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            const size_t differs = a.data[i - 1] != b.data[j - 1];

            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + differs);
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        memcpy(before, above, sizeof(before));
        memcpy(above, row, sizeof(above));
    }
    return above[b.len];
}

const char *suggest(struct str typed, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t nearest_distance = NAME_MAX_LEN;

    if (typed.len == 0 || typed.len > NAME_MAX_LEN)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const struct str candidate = str_of(candidates[i]);
        size_t d;

        if (candidate.len > NAME_MAX_LEN)
            continue;
        d = distance(typed, candidate);
        if (d < nearest_distance && d * 3 <= (candidate.len > 3 ? candidate.len : 3)) {
            nearest = candidates[i];
            nearest_distance = d;
        }
    }
    return nearest;
}
