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

/* Where neither dates nor versions decide. */
static enum overwrite judge_observation(const struct overwrite_state *stored,
                                        const struct overwrite_state *incoming)
{
    if (incoming->observed_us < stored->observed_us)
        return OVERWRITE_OLDER;
    if (stored->is_deleted && incoming->is_deleted)
        return OVERWRITE_UNCHANGED;
    if (stored->is_deleted)
        return incoming->observed_us > stored->observed_us ? OVERWRITE_NEWER : OVERWRITE_OLDER;
    if (incoming->is_deleted || (incoming->has_date && !stored->has_date))
        return OVERWRITE_NEWER;
    return OVERWRITE_CONTENT;
}

/* Of different dates. A tombstone may have the date of the record it deleted, so a later date that
 * was observed before the tombstone says nothing. */
static enum overwrite judge_date(const struct overwrite_state *stored,
                                 const struct overwrite_state *incoming)
{
    if (incoming->date_us < stored->date_us)
        return OVERWRITE_OLDER;
    return stored->is_deleted && incoming->observed_us < stored->observed_us ? OVERWRITE_OLDER
                                                                             : OVERWRITE_NEWER;
}

enum overwrite overwrite_judge(const struct overwrite_state *stored,
                               const struct overwrite_state *incoming)
{
    enum overwrite by_version;

    if (stored == NULL)
        return OVERWRITE_NEW;
    if (incoming->has_date && stored->has_date && incoming->date_us != stored->date_us)
        return judge_date(stored, incoming);
    by_version = judge_version(stored->version, incoming->version);
    return by_version != OVERWRITE_UNCHANGED ? by_version : judge_observation(stored, incoming);
}
