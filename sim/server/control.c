#include "base/instant.h"
#include "sim/server/handler.h"
#include "sim/truth/truth.h"
#include "sim/util/time_option.h"

static const struct str JSON = STR_INIT("application/json");

static void refuse(struct exchange *exchange, int status, const char *why)
{
    exchange_answer(exchange, status, STR("text/plain"),
                    arena_printf(exchange->arena, "%s\n", why));
}

/* ---- /_sim/clock ---- */

static bool change_clock(struct site *site, const struct exchange *exchange)
{
    int64_t us;

    if (exchange_has_param(exchange, STR("set"))) {
        if (!moment_parse(exchange_param(exchange, STR("set")), &us))
            return false;
        sim_clock_set(&site->clock, us);
    }
    if (exchange_has_param(exchange, STR("advance"))) {
        if (!moment_parse_duration(exchange_param(exchange, STR("advance")), &us))
            return false;
        (void)sim_clock_advance(&site->clock, us);
    }
    if (exchange_has_param(exchange, STR("rate"))) {
        if (!str_to_i64(exchange_param(exchange, STR("rate")), &us) || us < 0 || us > 1000000)
            return false;
        sim_clock_set_rate(&site->clock, us);
    }
    return true;
}

static void answer_clock(struct site *site, struct exchange *exchange)
{
    char text[INSTANT_TEXT_MAX];
    int64_t now_us;

    if (str_eq(exchange->method, STR("POST")) && !change_clock(site, exchange)) {
        refuse(exchange, 400, "want set=TIME, advance=DURATION or rate=NUMBER");
        return;
    }
    now_us = sim_clock_now(&site->clock);
    (void)instant_format(now_us, text);
    exchange_answer(exchange, 200, JSON,
                    arena_printf(exchange->arena, "{\"now\":\"%s\",\"now_us\":%lld}\n", text,
                                 (long long)now_us));
}

/* ---- /_sim/faults ---- */

static void answer_faults(struct site *site, struct exchange *exchange)
{
    struct error err;

    if (str_eq(exchange->method, STR("DELETE"))) {
        fault_plan_clear(site->faults);
    } else if (str_eq(exchange->method, STR("POST"))) {
        if (!fault_plan_add(site->faults, exchange->body, &err)) {
            refuse(exchange, 400, err.text);
            return;
        }
    }
    exchange_answer(exchange, 200, JSON, STR(""));
    fault_plan_show(site->faults, &exchange->reply);
}

/* ---- /_sim/audit ---- */

static bool is_set(const struct exchange *exchange, struct str name)
{
    return str_eq(exchange_param(exchange, name), STR("1"));
}

static void answer_audit(struct site *site, struct exchange *exchange)
{
    exchange_answer(exchange, 200, JSON, STR(""));
    audit_show(site->audit, is_set(exchange, STR("requests")), &exchange->reply);
    if (is_set(exchange, STR("cause")))
        audit_pardon(site->audit);
    if (is_set(exchange, STR("reset")))
        audit_reset(site->audit);
}

/* ---- /_sim/oauth ---- */

static void answer_token(struct site *site, struct exchange *exchange)
{
    auth_token(site->auth, exchange);
}

static void answer_revoke(struct site *site, struct exchange *exchange)
{
    auth_revoke_all(site->auth);
    exchange_answer(exchange, 200, JSON, STR("{\"revoked\":\"all\"}\n"));
}

/* ---- /_sim/truth ---- */

static void answer_truth(struct site *site, struct exchange *exchange)
{
    struct error err;

    if (!truth_answer(site->world, exchange, &err))
        refuse(exchange, 500, err.text);
}

/* ---- the table ---- */

static const struct {
    struct str path;
    void (*answer)(struct site *site, struct exchange *exchange);
} pages[] = {
    { STR_INIT("/_sim/audit"), answer_audit },
    { STR_INIT("/_sim/clock"), answer_clock },
    { STR_INIT("/_sim/faults"), answer_faults },
    { STR_INIT("/_sim/oauth/revoke"), answer_revoke },
    { STR_INIT("/_sim/oauth/token"), answer_token },
    { STR_INIT("/_sim/truth"), answer_truth },
};

void control_answer(struct site *site, struct exchange *exchange)
{
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        if (str_eq(exchange->path, pages[i].path)) {
            pages[i].answer(site, exchange);
            return;
        }
    }
    refuse(exchange, 404, "no such page below /_sim/");
}
