/* The way of one request: audit, fault, credentials, protocol, fault again, audit. */
#include "sim/server/handler.h"

#include "base/instant.h"
#include "sim/fault/fault_apply.h"
#include "sim/http/request.h"
#include "sim/protocol/protocol.h"
#include "sim/util/time_option.h"

static bool is_control(const struct http_call *call)
{
    return str_starts(call->path, STR("/_sim/"));
}

/* A client with a virtual clock of its own sends its time; else the simulator's clock applies. */
static int64_t time_of(struct handler *handler, const struct http_call *call)
{
    const struct str sent = call_header(call, STR("X-Sim-Now"));
    int64_t at_us;

    return sent.len > 0 && time_option_parse(sent, &at_us) ? at_us : sim_clock_now(&handler->clock);
}

static void begin_audit(struct handler *handler, struct served_request *served)
{
    const struct http_call *call = served->call;
    const struct audit_facts facts = {
        .other_host = served->other_host,
        .carries_secret = auth_carries_secret(handler->auth, call),
        .secret_needs_tls = auth_is_tls_only(handler->auth, call->path),
        .client = served->client,
        .clock_us = sim_clock_now(&handler->clock),
    };

    audit_begin(handler->audit, call, &facts, &served->ticket);
}

/* The plan decides, unless the request names a fault itself. */
static struct fault choose_fault(struct handler *handler, struct served_request *served)
{
    const struct str line = call_header(served->call, STR("X-Sim-Fault"));
    struct fault fault =
        fault_plan_decide(handler->faults, served->call, served->other_host, served->identity);
    struct error err;

    if (line.len == 0)
        return fault;
    if (!fault_from_line(handler->faults, line, &fault, &err)) {
        fault = (struct fault){ 0 };
        served->refused = arena_printf(served->call->arena, "%s\n", err.text);
    }
    return fault;
}

void handler_begin(struct handler *handler, struct served_request *served)
{
    struct http_call *call = served->call;

    call->now_us = time_of(handler, call);
    call->other_base = handler->other_base;
    call->status = 200;
    if (is_control(call))
        return;
    begin_audit(handler, served);
    served->identity = request_identity(call);
    served->fault = choose_fault(handler, served);
    call->content_fault = (enum content_fault)served->fault.content_fault;
    call->random = served->fault.random;
}

static void call_protocol(struct handler *handler, struct http_call *call)
{
    const struct protocol *protocol = protocol_find(call->path);
    struct error err;
    bool ok = true;

    if (protocol != NULL)
        ok = protocol->respond(handler->world, call, &err);
    else if (str_eq(call->path, STR("/oauth/token")))
        auth_token(handler->auth, call);
    else if (echo_blob_owns(call->path))
        ok = echo_blob_respond(&handler->echo, call, &err);
    else
        call_respond(call, 404, STR("text/plain"), STR("no API is served at this path\n"));
    if (!ok)
        call_respond(call, 500, STR("text/plain"), str_of(err.text));
}

/* As Crossref does: HTML instead of JSON, often without Retry-After. */
static void refuse(struct http_call *call, int64_t retry_us)
{
    call_respond(call, 429, STR("text/html; charset=utf-8"),
                 STR("<html><body><h1>429 Too Many Requests</h1></body></html>\n"));
    if (retry_us > 0)
        call_add_header(call, STR("Retry-After"),
                        arena_printf(call->arena, "%lld",
                                     (long long)((retry_us + US_PER_SECOND - 1) / US_PER_SECOND)));
}

void handler_respond(struct handler *handler, struct served_request *served)
{
    struct http_call *call = served->call;

    if (is_control(call)) {
        control_respond(handler, call);
        return;
    }
    if (served->refused.len > 0) {
        call_respond(call, 400, STR("text/plain"), served->refused);
        return;
    }
    if (served->ticket.refused) {
        refuse(call, served->ticket.retry_us);
        return;
    }
    if (fault_replaces_response(&served->fault, call))
        return;
    call->status = 200;
    /* The other host needs no credential: a client that was led there must get a response. */
    if (served->other_host || auth_check(handler->auth, call))
        call_protocol(handler, call);
    fault_change_response(&served->fault, call);
}

void handler_end(struct handler *handler, struct served_request *served, bool complete)
{
    if (served->ticket.ordinal != 0)
        audit_end(handler->audit, &served->ticket, served->call,
                  &(struct audit_outcome){ .fault = &served->fault,
                                           .identity = served->identity,
                                           .complete = complete });
}

void handler_broken(struct handler *handler, struct served_request *served)
{
    if (served->ticket.ordinal != 0)
        audit_broken(handler->audit, &served->ticket, served->call);
}
