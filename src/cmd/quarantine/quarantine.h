/* patra quarantine: records that could not be judged, and what becomes of them. What its files
 * share. */
#ifndef PATRA_CMD_QUARANTINE_QUARANTINE_H
#define PATRA_CMD_QUARANTINE_QUARANTINE_H

#include "cli/command.h"
#include "cli/session.h"
#include "view/quarantine.h"

extern const struct command COMMAND_QUARANTINE;

extern const struct command QUARANTINE_RETRY; /* quarantine_settle.c */
extern const struct command QUARANTINE_DROP;  /* quarantine_settle.c */

#define QUARANTINE_FILTER_OPTIONS                                           \
    { "endpoint", "ENDPOINT", "Only records of this endpoint." },           \
    {                                                                       \
        "reason", "CODE", "Only records with this reason: id.missing, ...." \
    }
struct quarantine_filter quarantine_filter_read(const struct invocation *invocation,
                                                struct str source);

#endif
