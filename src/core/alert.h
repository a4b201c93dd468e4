/* alert: what may be wrong, by name: rules with their limits, and what was found by them.
 *
 *      view/status_judge.c, view/findings.c     findings: rule, subject, text
 *      engine/alert/settle.h                    an alert for each, while it lasts
 *
 * A rule has a name ("cursor-behind"), a severity, a limit beyond which it holds, and how long it
 * must hold before anybody is notified. Limits and times are the defaults of 004 sections 12.6 and
 * 14.8; the Registry has those that a person has set. Each rule has a page for the person on call:
 * docs/runbooks/NAME.md.
 */
#ifndef PATRA_CORE_ALERT_H
#define PATRA_CORE_ALERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "core/codes.h"

enum alert_rule {
    ALERT_SOURCE_STOPPED,
    ALERT_CREDENTIAL_REFUSED,
    ALERT_SLICES_FAILED,
    ALERT_SLICES_HELD,
    ALERT_QUARANTINE_OPEN,
    ALERT_QUARANTINE_GROWS,
    ALERT_CURSOR_BEHIND,
    ALERT_SOURCE_QUIET,
    ALERT_SCHEDULE_LATE,
    ALERT_QUEUE_STUCK,
    ALERT_QUEUE_LONG,
    ALERT_LEASE_EXPIRED,
    ALERT_ERROR_RATE,
    ALERT_THROTTLED_RATE,
    ALERT_QUOTA_LOW,
    ALERT_SOURCE_WAITS,
    ALERT_SUBSCRIPTION_BEHIND,
    ALERT_SUBSCRIPTION_FAILING,
    ALERT_SUBSCRIPTION_STOPPED,
    ALERT_SUBSCRIPTION_PARKED,
    ALERT_SUBSCRIPTION_DEAD,
    ALERT_PUBLISHER_DOWN,
    ALERT_CLOCK_JUMPED,
    ALERT_RULE_COUNT,
};

enum alert_severity { ALERT_WARNING, ALERT_CRITICAL };
extern const struct code_table ALERT_SEVERITY_CODES;

/* What a receiver is notified: that it is wrong, that it is over. */
enum alert_notice_kind { ALERT_NOTICE_FIRED, ALERT_NOTICE_RESOLVED };
extern const struct code_table ALERT_NOTICE_CODES;

enum alert_unit {
    ALERT_NO_LIMIT, /* it holds or not */
    ALERT_SPAN,     /* microseconds */
    ALERT_COUNT,
    ALERT_PERCENT,
};

struct alert_rule_row {
    const char *name; /* in rows, files and commands; never renamed */
    enum alert_severity severity;
    enum alert_unit unit;
    int64_t limit;
    int64_t hold_us;     /* how long it must hold before it is an alert */
    const char *meaning; /* one sentence */
};
extern const struct alert_rule_row ALERT_RULES[ALERT_RULE_COUNT];

/* False when there is none of this name. */
bool alert_rule_find(struct str name, enum alert_rule *rule);

/* The name that is meant; NULL: none is near. */
const char *alert_rule_near(struct str name);

/* What is in force: the defaults, and what a person has set. */
struct alert_limits {
    struct alert_limit {
        bool is_off;
        int64_t limit;
        int64_t hold_us;
    } of[ALERT_RULE_COUNT];
};
struct alert_limits alert_limits_default(void);

/* A limit as people write it: "30m", "100", "5%". False when it is none of the rule's. */
bool alert_limit_parse(enum alert_rule rule, struct str text, int64_t *limit);
struct str alert_limit_text(struct arena *arena, enum alert_rule rule, int64_t limit);

struct alert_finding {
    enum alert_rule rule;
    struct str source;  /* ''; it belongs to none */
    struct str subject; /* what it is about: "crossref/works"; one alert per rule and subject */
    struct str text;    /* one sentence, and what to do */
};

struct alert_finding_list {
    struct alert_finding *items;
    size_t count;
};

#endif
