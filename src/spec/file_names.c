/* Names with a range of numbers in them. */
#include "spec/file_names.h"

#include <inttypes.h>

enum { DIGITS_MAX = 15 };

struct range {
    struct str before;
    struct str after;
    int64_t first;
    int64_t last;
    int digits; /* 0: there is no range */
};

/* Digits only. */
static bool read_number(struct str text, int64_t *number)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    }
    return text.len > 0 && text.len <= DIGITS_MAX && str_to_i64(text, number);
}

static struct range range_of(struct str item)
{
    const size_t open = str_find_char(item, '{'), close = str_find_char(item, '}');
    struct range range = { .before = item };
    struct str inner, from, to;
    size_t dots;

    if (open >= close || close >= item.len)
        return range;
    inner = str_slice(item, open + 1, close);
    dots = str_find(inner, STR(".."));
    if (dots >= inner.len)
        return range;
    from = str_slice(inner, 0, dots);
    to = str_slice(inner, dots + 2, inner.len);
    if (!read_number(from, &range.first) || !read_number(to, &range.last))
        return (struct range){ .before = item };
    range.before = str_slice(item, 0, open);
    range.after = str_slice(item, close + 1, item.len);
    range.digits = (int)from.len;
    return range;
}

static int64_t length_of(const struct range *range)
{
    if (range->digits == 0)
        return 1;
    return range->last < range->first ? 0 : range->last - range->first + 1;
}

bool file_name_is_empty(struct str item)
{
    const struct range range = range_of(item);

    return length_of(&range) == 0;
}

int64_t file_names_count(const struct str *items, size_t count)
{
    int64_t sum = count == 0;

    for (size_t i = 0; i < count; i++) {
        const struct range range = range_of(items[i]);

        if (__builtin_add_overflow(sum, length_of(&range), &sum))
            return INT64_MAX;
    }
    return sum;
}

bool file_names_next(struct file_names *names, struct arena *arena, struct str *name)
{
    struct range range = { 0 };

    if (names->count == 0) {
        *name = STR("");
        return names->at++ == 0;
    }
    for (;; names->at++, names->number = 0) {
        if (names->at >= names->count)
            return false;
        range = range_of(names->items[names->at]);
        if (names->number < length_of(&range))
            break;
    }
    if (range.digits == 0)
        *name = arena_copy(arena, range.before);
    else
        *name = arena_printf(arena, "%.*s%0*" PRId64 "%.*s", STR_ARG(range.before), range.digits,
                             range.first + names->number, STR_ARG(range.after));
    names->number++;
    return name->data != NULL;
}
