/* strip: the time of a cursor, piece by piece: what is covered, what is under way, what is missing
 * and why.
 *
 *      |=====covered=====|failed|==covered==|live|........|
 *                        ^ cursor                    open: no task has it yet
 *
 * What was lost is cut by the newest task of each instant, so that each piece has one, and one
 * error; what was reset is open. So many tasks are read as are asked for, the newest first: what
 * is beyond has no task.
 *
 * A strip has a bounded number of pieces. Where more would be needed, neighbours are joined, and
 * the piece has the state and the task of its worst part: a hole never disappears behind what is
 * well.
 */
#ifndef PATRA_VIEW_STRIP_H
#define PATRA_VIEW_STRIP_H

#include "view/cursor.h"

enum strip_state { /* the worst last */
                   STRIP_COVERED,
                   STRIP_OPEN,     /* no task has it */
                   STRIP_LIVE,     /* a task waits or runs */
                   STRIP_RETRYING, /* ... and has failed before */
                   STRIP_MISSING,  /* the last task for it ended without it */
};
extern const struct code_table STRIP_STATE_CODES;

struct strip_piece {
    struct window window;
    enum strip_state state;
    int64_t parts;           /* that were joined; 1: none */
    const struct task *task; /* the newest of its worst part; NULL: none was read */
};

struct view_strip {
    struct cursor cursor;
    struct cursor_way way;
    struct str endpoint;
    struct window window; /* from the first piece to the last */
    struct strip_piece *items;
    size_t count;
    int64_t missing; /* pieces that are MISSING, before any were joined */
};

struct view_strip_list {
    struct view_strip *items; /* by cursor, then endpoint */
    size_t count;
};

struct view_strip_filter {
    struct view_cursor_filter cursors; /* only those by time have a strip */
    struct maybe_instant from;         /* else: a month, or as far as the cursor is behind; of a */
    struct maybe_instant to;           /* campaign its window */
    bool without_finished;             /* no campaigns that are over */
    size_t pieces_max;
    size_t named_max; /* tasks that pieces are cut by and name */
};

/* As of one moment: it needs a store without a transaction. "source.unknown" (L2). */
bool view_strips(const struct view_reader *reader, const struct view_strip_filter *filter,
                 struct view_strip_list *list, struct error *err) MUST_CHECK;
void view_strips_write(struct json_writer *w, const struct view_strip_list *list);

#endif
