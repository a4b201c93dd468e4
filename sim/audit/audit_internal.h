/* audit_internal: the state of the audit, shared by audit.c and audit_json.c only. */
#ifndef PATRA_SIM_AUDIT_AUDIT_INTERNAL_H
#define PATRA_SIM_AUDIT_AUDIT_INTERNAL_H

#include <pthread.h>

#include "sim/audit/audit.h"
#include "sim/audit/rate_check.h"
#include "sim/util/tally.h"

enum {
    LIMITS_MAX = 32,
    SCOPES_MAX = 64,
    SCOPE_BYTES_MAX = 64,
    WAITS_MAX = 8,
    IN_PROGRESS_MAX = 1024,
    VIOLATIONS_MAX = 2000,
    PAGES_MAX = 1 << 20,
    STATUSES_MAX = 600,
};

struct limit {
    struct str path;
    double rate; /* negative: none */
    int64_t window_us;
    double burst;
    int64_t concurrency; /* 0: none */
    int64_t slack_us;
    bool enforce;
    int64_t retry_us;                 /* the Retry-After of a refused request; 0: none */
    struct rate_check rate_checks[2]; /* on real and on the client's time */
    uint64_t in_progress[IN_PROGRESS_MAX];
    size_t in_progress_count;
    size_t in_progress_peak;
};

struct scope {
    char name[SCOPE_BYTES_MAX];
    size_t len;
    uint64_t last_failure; /* ordinal: pages served before it may be fetched again */
    struct wait {
        uint64_t ordinal; /* of the response that gave it; 0: none */
        int64_t given_us;
        int64_t until_us;
    } waits[2][WAITS_MAX]; /* on real and on the client's time; all apply */
};

struct violation {
    enum audit_rule rule;
    uint64_t ordinal;
    uint64_t other; /* the other request involved; 0: none */
    int64_t count;
    double allowed;
    int64_t span_us;
    struct str path; /* the limit's, or the scope's */
};

struct audit_entry {
    struct audit_entry *next;
    uint64_t ordinal;
    int64_t real_us; /* since the start */
    int64_t virtual_us;
    struct str method, host, path, query, client, agent;
    const char *scheme;
    const char *fault;
    int64_t rule;
    int status; /* 0: still in progress */
    size_t bytes;
    bool on_client_time, other_host, complete;
};

struct audit {
    struct audit_options options;
    struct limit *limits;
    size_t limit_count;

    pthread_mutex_t lock; /* of what follows, and of the limits' counts */
    int64_t start_us;
    uint64_t generation;
    uint64_t requests;  /* ever seen: no ordinal is used twice */
    uint64_t forgotten; /* how many of them a reset has forgotten */
    uint64_t faults;
    uint64_t incomplete;
    uint64_t statuses[STATUSES_MAX];
    uint64_t broken[RULE_COUNT];
    uint64_t dropped_requests, dropped_violations, dropped_pages;
    uint64_t last_redirect; /* the last response that pointed to the other host */
    struct scope scopes[SCOPES_MAX];
    size_t scope_count;
    struct tally pages;
    struct violation violations[VIOLATIONS_MAX];
    size_t violation_count;
    struct arena arena; /* of the entries */
    struct audit_entry *first, *last;
};

extern const char *const AUDIT_RULE_NAMES[RULE_COUNT + 1];

#endif
