/* Parses the times and durations of options and control requests. */
#include "sim/util/time_option.h"

#include "base/duration.h"
#include "base/instant.h"
#include "sim/util/api_date.h"

bool time_option_parse(struct str text, int64_t *at_us)
{
    struct api_date date;

    if (text.len > 4 && str_to_i64(text, at_us)) /* four digits are a year */
        return *at_us >= INSTANT_MIN && *at_us <= INSTANT_MAX;
    if (!api_date_parse(text, &date))
        return false;
    *at_us = date.from_us;
    return true;
}

bool duration_option_parse(struct str text, int64_t *us)
{
    const bool back = str_starts(text, STR("-"));
    struct error err;
    int64_t seconds;

    if (str_to_i64(text, &seconds))
        return !__builtin_mul_overflow(seconds, US_PER_SECOND, us);
    if (back || str_starts(text, STR("+")))
        text = str_slice(text, 1, text.len);
    if (!duration_parse_us(text, us, &err))
        return false;
    *us = back ? -*us : *us;
    return true;
}
