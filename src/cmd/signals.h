/* signals: records that somebody, or a harvest, wants looked at again by an update. */
#ifndef PATRA_CMD_SIGNALS_H
#define PATRA_CMD_SIGNALS_H

#include "cli/command.h"
#include "cli/session.h"

extern const struct command COMMAND_SIGNAL;

/* Whether an update of the source takes its signals up: one by id that has `signal` among its
 * candidates. They are collected all the same, for the day on which there is one: what a source has
 * lost is known to nothing else. */
bool signals_are_taken(struct session *session, struct str source, bool *are_taken,
                       struct error *err) MUST_CHECK;

/* What to say where they are not; its arguments are STR_ARG(source), twice. */
#define SIGNALS_IDLE                                                               \
    "nobody looks at them: %.*s has no update by id; give it one, or let them be " \
    "(patra signal drop %.*s)"

#endif
