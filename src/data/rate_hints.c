/* Reads the rate headers of a response, in the spellings that are in use. */
#include "data/rate_hints.h"

#include <stdio.h>

#include "base/duration.h"
#include "data/http_date.h"
#include "data/retry_after.h"

/* A larger reset is an instant: 1,000,000,000 s ended in 2001, and no wait is thirty years long. */
#define RESET_SPAN_MAX_S INT64_C(1000000000)
#define RESET_AT_MAX_S INT64_C(100000000000)
#define MILLIONTHS INT64_C(1000000) /* in one request */
/* One request an hour. Less is a quota, or a lie: no pace that a source could be fetched at. */
#define RATE_LEAST (MILLIONTHS / 3600)

static const char *const spellings[] = { "X-RateLimit-", "X-Rate-Limit-", "RateLimit-" };

/* The value in the first spelling that the response has. */
static struct str hint(const struct http_response *reply, const char *what)
{
    char name[64];
    struct str value;

    for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
        (void)snprintf(name, sizeof(name), "%s%s", spellings[i], what);
        value = http_header_value(reply->headers, str_of(name));
        if (value.data != NULL)
            return str_trim(value);
    }
    return (struct str){ NULL, 0 };
}

/* "50", or "50, 50;w=1" of an older draft: the part before the first comma. "-1", which some send
 * for "no limit", says nothing. */
static bool hint_number(const struct http_response *reply, const char *what, int64_t *number)
{
    struct str rest = hint(reply, what);
    int64_t value;

    if (rest.data == NULL || !str_to_i64(str_trim(str_cut(&rest, ',')), &value) || value < 0)
        return false;
    *number = value;
    return true;
}

/* The server's time: its instants are by its own clock, and ours may be wrong. */
static int64_t server_now_us(const struct http_response *reply, int64_t now_us)
{
    int64_t at_us;

    return http_date_parse(http_header_value(reply->headers, STR("Date")), now_us, &at_us) ? at_us
                                                                                           : now_us;
}

static int64_t at_most_a_day(int64_t wait_us)
{
    return wait_us < RATE_HINT_WAIT_MAX_US ? wait_us : RATE_HINT_WAIT_MAX_US;
}

static int64_t reset_at_us(int64_t reset, int64_t now_us, int64_t server_us)
{
    if (reset <= 0 || reset > RESET_AT_MAX_S)
        return 0;
    if (reset < RESET_SPAN_MAX_S)
        return now_us + at_most_a_day(reset * US_PER_SECOND);
    return now_us + at_most_a_day(reset * US_PER_SECOND - server_us);
}

static int64_t provider_rate(const struct http_response *reply, int64_t limit)
{
    const struct str interval = hint(reply, "Interval");
    int64_t interval_us;
    __int128 rate;
    struct error ignored; /* an unreadable interval says nothing */

    if (limit <= 0 || interval.data == NULL ||
        !duration_parse_us(interval, &interval_us, &ignored) || interval_us <= 0)
        return 0;
    rate = (__int128)limit * MILLIONTHS * US_PER_SECOND / interval_us;
    return rate >= RATE_LEAST && rate < INT64_MAX ? (int64_t)rate : 0; /* in effect, no limit */
}

/* Of several, the longest. */
static struct retry_after wait_of(const struct http_response *reply, int64_t server_us)
{
    struct retry_after longest = { .kind = RETRY_AFTER_NONE };
    const struct http_header *header = NULL;

    while ((header = http_header_find(reply->headers, STR("Retry-After"), header)) != NULL) {
        const struct retry_after wait = retry_after_parse(header->value, server_us);

        if (wait.kind == RETRY_AFTER_WAIT && wait.wait_us >= longest.wait_us)
            longest = wait;
    }
    return longest;
}

struct rate_hints rate_hints_of(const struct http_response *reply, bool is_refused, int64_t now_us)
{
    const int64_t server_us = server_now_us(reply, now_us);
    const struct retry_after wait = wait_of(reply, server_us);
    struct rate_hints hints = { 0 };
    int64_t reset;

    if ((is_refused || retry_after_is_obeyed(reply->status)) && wait.kind == RETRY_AFTER_WAIT &&
        !wait.is_past) {
        hints.has_retry_after = true;
        hints.retry_after_us = at_most_a_day(wait.wait_us);
    }
    hints.has_remaining = hint_number(reply, "Remaining", &hints.remaining);
    if (hint_number(reply, "Reset", &reset))
        hints.reset_at_us = reset_at_us(reset, now_us, server_us);
    if (hint_number(reply, "Limit", &hints.limit))
        hints.provider_rate = provider_rate(reply, hints.limit);
    return hints;
}
