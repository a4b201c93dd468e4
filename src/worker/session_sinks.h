/* session_sinks: opens the databases of projections, for views and changes (view/why.h). */
#ifndef PATRA_WORKER_SESSION_SINKS_H
#define PATRA_WORKER_SESSION_SINKS_H

#include "cli/session.h"
#include "view/why.h"

struct session_sinks {
    struct view_sinks sinks; /* first */
    struct session *session;
};

struct session_sinks session_sinks(struct session *session);

#endif
