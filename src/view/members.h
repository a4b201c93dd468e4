/* members: JSON members that several objects have. */
#ifndef PATRA_VIEW_MEMBERS_H
#define PATRA_VIEW_MEMBERS_H

#include "core/id_range.h"
#include "core/window.h"
#include "data/json_write.h"
#include "port/store_lineage.h"
#include "port/store_subscription.h"

/* An object {"from", "to"}; null for a window that is not valid. */
void view_write_window(struct json_writer *w, struct window window);
void view_write_member_window(struct json_writer *w, struct str name, struct window window);

/* Members "fromId" and "toId", each where the range has that end; none for all ids. */
void view_write_member_ids(struct json_writer *w, struct id_range ids);

/* Member "lineage": where a row comes from. */
void view_write_lineage(struct json_writer *w, const struct lineage *lineage);

/* An object: a subscription with its spec; the member `kind` ("bus") is its name. */
void view_write_subscription(struct json_writer *w, struct str kind,
                             const struct subscription *row);

#endif
