/* patra cursor: how far each source is, what holds it back, and setting it. What its files share.
 */
#ifndef PATRA_CMD_CURSOR_CURSOR_H
#define PATRA_CMD_CURSOR_CURSOR_H

#include "cli/command.h"
#include "cli/session.h"
#include "view/cursor.h"

extern const struct command COMMAND_CURSOR;

extern const struct command CURSOR_SHOW;    /* cursor_show.c */
extern const struct command CURSOR_VERIFY;  /* cursor_repair.c */
extern const struct command CURSOR_REBUILD; /* cursor_repair.c */
extern const struct command CURSOR_RESET;   /* cursor_reset.c */

/* The first operand, if there is one: SOURCE or SOURCE/OPERATION. None means all cursors. */
bool cursor_filter_read(const struct invocation *invocation, struct view_cursor_filter *filter,
                        struct error *err) MUST_CHECK;

/* "crossref harvest works.indexed EXPR 1a2b3c4d", in the arena. */
struct str cursor_title(struct arena *arena, const struct cursor_name *name);

/* The last part of it: "1a2b3c4d", or "-" for the namespace of the whole source. */
struct str cursor_short_namespace(const struct cursor_name *name);

#endif
