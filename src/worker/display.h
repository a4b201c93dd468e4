/* display: how a harvest shows its progress to a person, a log or a program.
 *
 *      a terminal        one block, repainted at most five times a second; problems scroll by above
 *      anything else     a line every few seconds, and one for each task that ended with problems
 *      --json            an object per line: events as they happen, progress every few seconds
 *      --quiet           nothing
 *
 * NO_COLOR, set to anything, turns colours off; TERM=dumb does not count as a terminal.
 *
 * Threads. Each worker reports events through its own watch (display_watch); one thread ticks. All
 * functions may be called at any time between open and close.
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
    FILE *talk; /* everything else */
};

struct display;
bool display_open(struct display **display, const struct display_settings *settings,
                  struct error *err) MUST_CHECK;
void display_close(struct display *display); /* erases the block; accepts NULL */

struct executor_watch *display_watch(struct display *display, int64_t worker);

void display_slices(struct display *display, int64_t total, int64_t ended);
void display_allowed(struct display *display, int64_t per_1000s);
void display_tick(struct display *display, int64_t now_us);

/* A line for people: above the block; not with --quiet. As JSON, an event of that name. */
void display_say(struct display *display, const char *event, struct str line, int64_t now_us);

struct progress_view display_view(struct display *display, int64_t now_us);

#endif
