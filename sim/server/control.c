/* The pages below /_sim/: clock, credentials, faults, audit, OAuth2 tokens, truth. */
#include "base/instant.h"
#include "sim/server/handler.h"
#include "sim/truth/truth.h"
#include "sim/util/time_option.h"

static const struct str JSON = STR_INIT("application/json");

static void refuse(struct http_call *call, int status, const char *why)
{
    call_respond(call, status, STR("text/plain"), arena_printf(call->arena, "%s\n", why));
}

/* ---- /_sim/clock ---- */

static bool change_clock(struct handler *handler, const struct http_call *call)
{
    int64_t us;

    if (call_has_param(call, STR("set"))) {
        if (!time_option_parse(call_param(call, STR("set")), &us))
            return false;
        sim_clock_set(&handler->clock, us);
    }
    if (call_has_param(call, STR("advance"))) {
        if (!duration_option_parse(call_param(call, STR("advance")), &us))
            return false;
        (void)sim_clock_advance(&handler->clock, us);
    }
    if (call_has_param(call, STR("rate"))) {
        if (!str_to_i64(call_param(call, STR("rate")), &us) || us < 0 || us > 1000000)
            return false;
        sim_clock_set_rate(&handler->clock, us);
    }
    return true;
}

static void respond_clock(struct handler *handler, struct http_call *call)
{
    char text[INSTANT_TEXT_MAX];
    int64_t now_us;

    if (str_eq(call->method, STR("POST")) && !change_clock(handler, call)) {
        refuse(call, 400, "needs set=TIME, advance=DURATION or rate=NUMBER");
        return;
    }
    now_us = sim_clock_now(&handler->clock);
    (void)instant_format(now_us, text);
    call_respond(
        call, 200, JSON,
        arena_printf(call->arena, "{\"now\":\"%s\",\"now_us\":%lld}\n", text, (long long)now_us));
}

/* ---- /_sim/faults ---- */

static void respond_faults(struct handler *handler, struct http_call *call)
{
    struct error err;

    if (str_eq(call->method, STR("DELETE"))) {
        fault_plan_clear(handler->faults);
    } else if (str_eq(call->method, STR("POST"))) {
        if (!fault_plan_add(handler->faults, call->body, &err)) {
            refuse(call, 400, err.text);
            return;
        }
    }
    call_respond(call, 200, JSON, STR(""));
    fault_plan_write_json(handler->faults, &call->response);
}

/* ---- /_sim/audit ---- */

static bool is_set(const struct http_call *call, struct str name)
{
    return str_eq(call_param(call, name), STR("1"));
}

static void respond_audit(struct handler *handler, struct http_call *call)
{
    call_respond(call, 200, JSON, STR(""));
    audit_write_json(handler->audit, is_set(call, STR("requests")), &call->response);
    if (is_set(call, STR("cause")))
        audit_allow_repeats(handler->audit);
    if (is_set(call, STR("reset")))
        audit_reset(handler->audit);
}

/* ---- /_sim/oauth ---- */

static void respond_token(struct handler *handler, struct http_call *call)
{
    auth_token(handler->auth, call);
}

static void respond_revoke(struct handler *handler, struct http_call *call)
{
    auth_revoke_all(handler->auth);
    call_respond(call, 200, JSON, STR("{\"revoked\":\"all\"}\n"));
}

/* ---- /_sim/credentials ---- */

static void respond_credentials(struct handler *handler, struct http_call *call)
{
    call_respond(call, 200, JSON, STR(""));
    auth_write_json(handler->auth, &call->response);
}

/* ---- /_sim/truth ---- */

static void respond_truth(struct handler *handler, struct http_call *call)
{
    struct error err;

    if (!truth_respond(handler->world, call, &err))
        refuse(call, 500, err.text);
}

/* ---- the table ---- */

static const struct {
    struct str path;
    void (*respond)(struct handler *handler, struct http_call *call);
} pages[] = {
    { STR_INIT("/_sim/audit"), respond_audit },
    { STR_INIT("/_sim/clock"), respond_clock },
    { STR_INIT("/_sim/credentials"), respond_credentials },
    { STR_INIT("/_sim/faults"), respond_faults },
    { STR_INIT("/_sim/oauth/revoke"), respond_revoke },
    { STR_INIT("/_sim/oauth/token"), respond_token },
    { STR_INIT("/_sim/truth"), respond_truth },
};

void control_respond(struct handler *handler, struct http_call *call)
{
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        if (str_eq(call->path, pages[i].path)) {
            pages[i].respond(handler, call);
            return;
        }
    }
    refuse(call, 404, "there is no such page below /_sim/");
}
