/* Keeps the record of requests and judges each against the rules of politeness. */
#include "sim/audit/audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "sim/audit/audit_internal.h"
#include "sim/http/http_date.h"
#include "sim/util/clock.h"
#include "sim/util/hash.h"
#include "sim/util/key_values.h"
#include "sim/util/time_option.h"

enum { TEXT_BYTES_MAX = 1024 }; /* of one field in the list */

const char *const AUDIT_RULE_NAMES[RULE_COUNT + 1] = {
    "rate",  "concurrency", "retry_after", "credential_host", "credential_plain",
    "agent", "contact",     "repeat",
};

int audit_rule_named(struct str name)
{
    return key_values_choice(name, AUDIT_RULE_NAMES);
}

/* ---- opening ---- */

bool audit_open(const struct audit_options *options, struct audit **opened, struct error *err)
{
    struct audit *audit = calloc(1, sizeof(*audit));
    struct limit *limits = calloc(LIMITS_MAX, sizeof(*limits));

    if (audit == NULL || limits == NULL) {
        free(audit);
        free(limits);
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for the audit");
    }
    audit->options = *options;
    audit->limits = limits;
    audit->start_us = sim_clock_real();
    audit->generation = 1;
    arena_init(&audit->arena, options->bytes_max);
    tally_init(&audit->pages, PAGES_MAX);
    (void)pthread_mutex_init(&audit->lock, NULL);
    *opened = audit;
    return true;
}

void audit_close(struct audit *audit)
{
    if (audit == NULL)
        return;
    for (size_t i = 0; i < audit->limit_count; i++) {
        rate_check_release(&audit->limits[i].rate_checks[0]);
        rate_check_release(&audit->limits[i].rate_checks[1]);
    }
    free(audit->limits);
    arena_release(&audit->arena);
    tally_release(&audit->pages);
    (void)pthread_mutex_destroy(&audit->lock);
    free(audit);
}

static bool set_limit_word(struct limit *limit, struct key_value pair)
{
    if (str_eq(pair.name, STR("path"))) {
        limit->path = pair.value;
        return pair.value.len > 0;
    }
    if (str_eq(pair.name, STR("rate")))
        return key_values_number(pair.value, &limit->rate);
    if (str_eq(pair.name, STR("burst")))
        return key_values_number(pair.value, &limit->burst) && limit->burst >= 1;
    if (str_eq(pair.name, STR("window")))
        return duration_option_parse(pair.value, &limit->window_us) && limit->window_us > 0;
    if (str_eq(pair.name, STR("slack")))
        return duration_option_parse(pair.value, &limit->slack_us) && limit->slack_us >= 0;
    if (str_eq(pair.name, STR("enforce"))) {
        limit->enforce = true;
        return pair.value.len == 0 ||
               (duration_option_parse(pair.value, &limit->retry_us) && limit->retry_us >= 0);
    }
    if (str_eq(pair.name, STR("concurrency")))
        return str_to_i64(pair.value, &limit->concurrency) && limit->concurrency > 0;
    return false;
}

bool audit_add_limit(struct audit *audit, struct str line, struct error *err)
{
    struct limit *limit = &audit->limits[audit->limit_count];
    struct key_value pair;
    double per_us, burst;

    if (audit->limit_count == LIMITS_MAX)
        return error_set(err, ERROR_REQUEST, "limit.many", "more than %d limits", LIMITS_MAX);
    *limit = (struct limit){ .path = STR("/"), .rate = -1, .window_us = US_PER_SECOND, .burst = 1 };
    while (key_values_next(&line, &pair)) {
        if (!set_limit_word(limit, pair))
            return error_set(err, ERROR_REQUEST, "limit.word", "%.*s=%.*s is not valid",
                             STR_ARG(pair.name), STR_ARG(pair.value));
    }
    if (limit->rate < 0 && limit->concurrency == 0)
        return error_set(err, ERROR_REQUEST, "limit.empty", "needs rate= or concurrency=");
    per_us = limit->rate / (double)limit->window_us;
    burst = limit->burst + per_us * (double)limit->slack_us;
    rate_check_init(&limit->rate_checks[0], per_us, burst);
    rate_check_init(&limit->rate_checks[1], per_us, burst);
    audit->limit_count++;
    return true;
}

/* ---- scopes and violations; the callers hold the lock ---- */

static void add_violation(struct audit *audit, const struct violation *violation)
{
    if (audit->options.off[violation->rule])
        return;
    audit->broken[violation->rule]++;
    if (audit->violation_count == VIOLATIONS_MAX)
        audit->dropped_violations++;
    else
        audit->violations[audit->violation_count++] = *violation;
}

static struct str keep(struct audit *audit, struct str text)
{
    return arena_copy(&audit->arena, str_slice(text, 0, TEXT_BYTES_MAX));
}

static struct audit_entry *list(struct audit *audit, const struct http_call *call,
                                const struct audit_facts *facts, const struct audit_ticket *ticket)
{
    struct audit_entry *entry = ARENA_NEW(&audit->arena, struct audit_entry);

    if (entry != NULL)
        *entry = (struct audit_entry){
            .ordinal = ticket->ordinal,
            .real_us = sim_clock_real() - audit->start_us,
            .virtual_us = call->now_us,
            .method = keep(audit, call->method),
            .host = keep(audit, call->host),
            .path = keep(audit, call->path),
            .query = keep(audit, call->query),
            .client = keep(audit, facts->client),
            .agent = keep(audit, call_header(call, STR("User-Agent"))),
            .scheme = str_eq(call->scheme, STR("https")) ? "https" : "http",
            .fault = "",
            .on_client_time = ticket->on_client_time,
            .other_host = facts->other_host,
        };
    if (audit->arena.failed) {
        audit->dropped_requests++;
        return NULL;
    }
    if (audit->last != NULL)
        audit->last->next = entry;
    else
        audit->first = entry;
    audit->last = entry;
    return entry;
}

static struct str scope_name(const struct audit *audit, struct str path)
{
    struct str best = STR("");
    struct str segment = str_slice(path, 1, path.len);

    for (size_t i = 0; i < audit->limit_count; i++) {
        if (str_starts(path, audit->limits[i].path) && audit->limits[i].path.len > best.len)
            best = audit->limits[i].path;
    }
    segment = str_cut(&segment, '/');
    best = best.len > 1 ? best : str_slice(path, 0, segment.len + 1);
    return str_slice(best, 0, SCOPE_BYTES_MAX);
}

static struct scope *scope_of(struct audit *audit, struct str path)
{
    const struct str name = scope_name(audit, path);
    struct scope *scope;

    for (size_t i = 0; i < audit->scope_count; i++) {
        scope = &audit->scopes[i];
        if (str_eq(name, (struct str){ scope->name, scope->len }))
            return scope;
    }
    if (audit->scope_count == SCOPES_MAX) /* paths beyond the limit share the last scope */
        return &audit->scopes[SCOPES_MAX - 1];
    scope = &audit->scopes[audit->scope_count++];
    *scope = (struct scope){ .len = name.len };
    memcpy(scope->name, name.data, name.len);
    return scope;
}

/* ---- a request arrives ---- */

static void refuse(const struct limit *limit, struct audit_ticket *ticket)
{
    if (!limit->enforce)
        return;
    ticket->refused = true;
    if (limit->retry_us > ticket->retry_us)
        ticket->retry_us = limit->retry_us;
}

static void judge_rate(struct audit *audit, struct limit *limit, struct audit_ticket *ticket)
{
    struct rate_check *rate_check = &limit->rate_checks[ticket->on_client_time];
    struct rate_check_excess excess;

    if (limit->rate < 0 || !rate_check_add(rate_check, ticket->at_us, ticket->ordinal, &excess))
        return;
    refuse(limit, ticket);
    if (limit->enforce)
        rate_check_remove(rate_check, ticket->ordinal);
    add_violation(audit, &(struct violation){ .rule = RULE_RATE,
                                              .ordinal = excess.last,
                                              .other = excess.first,
                                              .count = excess.count,
                                              .allowed = excess.allowed,
                                              .span_us = excess.span_us,
                                              .path = limit->path });
}

static void judge_concurrency(struct audit *audit, struct limit *limit, struct audit_ticket *ticket)
{
    if (limit->in_progress_count == IN_PROGRESS_MAX)
        return;
    limit->in_progress[limit->in_progress_count++] = ticket->ordinal;
    if (limit->in_progress_count > limit->in_progress_peak)
        limit->in_progress_peak = limit->in_progress_count;
    if (limit->concurrency == 0 || (int64_t)limit->in_progress_count <= limit->concurrency)
        return;
    refuse(limit, ticket);
    add_violation(audit, &(struct violation){ .rule = RULE_CONCURRENCY,
                                              .ordinal = ticket->ordinal,
                                              .other = limit->in_progress[0],
                                              .count = (int64_t)limit->in_progress_count,
                                              .allowed = (double)limit->concurrency,
                                              .path = limit->path });
}

static void judge_retry_after(struct audit *audit, const struct audit_ticket *ticket,
                              struct str path)
{
    const struct scope *scope = scope_of(audit, path);

    for (size_t i = 0; i < WAITS_MAX; i++) {
        const struct wait *wait = &scope->waits[ticket->on_client_time][i];

        if (wait->ordinal == 0 || ticket->at_us >= wait->until_us ||
            ticket->at_us <= wait->given_us + audit->options.grace_us)
            continue;
        add_violation(audit,
                      &(struct violation){ .rule = RULE_RETRY_AFTER,
                                           .ordinal = ticket->ordinal,
                                           .other = wait->ordinal,
                                           .count = ticket->at_us - wait->given_us,
                                           .allowed = (double)(wait->until_us - wait->given_us),
                                           .span_us = wait->until_us - ticket->at_us,
                                           .path = { scope->name, scope->len } });
        return; /* report it once */
    }
}

static bool has_contact(const struct http_call *call, struct str agent)
{
    return str_find_char(agent, '@') < agent.len || str_find(agent, STR("http://")) < agent.len ||
           str_find(agent, STR("https://")) < agent.len || call_header(call, STR("From")).len > 0 ||
           call_param(call, STR("mailto")).len > 0 || call_param(call, STR("email")).len > 0;
}

static void judge_identification(struct audit *audit, const struct http_call *call,
                                 const struct audit_facts *facts, uint64_t ordinal)
{
    const struct str agent = call_header(call, STR("User-Agent"));
    struct violation violation = { .ordinal = ordinal };

    if (agent.len == 0) {
        violation.rule = RULE_AGENT;
        add_violation(audit, &violation);
    }
    if (!has_contact(call, agent)) {
        violation.rule = RULE_CONTACT;
        add_violation(audit, &violation);
    }
    if (facts->carries_secret && facts->other_host) {
        violation.rule = RULE_CREDENTIAL_HOST;
        violation.other = audit->last_redirect;
        add_violation(audit, &violation);
    }
    if (facts->carries_secret && facts->secret_needs_tls && !str_eq(call->scheme, STR("https"))) {
        violation.rule = RULE_CREDENTIAL_PLAIN;
        violation.other = 0;
        add_violation(audit, &violation);
    }
}

void audit_begin(struct audit *audit, const struct http_call *call, const struct audit_facts *facts,
                 struct audit_ticket *ticket)
{
    (void)pthread_mutex_lock(&audit->lock);
    *ticket = (struct audit_ticket){
        .ordinal = ++audit->requests,
        .generation = audit->generation,
        .on_client_time = call_header(call, STR("X-Sim-Now")).len > 0,
        .other_host = facts->other_host,
    };
    ticket->at_us = ticket->on_client_time        ? call->now_us
                    : audit->options.virtual_time ? facts->clock_us
                                                  : sim_clock_real();
    ticket->entry = list(audit, call, facts, ticket);
    judge_identification(audit, call, facts, ticket->ordinal);
    for (size_t i = 0; !facts->other_host && i < audit->limit_count; i++) {
        if (str_starts(call->path, audit->limits[i].path)) {
            judge_rate(audit, &audit->limits[i], ticket);
            judge_concurrency(audit, &audit->limits[i], ticket);
        }
    }
    if (!facts->other_host)
        judge_retry_after(audit, ticket, call->path);
    (void)pthread_mutex_unlock(&audit->lock);
}

/* ---- a response leaves ---- */

static void remove_in_progress(struct limit *limit, uint64_t ordinal)
{
    for (size_t i = 0; i < limit->in_progress_count; i++) {
        if (limit->in_progress[i] != ordinal)
            continue;
        limit->in_progress_count--;
        memmove(limit->in_progress + i, limit->in_progress + i + 1,
                (limit->in_progress_count - i) * sizeof(limit->in_progress[0]));
        return;
    }
}

/* How long the response asks the client to wait, from now on; 0: it does not. */
static int64_t retry_after_of(const struct http_call *call)
{
    const struct str sent = call_response_header(call, STR("Retry-After"));
    int64_t value;

    if (call->status < 300 || sent.len == 0)
        return 0;
    if (str_to_i64(sent, &value))
        return value > 0 && value < INT32_MAX ? value * US_PER_SECOND : 0;
    return sim_http_date_parse(sent, &value) && value > call->now_us ? value - call->now_us : 0;
}

static void note_retry_after(struct audit *audit, const struct audit_ticket *ticket,
                             struct scope *scope, const struct http_call *call)
{
    const int64_t wait_us = retry_after_of(call);
    const int64_t now_us =
        ticket->on_client_time || audit->options.virtual_time ? ticket->at_us : sim_clock_real();
    struct wait *place = &scope->waits[ticket->on_client_time][0];

    if (wait_us == 0)
        return;
    for (size_t i = 1; i < WAITS_MAX; i++) { /* replaces the one that ends first */
        if (scope->waits[ticket->on_client_time][i].until_us < place->until_us)
            place = &scope->waits[ticket->on_client_time][i];
    }
    *place = (struct wait){ ticket->ordinal, now_us, now_us + wait_us };
}

/* The page was served in full: a violation when it was already fetched. */
static void judge_repeat(struct audit *audit, const struct audit_ticket *ticket,
                         const struct scope *scope, const struct http_call *call, uint64_t page)
{
    struct tally_entry *served = tally_at(&audit->pages, page);
    bool cause;

    if (served == NULL) {
        audit->dropped_pages++;
        return;
    }
    cause = served->count == 0 || served->ordinal <= scope->last_failure ||
            llabs(call->now_us - served->at_us) >= audit->options.repeat_window_us;
    if (!cause && !(call->confirmable && (int64_t)served->count <= audit->options.repeats))
        add_violation(audit, &(struct violation){ .rule = RULE_REPEAT,
                                                  .ordinal = ticket->ordinal,
                                                  .other = served->ordinal,
                                                  .count = (int64_t)served->count + 1,
                                                  .allowed = 1,
                                                  .path = { scope->name, scope->len } });
    served->count = cause ? 1 : served->count + 1;
    served->ordinal = ticket->ordinal;
    served->at_us = call->now_us;
}

static void note_response(struct audit *audit, const struct audit_ticket *ticket,
                          const struct http_call *call, const struct fault *fault, bool complete)
{
    struct audit_entry *entry = ticket->generation == audit->generation ? ticket->entry : NULL;

    audit->faults += fault->rule != 0;
    audit->incomplete += !complete;
    if (call->status >= 0 && call->status < STATUSES_MAX)
        audit->statuses[call->status]++;
    if (entry == NULL)
        return;
    entry->status = call->status;
    entry->fault = fault_name(fault);
    entry->rule = fault->rule;
    entry->complete = complete;
    entry->bytes = call_body(call).len;
}

static uint64_t page_of(const struct http_call *call, uint64_t identity)
{
    return call->page == PAGE_BY_KEY ? hash_bytes(hash_bytes(2, call->path), call->page_key)
                                     : identity;
}

void audit_end(struct audit *audit, const struct audit_ticket *ticket, const struct http_call *call,
               const struct audit_outcome *outcome)
{
    const struct fault *fault = outcome->fault;
    const bool failed =
        fault->rule != 0 || !outcome->complete || call->status < 200 || call->status >= 300;

    (void)pthread_mutex_lock(&audit->lock);
    note_response(audit, ticket, call, fault, outcome->complete);
    if (!ticket->other_host) {
        struct scope *scope = scope_of(audit, call->path);

        for (size_t i = 0; i < audit->limit_count; i++)
            remove_in_progress(&audit->limits[i], ticket->ordinal);
        note_retry_after(audit, ticket, scope, call);
        if (failed)
            scope->last_failure = ticket->ordinal;
        else if (call->page != PAGE_NONE && call->status == 200)
            judge_repeat(audit, ticket, scope, call, page_of(call, outcome->identity));
    }
    if (fault->kind == FAULT_REDIRECT || fault->content_fault == CONTENT_FAULT_NEXT_ELSEWHERE)
        audit->last_redirect = ticket->ordinal;
    (void)pthread_mutex_unlock(&audit->lock);
}

void audit_broken(struct audit *audit, const struct audit_ticket *ticket,
                  const struct http_call *call)
{
    (void)pthread_mutex_lock(&audit->lock);
    if (ticket->generation == audit->generation && ticket->entry != NULL)
        ticket->entry->complete = false;
    audit->incomplete++;
    scope_of(audit, call->path)->last_failure = ticket->ordinal;
    (void)pthread_mutex_unlock(&audit->lock);
}

/* ---- what the tester may change ---- */

void audit_allow_repeats(struct audit *audit)
{
    (void)pthread_mutex_lock(&audit->lock);
    tally_clear(&audit->pages);
    (void)pthread_mutex_unlock(&audit->lock);
}

void audit_reset(struct audit *audit)
{
    (void)pthread_mutex_lock(&audit->lock);
    audit->generation++;
    audit->forgotten = audit->requests;
    audit->faults = audit->incomplete = 0;
    audit->dropped_requests = audit->dropped_violations = audit->dropped_pages = 0;
    audit->violation_count = 0;
    audit->scope_count = 0;
    audit->last_redirect = 0;
    memset(audit->statuses, 0, sizeof(audit->statuses));
    memset(audit->broken, 0, sizeof(audit->broken));
    tally_clear(&audit->pages);
    arena_reset(&audit->arena);
    audit->first = audit->last = NULL;
    for (size_t i = 0; i < audit->limit_count; i++) {
        rate_check_clear(&audit->limits[i].rate_checks[0]);
        rate_check_clear(&audit->limits[i].rate_checks[1]);
        audit->limits[i].in_progress_peak = audit->limits[i].in_progress_count;
    }
    (void)pthread_mutex_unlock(&audit->lock);
}
