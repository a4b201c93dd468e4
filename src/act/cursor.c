/* Which cursor, and to which value. */
#include "act/cursor.h"

#include "base/duration.h"
#include "data/date.h"

bool act_cursor_choose(const struct view_reader *reader, const struct view_cursor_filter *filter,
                       struct view_cursor_list *list, struct error *err)
{
    if (!view_cursor_list(reader, filter, list, err))
        return false;
    if (list->count == 0)
        return error_set(err, ERROR_REQUEST, "cursor.unknown", "%.*s has no such cursor of %.*s",
                         STR_ARG(filter->source),
                         STR_ARG(code_of(&OPERATION_CODES, (int)filter->operation)));
    return list->count == 1 ||
           error_set(err, ERROR_REQUEST, "cursor.many",
                     "%zu cursors match; choose one by its namespace: the first letters of its key",
                     list->count);
}

static bool read_instant(struct str text, int64_t now_us, int64_t *at_us, struct error *err)
{
    struct duration ago;
    struct date date;

    if (duration_parse(text, &ago, err) && duration_subtract(now_us, ago, at_us))
        return true;
    if (!date_parse(date_format_find(STR("auto")), text, &date, err))
        return error_set(err, ERROR_REQUEST, "cursor.value",
                         "'%.*s' is neither a date (2026-01-31, 2026-01-31T10:00:00Z) nor how long "
                         "ago (7d, 12h)",
                         STR_ARG(text));
    *at_us = date.at_us;
    return true;
}

bool act_cursor_value(enum cursor_type type, struct str text, int64_t now_us,
                      struct cursor_value *value, struct error *err)
{
    *value = (struct cursor_value){ .type = type };
    if (type == CURSOR_TIME)
        return read_instant(text, now_us, &value->instant_us, err);
    value->text = text;
    if (type == CURSOR_ID && !cursor_id_is_valid(text))
        return error_set(err, ERROR_REQUEST, "cursor.value", "'%.*s' is not a whole number",
                         STR_ARG(text));
    return text.len <= CURSOR_VALUE_MAX ||
           error_set(err, ERROR_REQUEST, "cursor.value", "a token has at most %d bytes",
                     CURSOR_VALUE_MAX);
}
