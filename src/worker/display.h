/* display: what a person, a log or a program sees of a harvest while it runs.
 *
 *      a terminal        one block, repainted at most five times a second; what went wrong scrolls
 *                        by above it
 *      anything else     a line every few seconds, and one for each task that ended with problems
 *      --json            an object per line: events as they happen, progress every few seconds
 *      --quiet           nothing
 *
 * NO_COLOR (set to anything) leaves the colours out; a terminal that calls itself dumb is none.
 *
 * Threads. Workers tell of events by watches of their own (display_watch); one thread ticks. All of
 * it may be called at any time between open and close.
 */
#ifndef PATRA_WORKER_DISPLAY_H
#define PATRA_WORKER_DISPLAY_H

#include <stdio.h>

#include "base/str.h"
#include "worker/progress.h"

enum display_mode { DISPLAY_QUIET, DISPLAY_LINES, DISPLAY_BLOCK, DISPLAY_JSON };

struct display_settings {
    enum display_mode mode; /* LINES becomes BLOCK where `talk` is a terminal */
    struct str title;       /* must outlive the display */
    int64_t worker_count;
    int64_t now_us;
    FILE *out;  /* JSON */
    FILE *talk; /* all else */
};

struct display;
bool display_open(struct display **display, const struct display_settings *settings,
                  struct error *err) MUST_CHECK;
void display_close(struct display *display); /* takes the block away; accepts NULL */

struct executor_watch *display_watch(struct display *display, int64_t worker);

void display_slices(struct display *display, int64_t total, int64_t ended);
void display_tick(struct display *display, int64_t now_us);

struct progress_view display_view(struct display *display, int64_t now_us);

#endif
