/* spoil: the faults that live in the answer's content; those of its transport are reply.h's. */
#ifndef PATRA_SIM_FAULT_FAULT_APPLY_H
#define PATRA_SIM_FAULT_FAULT_APPLY_H

#include "sim/fault/fault_plan.h"
#include "sim/http/call.h"

/* True when the fault answers in the protocol's stead (a status, a redirect) or ends the connection
 * before it would be asked; the answer is then already filled in. */
bool fault_replaces_response(const struct fault *fault, struct http_call *call);

/* Changes the protocol's answer (HTML, empty, garbage, wrong charset); no other kind does a thing.
 */
void fault_change_response(const struct fault *fault, struct http_call *call);

#endif
