/* cursor: a person sets a cursor. */
#ifndef PATRA_ACT_CURSOR_H
#define PATRA_ACT_CURSOR_H

#include "engine/cursor/cursor_reset.h"
#include "view/cursor.h"

/* The one cursor that the filter finds. "cursor.unknown" (L2) for none; "cursor.many" (L2) for
 * several, which are then in *list. */
bool act_cursor_choose(const struct view_reader *reader, const struct view_cursor_filter *filter,
                       struct view_cursor_list *list, struct error *err) MUST_CHECK;

/* What a person wrote, as a value of the cursor's type: a date or how long ago, an id, a token.
 * "cursor.value" (L2). */
bool act_cursor_value(enum cursor_type type, struct str text, int64_t now_us,
                      struct cursor_value *value, struct error *err) MUST_CHECK;

#endif
