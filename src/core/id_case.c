/* Capital letters come before small ones. */
#include "core/id_case.h"

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static char upper(char c)
{
    return (char)(is_letter(c) ? c & ~0x20 : c);
}

static char lower(char c)
{
    return (char)(is_letter(c) ? c | 0x20 : c);
}

bool id_case_is_alike(struct str a, struct str b)
{
    bool is_alike = a.len == b.len;

    for (size_t i = 0; i < a.len && is_alike; i++)
        is_alike = upper(a.data[i]) == upper(b.data[i]);
    return is_alike;
}

static bool is_before(char a, char b)
{
    return (unsigned char)a < (unsigned char)b;
}

/* How many bytes of `from` an id like `id` can begin with. */
static size_t shared(struct str id, struct str from)
{
    size_t i = 0;

    while (i < id.len && i < from.len && upper(id.data[i]) == upper(from.data[i]))
        i++;
    return i;
}

/* The longer its beginning is that of `from`, the earlier it is: after that, the first byte that is
 * later than that of `from`, and then the first letters there are. */
bool id_case_next(struct str id, struct str from, char *next)
{
    for (size_t same = shared(id, from) + 1; same-- > 0;) {
        size_t i = same;

        if (same < from.len) {
            if (same == id.len || !is_before(from.data[same], lower(id.data[same])))
                continue;
            next[i] = is_before(from.data[same], upper(id.data[same])) ? upper(id.data[same])
                                                                       : lower(id.data[same]);
            i++;
        }
        for (size_t k = 0; k < same; k++)
            next[k] = from.data[k];
        for (; i < id.len; i++)
            next[i] = upper(id.data[i]);
        return true;
    }
    return false;
}
