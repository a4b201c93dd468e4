/* projection: patra projection lint | apply | diff | list | show | export | rebuild |
 * rollback | remove. */
#ifndef PATRA_CMD_PROJECTION_PROJECTION_H
#define PATRA_CMD_PROJECTION_PROJECTION_H

#include "cli/command.h"
#include "cli/session.h"
#include "port/store_subscription.h"
#include "spec/projection.h"

extern const struct command COMMAND_PROJECTION;
extern const struct command COMMAND_PROJECTION_APPLY; /* projection_apply.c */
extern const struct command COMMAND_PROJECTION_DIFF;
extern const struct command COMMAND_PROJECTION_LINT;
extern const struct command COMMAND_PROJECTION_REBUILD; /* projection_rebuild.c */
extern const struct command COMMAND_PROJECTION_ROLLBACK;

/* The projection of this name as it is applied. L2 "projection.unknown" when there is none. */
bool projection_find(struct session *session, struct str name, struct subscription *row,
                     struct projection_spec *spec, struct error *err) MUST_CHECK;

/* A session on the database of its tables, to be ended by projection_sink_close(). */
bool projection_sink_open(struct session *session, const struct projection_spec *spec,
                          struct store **sink, struct error *err) MUST_CHECK;
void projection_sink_close(struct session *session, struct store *sink); /* accepts NULL */

#endif
