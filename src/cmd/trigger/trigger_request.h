/* trigger_request: what the options of a command that plans ask for. */
#ifndef PATRA_CMD_TRIGGER_TRIGGER_REQUEST_H
#define PATRA_CMD_TRIGGER_TRIGGER_REQUEST_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/session.h"
#include "engine/plan.h"

/* The rows every such command has in its table. */
#define TRIGGER_OPTIONS                                                                    \
    { "from", "INSTANT", "Not before this: a date, or how long ago (7d)." },               \
        { "to", "INSTANT", "Not from this on." },                                          \
        { "campaign", "NAME",                                                              \
          "backfill, replay: continue, or begin, this one; else the bounds name it." },    \
        { "ids", "FILE", "update, metrics: these records, one id per line; - is stdin." }, \
        { "stale", "DURATION",                                                             \
          "update, metrics: records not checked for this long, and no others." },          \
    {                                                                                      \
        "set", "KEY=VALUE", "Change a setting for this plan; may be repeated."             \
    }

struct trigger_ids {     /* ids of a file, one per line */
    struct plan_ids ids; /* first: the iterator */
    FILE *file;
    const char *path;
    char *line;
    size_t capacity;
};

struct trigger_request {
    struct plan_request plan; /* points into the request: it stays where it was read */
    struct trigger_ids ids;
};

/* The first operand is the source. False for what was mistyped: EXIT_USAGE. */
bool trigger_request_read(struct trigger_request *request, const struct invocation *invocation,
                          struct session *session, struct str operation,
                          struct error *err) MUST_CHECK;
void trigger_request_close(struct trigger_request *request); /* accepts the zero value */

/* A source that does not compile: all that is wrong at once, as lint shows it. */
void trigger_print_faults(const struct invocation *invocation, struct session *session,
                          const struct plan_result *result);

#endif
