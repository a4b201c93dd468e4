/* spoil: the faults that live in the answer's content; those of its transport are reply.h's. */
#ifndef PATRA_SIM_FAULT_FAULT_APPLY_H
#define PATRA_SIM_FAULT_FAULT_APPLY_H

#include "sim/fault/fault_plan.h"
#include "sim/http/call.h"

/* True when the fault answers in the protocol's stead (a status, a redirect) or ends the connection
 * before it would be asked; the answer is then already filled in. */
bool spoil_replaces(const struct fault *fault, struct exchange *exchange);

/* Changes the protocol's answer (HTML, empty, garbage, wrong charset); no other kind does a thing.
 */
void spoil_answer(const struct fault *fault, struct exchange *exchange);

#endif
