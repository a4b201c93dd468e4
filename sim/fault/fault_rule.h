/* fault_rule: one line of a fault plan, parsed. Included by fault_plan.c and tests only. */
#ifndef PATRA_SIM_FAULT_FAULT_RULE_H
#define PATRA_SIM_FAULT_FAULT_RULE_H

#include "sim/fault/fault_plan.h"

enum { FAULT_NTH_MAX = 64 };

struct fault_rule {
    struct str text; /* as given; the other views point into it */
    struct str path;
    struct str method;
    struct str query;
    struct str ids; /* comma-separated */
    int host;       /* 0 any, 1 main, 2 other */
    int64_t nth[FAULT_NTH_MAX];
    size_t nth_count;
    int64_t every; /* 0: no such condition, here and below */
    int64_t from;
    int64_t to;
    double rate; /* negative: no such condition */
    int64_t after_us;
    int64_t until_us;
    int64_t times;
    int64_t burst;
    int by_request;
    struct fault fault;
};

/* `text` must outlive the rule. */
bool fault_rule_parse(struct fault_rule *rule, struct str text, struct error *err) MUST_CHECK;

/* Whether the request has the rule's path, method, query, ids, host and virtual time. */
bool fault_rule_matches(const struct fault_rule *rule, const struct http_call *call,
                        bool other_host);

/* Whether the fault is due on the n-th match; `identity` is 0 without by=request. Pure. */
bool fault_rule_is_due(const struct fault_rule *rule, uint64_t seed, uint64_t identity, int64_t n);

#endif
