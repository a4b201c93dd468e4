/* trigger_request: the options of a command that plans. */
#ifndef PATRA_CMD_TRIGGER_TRIGGER_REQUEST_H
#define PATRA_CMD_TRIGGER_TRIGGER_REQUEST_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/session.h"
#include "engine/plan/plan.h"

/* The options that every such command has. */
#define TRIGGER_OPTIONS                                                                            \
    { "from", "INSTANT", "Start of the window: a date, or how long ago (7d)." },                   \
        { "to", "INSTANT", "End of the window, exclusive." },                                      \
        { "campaign", "NAME",                                                                      \
          "backfill, replay: start or continue this campaign; its bounds name it if not given." }, \
        { "ids", "FILE", "update, metrics: only these records, one id per line; - is stdin." },    \
        { "stale", "DURATION", "update, metrics: only records not checked for this long." },       \
    {                                                                                              \
        "set", "KEY=VALUE", "Override a setting for this plan; may be repeated."                   \
    }

struct trigger_ids {      /* ids of a file, one per line */
    struct id_reader ids; /* first: the iterator */
    FILE *file;
    const char *path;
    char *line;
    size_t capacity;
};

struct trigger_request {
    struct plan_request plan; /* points into the request, which must not be moved */
    struct trigger_ids ids;
};

/* The first operand is the source. */
bool trigger_request_read(struct trigger_request *request, const struct invocation *invocation,
                          struct session *session, struct str operation,
                          struct error *err) MUST_CHECK;
void trigger_request_close(struct trigger_request *request); /* accepts the zero value */

/* Prints everything that is wrong with a source that does not compile, as lint does. */
void trigger_print_faults(const struct invocation *invocation, struct session *session,
                          const struct plan_result *result);

#endif
