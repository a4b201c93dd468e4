/* trigger_request: the options of a command that plans. */
#ifndef PATRA_CMD_TRIGGER_TRIGGER_REQUEST_H
#define PATRA_CMD_TRIGGER_TRIGGER_REQUEST_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/session.h"
#include "engine/plan/plan.h"

/* The options of such a command, by what they are for. A command has those that can act. */
#define TRIGGER_WINDOW_OPTIONS                                                   \
    { "from", "INSTANT", "Start of the window: a date, or how long ago (7d)." }, \
    {                                                                            \
        "to", "INSTANT", "End of the window, exclusive."                         \
    }
#define TRIGGER_CAMPAIGN_OPTION(start)                                                   \
    {                                                                                    \
        "campaign", "NAME",                                                              \
            start " or continue this campaign; if not given, it is named by its bounds." \
    }
#define TRIGGER_IDS_OPTIONS(only)                                                 \
    { "ids", "FILE", only " these records, one id per line; - is stdin." },       \
    {                                                                             \
        "stale", "DURATION", only " records that were not checked for this long." \
    }
#define TRIGGER_SET_OPTION                                                       \
    {                                                                            \
        "set", "KEY=VALUE", "Override a setting for this plan; may be repeated." \
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

/* After a failure: what is paused can be done later, which is a result and not a failure of the
 * command. Prints the error then, and returns true; else false. */
bool trigger_waits(const struct invocation *invocation, const struct error *err,
                   enum exit_code *code);

/* Prints everything that is wrong with a source that does not compile, as lint does. */
void trigger_print_faults(const struct invocation *invocation, struct session *session,
                          const struct plan_result *result);

#endif
