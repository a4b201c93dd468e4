/* The rules. Their words are not among the dictionaries: no row of the domain has one. */
#include "core/alert.h"

#include <inttypes.h>

#include "base/attr.h"
#include "base/duration.h"
#include "base/instant.h"
#include "base/suggest.h"

static const struct code_item SEVERITIES[] = {
    CODE_ITEM("WARNING", "Somebody should look at it during the day."),
    CODE_ITEM("CRITICAL", "Nothing goes on before somebody does something."),
};
const struct code_table ALERT_SEVERITY_CODES =
    CODE_TABLE("sys_alert_severity", "How urgent an alert is.", SEVERITIES);

static const struct code_item NOTICES[] = {
    CODE_ITEM("FIRED", "It is wrong."),
    CODE_ITEM("RESOLVED", "It is over."),
};
const struct code_table ALERT_NOTICE_CODES =
    CODE_TABLE("sys_alert_notice", "What a receiver of alerts is notified.", NOTICES);

#define MINUTES(n) ((n)*US_PER_MINUTE)

/* clang-format off */
const struct alert_rule_row ALERT_RULES[ALERT_RULE_COUNT] = {
    [ALERT_SOURCE_STOPPED] = { "source-stopped", ALERT_CRITICAL, ALERT_NO_LIMIT, 0, 0,
        "A fatal error (L4) has stopped a source or an endpoint." },
    [ALERT_CREDENTIAL_REFUSED] = { "credential-refused", ALERT_CRITICAL, ALERT_NO_LIMIT, 0, 0,
        "One of several credentials was refused." },
    [ALERT_SLICES_FAILED] = { "slices-failed", ALERT_WARNING, ALERT_COUNT, 1, 0,
        "Slices failed (L2) and are still missing." },
    [ALERT_SLICES_HELD] = { "slices-held", ALERT_WARNING, ALERT_COUNT, 1, 0,
        "Slices or feeds cannot be read to the end as the source file is." },
    [ALERT_QUARANTINE_OPEN] = { "quarantine-open", ALERT_WARNING, ALERT_COUNT, 1, 0,
        "Records (L3) are in quarantine." },
    [ALERT_QUARANTINE_GROWS] = { "quarantine-grows", ALERT_WARNING, ALERT_COUNT, 100, 0,
        "So many records were put into quarantine by the runs of the last hour." },
    [ALERT_CURSOR_BEHIND] = { "cursor-behind", ALERT_WARNING, ALERT_SPAN, MINUTES(30), MINUTES(2),
        "The cursor of a scheduled harvest is behind by more than its schedule explains, and does not move." },
    [ALERT_SOURCE_QUIET] = { "source-quiet", ALERT_WARNING, ALERT_PERCENT, 10, 0,
        "A source brought less than this share of its daily mean in the last 24 hours." },
    [ALERT_SCHEDULE_LATE] = { "schedule-late", ALERT_WARNING, ALERT_SPAN, MINUTES(15), 0,
        "A schedule that has fired before is due and does not fire." },
    [ALERT_QUEUE_STUCK] = { "queue-stuck", ALERT_WARNING, ALERT_SPAN, MINUTES(30), 0,
        "Tasks are due and no worker takes them." },
    [ALERT_QUEUE_LONG] = { "queue-long", ALERT_WARNING, ALERT_COUNT, 50000, 0,
        "So many tasks of one partition wait." },
    [ALERT_LEASE_EXPIRED] = { "lease-expired", ALERT_WARNING, ALERT_SPAN, MINUTES(1), 0,
        "The lease of a task has expired and nobody has put it back." },
    [ALERT_ERROR_RATE] = { "error-rate", ALERT_WARNING, ALERT_PERCENT, 5, MINUTES(10),
        "More of the requests of the last ten minutes failed (L1, L2) than this." },
    [ALERT_THROTTLED_RATE] = { "throttled-rate", ALERT_WARNING, ALERT_PERCENT, 5, MINUTES(5),
        "More of the requests of the last ten minutes were answered with 429 than this." },
    [ALERT_QUOTA_LOW] = { "quota-low", ALERT_WARNING, ALERT_PERCENT, 10, 0,
        "Less than this share of a quota is left." },
    [ALERT_SOURCE_WAITS] = { "source-waits", ALERT_WARNING, ALERT_SPAN, 6 * US_PER_HOUR, 0,
        "A source asks for silence for longer than this." },
    [ALERT_SUBSCRIPTION_BEHIND] = { "subscription-behind", ALERT_WARNING, ALERT_SPAN, MINUTES(5), MINUTES(2),
        "The first event that a subscription has not read has waited longer than this." },
    [ALERT_SUBSCRIPTION_FAILING] = { "subscription-failing", ALERT_WARNING, ALERT_NO_LIMIT, 0, MINUTES(1),
        "A bus, or the database of a projection, does not answer or refuses." },
    [ALERT_SUBSCRIPTION_STOPPED] = { "subscription-stopped", ALERT_CRITICAL, ALERT_NO_LIMIT, 0, 0,
        "A subscription stopped before an event, for a person." },
    [ALERT_SUBSCRIPTION_PARKED] = { "subscription-parked", ALERT_WARNING, ALERT_COUNT, 1, MINUTES(5),
        "Keys of a subscription wait because one of their events was refused." },
    [ALERT_SUBSCRIPTION_DEAD] = { "subscription-dead", ALERT_WARNING, ALERT_COUNT, 1, 0,
        "Events of a subscription were given up." },
    [ALERT_PUBLISHER_DOWN] = { "publisher-down", ALERT_WARNING, ALERT_SPAN, MINUTES(5), 0,
        "Events wait for their place in the stream, and nobody publishes." },
    [ALERT_CLOCK_JUMPED] = { "clock-jumped", ALERT_CRITICAL, ALERT_NO_LIMIT, 0, 0,
        "The clock was set ahead or back by more than five minutes." },
};
/* clang-format on */

bool alert_rule_find(struct str name, enum alert_rule *rule)
{
    for (int i = 0; i < ALERT_RULE_COUNT; i++) {
        if (str_eq(name, str_of(ALERT_RULES[i].name))) {
            *rule = (enum alert_rule)i;
            return true;
        }
    }
    return false;
}

const char *alert_rule_near(struct str name)
{
    const char *names[ALERT_RULE_COUNT];

    for (int i = 0; i < ALERT_RULE_COUNT; i++)
        names[i] = ALERT_RULES[i].name;
    return suggest(name, names, ALERT_RULE_COUNT);
}

struct alert_limits alert_limits_default(void)
{
    struct alert_limits limits = { 0 };

    for (int i = 0; i < ALERT_RULE_COUNT; i++) {
        limits.of[i].limit = ALERT_RULES[i].limit;
        limits.of[i].hold_us = ALERT_RULES[i].hold_us;
    }
    return limits;
}

bool alert_limit_parse(enum alert_rule rule, struct str text, int64_t *limit)
{
    struct error ignored;

    switch (ALERT_RULES[rule].unit) {
    case ALERT_NO_LIMIT:
        return false;
    case ALERT_SPAN:
        return duration_parse_us(text, limit, &ignored) && *limit > 0;
    case ALERT_PERCENT:
        if (str_ends(text, STR("%")))
            text.len--;
        return str_to_i64(text, limit) && *limit >= 1 && *limit <= 100;
    case ALERT_COUNT:
        return str_to_i64(text, limit) && *limit >= 1;
    }
    return false;
}

struct str alert_limit_text(struct arena *arena, enum alert_rule rule, int64_t limit)
{
    char span[DURATION_TEXT_MAX];

    switch (ALERT_RULES[rule].unit) {
    case ALERT_NO_LIMIT:
        return STR("");
    case ALERT_SPAN:
        return arena_copy(arena, (struct str){ span, duration_format_us(limit, span) });
    case ALERT_PERCENT:
        return arena_printf(arena, "%" PRId64 "%%", limit);
    case ALERT_COUNT:
        break;
    }
    return arena_printf(arena, "%" PRId64, limit);
}
