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

void site_enter(struct site *site, struct visit *visit)
{
    struct exchange *exchange = visit->exchange;

    exchange->now_us = time_of(site, exchange);
    exchange->other_base = site->other_base;
    exchange->status = 200;
    if (is_control(exchange))
        return;
    visit->identity = request_identity(exchange);
    visit->fault = fault_plan_decide(site->faults, exchange, visit->other_host, visit->identity);
    exchange->twist = (enum exchange_twist)visit->fault.twist;
    exchange->roll = visit->fault.roll;
}

static void ask_protocol(const struct site *site, struct exchange *exchange)
{
    struct error err;

    if (!echo_owns(exchange->path))
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
    ask_protocol(site, exchange);
    spoil_answer(&visit->fault, exchange);
}

void site_leave(struct site *site, struct visit *visit, bool complete)
{
    (void)site;
    (void)visit;
    (void)complete;
}
