/* overwrite: the judgement, and the order of versions. */
#include "core/overwrite.h"

#include <assert.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits at `at`, without leading zeros; moves `at` past them. */
static struct str number_at(struct str text, size_t *at)
{
    size_t from;

    while (*at < text.len && text.data[*at] == '0')
        ++*at;
    from = *at;
    while (*at < text.len && is_digit(text.data[*at]))
        ++*at;
    return (struct str){ text.data + from, *at - from };
}

int overwrite_version_order(struct str a, struct str b)
{
    size_t i = 0;
    size_t j = 0;

    while (i < a.len && j < b.len) {
        const unsigned char left = (unsigned char)a.data[i];
        const unsigned char right = (unsigned char)b.data[j];

        if (is_digit((char)left) && is_digit((char)right)) {
            const struct str m = number_at(a, &i);
            const struct str n = number_at(b, &j);
            const int order = m.len != n.len ? (m.len < n.len ? -1 : 1) : str_cmp(m, n);

            if (order != 0)
                return order;
            continue;
        }
        if (left != right)
            return left < right ? -1 : 1;
        i++;
        j++;
    }
    return (i < a.len) - (j < b.len);
}

/* Compares the provider's versions. A state with a version is newer than one without. */
static enum overwrite judge_version(struct str stored, struct str incoming)
{
    int order;

    if (incoming.len == 0)
        return OVERWRITE_UNCHANGED;
    order = overwrite_version_order(incoming, stored);
    return order == 0 ? OVERWRITE_UNCHANGED : order > 0 ? OVERWRITE_NEWER : OVERWRITE_OLDER;
}

/* At the same date, or without dates; `is_sharp`: two changes would have different dates. */
static enum overwrite judge_equal(const struct overwrite_state *stored,
                                  const struct overwrite_state *incoming, bool is_sharp)
{
    const enum overwrite by_version = judge_version(stored->version, incoming->version);

    if (by_version != OVERWRITE_UNCHANGED)
        return by_version;
    if (stored->is_deleted && incoming->is_deleted)
        return OVERWRITE_UNCHANGED;
    if (stored->is_deleted)
        return is_sharp ? OVERWRITE_OLDER : OVERWRITE_NEWER;
    if (incoming->is_deleted)
        return OVERWRITE_NEWER;
    return is_sharp ? OVERWRITE_UNCHANGED : OVERWRITE_CONTENT;
}

enum overwrite overwrite_judge(const struct overwrite_state *stored,
                               const struct overwrite_state *incoming)
{
    if (stored == NULL)
        return OVERWRITE_NEW;
    if (incoming->has_date && !stored->has_date)
        return OVERWRITE_NEWER;
    if (!incoming->has_date) {
        if (incoming->is_deleted)
            return stored->is_deleted ? OVERWRITE_UNCHANGED : OVERWRITE_NEWER;
        return judge_equal(stored, incoming, false);
    }
    if (incoming->date_us != stored->date_us)
        return incoming->date_us > stored->date_us ? OVERWRITE_NEWER : OVERWRITE_OLDER;
    return judge_equal(stored, incoming, !incoming->is_coarse);
}
