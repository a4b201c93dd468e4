/* fault_apply: faults in the content of a response. Those in its transport are in
 * server/response.h. */
#ifndef PATRA_SIM_FAULT_FAULT_APPLY_H
#define PATRA_SIM_FAULT_FAULT_APPLY_H

#include "sim/fault/fault_plan.h"
#include "sim/http/call.h"

/* True when the fault replaces the protocol's response (a status, a redirect) or ends the
 * connection before the protocol is called. The response is then already filled in. */
bool fault_replaces_response(const struct fault *fault, struct http_call *call);

/* Changes the protocol's response (HTML, empty, garbage, wrong charset). Other kinds do nothing. */
void fault_change_response(const struct fault *fault, struct http_call *call);

#endif
