#include "sim/server/handler.h"

#include "base/instant.h"
#include "sim/fault/fault_apply.h"
#include "sim/http/request.h"
#include "sim/protocol/protocol.h"
#include "sim/util/time_option.h"

static bool is_control(const struct exchange *exchange)
{
    return str_starts(exchange->path, STR("/_sim/"));
}

/* A client on virtual time of its own says what its clock shows; else ours counts. */
static int64_t time_of(struct site *site, const struct exchange *exchange)
{
    const struct str told = exchange_header(exchange, STR("X-Sim-Now"));
    int64_t at_us;

    return told.len > 0 && moment_parse(told, &at_us) ? at_us : sim_clock_now(&site->clock);
}

static void note_coming(struct site *site, struct visit *visit)
{
    const struct exchange *exchange = visit->exchange;
    const struct audit_facts facts = {
        .other_host = visit->other_host,
        .carries_secret = auth_carries_secret(site->auth, exchange),
        .secret_needs_tls = auth_is_tls_only(site->auth, exchange->path),
        .client = visit->client,
        .clock_us = sim_clock_now(&site->clock),
    };

    audit_enter(site->audit, exchange, &facts, &visit->ticket);
}

/* The plan decides, unless the request asks for a fault itself. */
static struct fault choose_fault(struct site *site, struct visit *visit)
{
    const struct str line = exchange_header(visit->exchange, STR("X-Sim-Fault"));
    struct fault fault =
        fault_plan_decide(site->faults, visit->exchange, visit->other_host, visit->identity);
    struct error err;

    if (line.len == 0)
        return fault;
    if (!fault_from_line(site->faults, line, &fault, &err)) {
        fault = (struct fault){ 0 };
        visit->refused = arena_printf(visit->exchange->arena, "%s\n", err.text);
    }
    return fault;
}

void site_enter(struct site *site, struct visit *visit)
{
    struct exchange *exchange = visit->exchange;

    exchange->now_us = time_of(site, exchange);
    exchange->other_base = site->other_base;
    exchange->status = 200;
    if (is_control(exchange))
        return;
    note_coming(site, visit);
    visit->identity = request_identity(exchange);
    visit->fault = choose_fault(site, visit);
    exchange->twist = (enum exchange_twist)visit->fault.twist;
    exchange->roll = visit->fault.roll;
}

static void ask_protocol(struct site *site, struct exchange *exchange)
{
    const struct protocol *protocol = protocol_find(exchange->path);
    struct error err;
    bool ok = true;

    if (protocol != NULL)
        ok = protocol->answer(site->world, exchange, &err);
    else if (str_eq(exchange->path, STR("/oauth/token")))
        auth_token(site->auth, exchange);
    else if (echo_owns(exchange->path))
        ok = echo_answer(&site->echo, exchange, &err);
    else
        exchange_answer(exchange, 404, STR("text/plain"), STR("no protocol has this path\n"));
    if (!ok)
        exchange_answer(exchange, 500, STR("text/plain"), str_of(err.text));
}

/* As Crossref does it: HTML for JSON, often without a word on when to come back. */
static void refuse(struct exchange *exchange, int64_t retry_us)
{
    exchange_answer(exchange, 429, STR("text/html; charset=utf-8"),
                    STR("<html><body><h1>429 Too Many Requests</h1></body></html>\n"));
    if (retry_us > 0)
        exchange_out(exchange, STR("Retry-After"),
                     arena_printf(exchange->arena, "%lld",
                                  (long long)((retry_us + US_PER_SECOND - 1) / US_PER_SECOND)));
}

void site_answer(struct site *site, struct visit *visit)
{
    struct exchange *exchange = visit->exchange;

    if (is_control(exchange)) {
        control_answer(site, exchange);
        return;
    }
    if (visit->refused.len > 0) {
        exchange_answer(exchange, 400, STR("text/plain"), visit->refused);
        return;
    }
    if (visit->ticket.refused) {
        refuse(exchange, visit->ticket.retry_us);
        return;
    }
    if (spoil_replaces(&visit->fault, exchange))
        return;
    exchange->status = 200;
    /* The other host asks for no credential: who is lured there shall get an answer. */
    if (visit->other_host || auth_check(site->auth, exchange))
        ask_protocol(site, exchange);
    spoil_answer(&visit->fault, exchange);
}

void site_leave(struct site *site, struct visit *visit, bool complete)
{
    if (visit->ticket.ordinal != 0)
        audit_leave(site->audit, &visit->ticket, visit->exchange, &visit->fault, visit->identity,
                    complete);
}

void site_broken(struct site *site, struct visit *visit)
{
    if (visit->ticket.ordinal != 0)
        audit_broken(site->audit, &visit->ticket, visit->exchange);
}
