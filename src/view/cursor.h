/* cursor: how far each source is, what holds it back, and whether its history agrees, as people and
 * programs see it. */
#ifndef PATRA_VIEW_CURSOR_H
#define PATRA_VIEW_CURSOR_H

#include "data/json_write.h"
#include "engine/cursor/cursor_verify.h"
#include "engine/cursor/cursor_view.h"
#include "port/store_cursor.h"
#include "view/reader.h"

struct view_cursor_filter { /* '' = any */
    struct str source;
    bool has_operation;
    enum operation operation;
    struct str namespace_prefix; /* how the namespace key begins */
    bool without_former;         /* a list: only cursors that plans still move */
};

/* ---- a list: "source.unknown" (L2) where the filter names a source that does not exist ---- */

struct view_cursor {
    struct cursor cursor;
    struct cursor_way way;
    bool is_former; /* of a query that is no longer in force: later plans have another namespace */
};

struct view_cursor_list {
    struct view_cursor *items; /* by name */
    size_t count;
};

bool view_cursor_list(const struct view_reader *reader, const struct view_cursor_filter *filter,
                      struct view_cursor_list *list, struct error *err) MUST_CHECK;
void view_cursor_list_write(struct json_writer *w, const struct view_cursor_list *list);

/* ---- with what holds them back, and their last events ---- */

struct view_cursor_details {
    struct cursor_view *items; /* by name */
    size_t count;
};

/* As of one moment: it needs a store without a transaction. */
bool view_cursor_details(const struct view_reader *reader, const struct view_cursor_filter *filter,
                         int64_t events_max, struct view_cursor_details *details,
                         struct error *err) MUST_CHECK;
void view_cursor_details_write(struct json_writer *w, const struct view_cursor_details *details);

/* ---- against their events ---- */

struct view_cursor_checks {
    struct cursor_check *items;
    size_t count;
    int64_t events; /* of all */
    int64_t wrong;  /* cursors that their events do not give */
};

bool view_cursor_checks(const struct view_reader *reader, const struct view_cursor_filter *filter,
                        struct view_cursor_checks *checks, struct error *err) MUST_CHECK;
void view_cursor_checks_write(struct json_writer *w, const struct view_cursor_checks *checks);

#endif
