#include "sim/site.h"

#include "sim/moment.h"
#include "sim/request.h"
#include "sim/spoil.h"

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
    visit->fault = fault_plan_decide(site->faults, exchange, visit->other_host, visit->identity);
    exchange->twist = (enum exchange_twist)visit->fault.twist;
    exchange->roll = visit->fault.roll;
}

static void ask_protocol(struct site *site, struct exchange *exchange)
{
    struct error err;

    if (str_eq(exchange->path, STR("/oauth/token")))
        auth_token(site->auth, exchange);
    else if (!echo_owns(exchange->path))
        exchange_answer(exchange, 404, STR("text/plain"), STR("no protocol has this path\n"));
    else if (!echo_answer(&site->echo, exchange, &err))
        exchange_answer(exchange, 500, STR("text/plain"), str_of(err.text));
}

void site_answer(struct site *site, struct visit *visit)
{
    struct exchange *exchange = visit->exchange;

    if (is_control(exchange)) {
        control_answer(site, exchange);
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
