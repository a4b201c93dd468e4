/* The list of rules, their counts, and the choice of a fault for each request. */
#include "sim/fault/fault_plan.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fault/fault_rule.h"
#include "sim/util/hash.h"
#include "sim/util/text_out.h"

enum { RULES_MAX = 200, PLAN_BYTES_MAX = 1 << 20, REQUESTS_MAX = 1 << 18 };

struct slot {
    struct fault_rule rule;
    int64_t seen;
    int64_t hits;
    struct tally requests; /* counts per request, for a rule with by=request */
};

struct fault_plan {
    pthread_mutex_t lock;
    uint64_t seed;
    struct arena arena; /* the rules' texts */
    struct slot slots[RULES_MAX];
    size_t count;
    int64_t numbered; /* rules ever added: no number is used twice */
};

bool fault_plan_open(uint64_t seed, struct fault_plan **plan, struct error *err)
{
    *plan = calloc(1, sizeof(**plan));
    if (*plan == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for the fault plan");
    (*plan)->seed = seed;
    arena_init(&(*plan)->arena, PLAN_BYTES_MAX);
    (void)pthread_mutex_init(&(*plan)->lock, NULL);
    return true;
}

static void empty(struct fault_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        tally_release(&plan->slots[i].requests);
    plan->count = 0;
}

void fault_plan_close(struct fault_plan *plan)
{
    if (plan == NULL)
        return;
    empty(plan);
    arena_release(&plan->arena);
    (void)pthread_mutex_destroy(&plan->lock);
    free(plan);
}

void fault_plan_clear(struct fault_plan *plan)
{
    (void)pthread_mutex_lock(&plan->lock);
    empty(plan);
    arena_reset(&plan->arena);
    plan->numbered = 0;
    (void)pthread_mutex_unlock(&plan->lock);
}

static bool add_line(struct fault_plan *plan, struct str line, struct error *err)
{
    struct slot *slot = &plan->slots[plan->count];
    const struct str text = arena_copy(&plan->arena, line);

    if (plan->count == RULES_MAX)
        return error_set(err, ERROR_REQUEST, "fault.many", "more than %d rules", RULES_MAX);
    if (text.data == NULL)
        return arena_error(&plan->arena, err);
    *slot = (struct slot){ 0 };
    if (!fault_rule_parse(&slot->rule, text, err))
        return false;
    tally_init(&slot->requests, REQUESTS_MAX);
    slot->rule.fault.rule = ++plan->numbered;
    plan->count++;
    return true;
}

bool fault_plan_add(struct fault_plan *plan, struct str text, struct error *err)
{
    size_t before;
    int64_t numbered;
    int number = 0;
    bool ok = true;

    (void)pthread_mutex_lock(&plan->lock);
    before = plan->count;
    numbered = plan->numbered;
    while (ok && text.len > 0) {
        const struct str line = str_trim(str_cut(&text, '\n'));

        number++;
        if (line.len > 0 && line.data[0] != '#')
            ok = add_line(plan, line, err);
    }
    if (!ok) {
        plan->count = before;
        plan->numbered = numbered;
        (void)error_wrap(err, "fault plan, line %d", number);
    }
    (void)pthread_mutex_unlock(&plan->lock);
    return ok;
}

/* How many requests this rule has matched, this one included. */
static int64_t count_match(struct slot *slot, uint64_t identity)
{
    struct tally_entry *entry;

    slot->seen++;
    if (!slot->rule.by_request)
        return slot->seen;
    entry = tally_at(&slot->requests, identity);
    return entry != NULL ? (int64_t)++entry->count : 1;
}

static bool slot_is_due(const struct fault_plan *plan, struct slot *slot, uint64_t identity,
                        int64_t *n)
{
    if (!slot->rule.by_request)
        identity = 0;
    *n = count_match(slot, identity);
    return fault_rule_is_due(&slot->rule, plan->seed, identity, *n) &&
           (slot->rule.times == 0 || slot->hits < slot->rule.times);
}

struct fault fault_plan_decide(struct fault_plan *plan, const struct http_call *call,
                               bool other_host, uint64_t identity)
{
    struct fault fault = { 0 };
    int64_t n;

    (void)pthread_mutex_lock(&plan->lock);
    for (size_t i = 0; i < plan->count; i++) {
        struct slot *slot = &plan->slots[i];

        if (!fault_rule_matches(&slot->rule, call, other_host) ||
            !slot_is_due(plan, slot, identity, &n) || fault.rule != 0)
            continue;
        slot->hits++;
        fault = slot->rule.fault;
        fault.random = hash_of(plan->seed, (uint64_t)fault.rule,
                               slot->rule.by_request ? identity ^ (uint64_t)n : (uint64_t)n);
        /* A DELETE may free the plan's memory while this fault is in use. */
        fault.location = arena_copy(call->arena, fault.location);
    }
    (void)pthread_mutex_unlock(&plan->lock);
    return fault;
}

bool fault_from_line(const struct fault_plan *plan, struct str line, struct fault *fault,
                     struct error *err)
{
    struct fault_rule rule;

    if (!fault_rule_parse(&rule, line, err))
        return error_wrap(err, "X-Sim-Fault");
    *fault = rule.fault;
    fault->rule = FAULT_RULE_HEADER;
    fault->random = hash_of(plan->seed, 0, 0);
    return true;
}

void fault_plan_write_json(struct fault_plan *plan, struct buf *json)
{
    (void)pthread_mutex_lock(&plan->lock);
    buf_printf(json, "{\"seed\":%llu,\"rules\":[", (unsigned long long)plan->seed);
    for (size_t i = 0; i < plan->count; i++) {
        const struct slot *slot = &plan->slots[i];

        buf_printf(json, "%s{\"rule\":%lld,\"text\":", i > 0 ? "," : "",
                   (long long)slot->rule.fault.rule);
        text_add_json_string(json, slot->rule.text);
        buf_printf(json, ",\"seen\":%lld,\"hits\":%lld}", (long long)slot->seen,
                   (long long)slot->hits);
    }
    buf_add(json, STR("]}\n"));
    (void)pthread_mutex_unlock(&plan->lock);
}
