/* Seconds or a date, turned into a delay. */
#include "data/retry_after.h"

#include "base/instant.h"
#include "data/http_date.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits, optionally with a point and more digits. A number beyond the maximum is the maximum. */
static bool parse_seconds(struct str text, int64_t *wait_us)
{
    int64_t seconds = 0;
    size_t i = 0;
    bool has_rest = false;

    for (; i < text.len && is_digit(text.data[i]); i++) {
        if (seconds <= RETRY_AFTER_US_MAX / US_PER_SECOND)
            seconds = seconds * 10 + (text.data[i] - '0');
    }
    if (i == 0)
        return false;
    if (i + 1 < text.len && text.data[i] == '.') {
        for (i++; i < text.len && is_digit(text.data[i]); i++)
            has_rest = has_rest || text.data[i] != '0';
    }
    if (i < text.len)
        return false;
    seconds += has_rest;
    *wait_us =
        seconds < RETRY_AFTER_US_MAX / US_PER_SECOND ? seconds * US_PER_SECOND : RETRY_AFTER_US_MAX;
    return true;
}

static struct retry_after wait_for(int64_t wait_us)
{
    if (wait_us > RETRY_AFTER_US_MAX)
        wait_us = RETRY_AFTER_US_MAX;
    return (struct retry_after){ RETRY_AFTER_WAIT, wait_us > 0 ? wait_us : 0, wait_us <= 0 };
}

struct retry_after retry_after_parse(struct str value, int64_t now_us)
{
    const struct str text = str_trim(value);
    int64_t number_us;

    if (value.data == NULL)
        return (struct retry_after){ .kind = RETRY_AFTER_NONE };
    if (parse_seconds(text, &number_us))
        return wait_for(number_us);
    if (http_date_parse(text, now_us, &number_us) || http_date_parse_lenient(text, &number_us))
        return wait_for(number_us - now_us);
    return (struct retry_after){ .kind = RETRY_AFTER_INVALID };
}

bool retry_after_is_obeyed(int status)
{
    return status == 429 || status >= 500;
}
