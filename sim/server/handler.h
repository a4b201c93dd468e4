/* handler: what handles requests: clock, fault plan, audit, credentials, protocols.
 *
 * One handler is shared by all connections and threads. For each request the server calls
 * handler_begin(), then handler_respond(), sends the response, and calls handler_end() before its
 * last bytes.
 */
#ifndef PATRA_SIM_SERVER_HANDLER_H
#define PATRA_SIM_SERVER_HANDLER_H

#include "base/log.h"
#include "sim/audit/audit.h"
#include "sim/auth/auth.h"
#include "sim/fault/fault_plan.h"
#include "sim/http/call.h"
#include "sim/server/echo_blob.h"
#include "sim/server/response.h"
#include "sim/util/clock.h"
#include "sim/world/world.h"

struct handler {
    struct sim_clock clock;
    struct fault_plan *faults;
    struct audit *audit;
    struct auth *auth;
    struct echo_blob echo;
    struct sim_world *world;
    struct response_options response;
    struct str main_base;  /* "http://127.0.0.1:4711" */
    struct str other_base; /* of the other host; empty: none */
    struct log *log;
};

/* One request while it is handled. */
struct served_request {
    struct http_call *call;
    bool other_host;
    struct str client; /* "127.0.0.1:50000" */
    struct fault fault;
    struct str refused; /* why the request is refused; empty: it is not */
    uint64_t identity;
    struct audit_ticket ticket;
};

void handler_begin(struct handler *handler, struct served_request *served);
void handler_respond(struct handler *handler, struct served_request *served);
void handler_end(struct handler *handler, struct served_request *served, bool complete);
void handler_broken(struct handler *handler,
                    struct served_request *served); /* the client did not take it */

/* The pages below /_sim/, which are not audited and never spoiled. */
void control_respond(struct handler *handler, struct http_call *call);

#endif
