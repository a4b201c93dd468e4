/* top_lines: the state of everything as lines of a screen, the most urgent first:
 *
 *      patra  14:03:22Z  2 sources  12 tasks wait, 4 run
 *      Needs a person
 *      Sources   records, tasks, how far behind, the next tick
 *      Running   tasks under way
 *      Gates     the rate now and as allowed, until when nothing goes
 *      Events    each subscription: what waits, for how long
 */
#ifndef PATRA_CMD_TOP_TOP_LINES_H
#define PATRA_CMD_TOP_TOP_LINES_H

#include "adapter/curses/screen.h"
#include "view/status.h"

struct top_lines {
    struct screen_line *items;
    size_t count;
};

/* In the arena. */
bool top_lines_make(struct arena *arena, const struct view_status *status,
                    const struct view_outbox *outbox, struct top_lines *lines,
                    struct error *err) MUST_CHECK;

#endif
