/* token: the next page's token of an API that keeps no state: where the page before ended, and when
 * the token was made, in base64. Clients must not look into it. */
#ifndef PATRA_SIM_PROTOCOL_TOKEN_H
#define PATRA_SIM_PROTOCOL_TOKEN_H

#include <stdbool.h>

#include "base/str.h"
#include "sim/http/call.h"
#include "sim/world/world.h"

/* After this record of a list in that order; `mark` is the protocol's own. */
struct str token_make(const struct sim_world *world, const struct http_call *call,
                      enum view_order order, struct hit last, int mark);

/* Sets the query's `after`, and *mark. False when it is not a token, or an expired one: older than
 * --token-life, or by the fault. */
bool token_read(const struct sim_world *world, const struct http_call *call, struct str token,
                struct view_query *query, int *mark);

#endif
