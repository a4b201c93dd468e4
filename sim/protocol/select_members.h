/* select_members: a record reduced to the requested members, select=DOI,title. */
#ifndef PATRA_SIM_PROTOCOL_SELECT_MEMBERS_H
#define PATRA_SIM_PROTOCOL_SELECT_MEMBERS_H

#include "base/buf.h"

/* `body` is an object in our own compact JSON; its members keep their order. */
void select_members(struct buf *out, struct str body, struct str select);

#endif
