/* patra quarantine: records that could not be judged, and what becomes of them. What its files
 * share. */
#ifndef PATRA_CMD_QUARANTINE_QUARANTINE_H
#define PATRA_CMD_QUARANTINE_QUARANTINE_H

#include "cli/command.h"
#include "cli/session.h"
#include "data/json_write.h"
#include "port/store_quarantine.h"

extern const struct command COMMAND_QUARANTINE;

extern const struct command QUARANTINE_RETRY; /* quarantine_settle.c */
extern const struct command QUARANTINE_DROP;  /* quarantine_settle.c */

#define QUARANTINE_OUTPUT_MAX ((size_t)256 << 20)

/* Operands of digits alone are numbers of records; a source's code begins with a letter. */
bool quarantine_read_id(const char *operand, int64_t *id);

/* --endpoint and --reason. */
#define QUARANTINE_FILTER_OPTIONS                                            \
    { "endpoint", "ENDPOINT", "Of this endpoint." },                         \
    {                                                                        \
        "reason", "CODE", "Put aside for this reason only: id.missing, ...." \
    }
struct quarantine_filter quarantine_filter_read(const struct invocation *invocation,
                                                struct str source);

#endif
