/* screen: lines on a terminal that are drawn again and again, on ncurses (the module
 * patra-curses.so, loaded on first use).
 *
 *      screen_open(&screen, &(struct screen_settings){ .color = true }, err);
 *      screen_draw(screen, lines, count);
 *      key = screen_key(screen, 2000);
 *      screen_close(screen);           the terminal is as it was
 *
 * A line that is too long is cut, and so is what does not fit below. Control characters of foreign
 * texts are shown as '?': nobody but this writes to the terminal. A process has one screen.
 */
#ifndef PATRA_ADAPTER_CURSES_SCREEN_H
#define PATRA_ADAPTER_CURSES_SCREEN_H

#include "base/attr.h"
#include "base/error.h"
#include "base/module.h"
#include "base/str.h"

enum screen_style { SCREEN_PLAIN, SCREEN_TITLE, SCREEN_BAD, SCREEN_WARN, SCREEN_GOOD };

struct screen_line {
    enum screen_style style;
    struct str text;
};

struct screen_settings {
    bool color;
};

struct screen_size {
    int rows;
    int columns;
};

enum screen_key {
    SCREEN_NO_KEY,
    SCREEN_QUIT,
    SCREEN_UP,
    SCREEN_DOWN,
    SCREEN_RESIZED,
    SCREEN_OTHER
};

struct screen;

struct screen_library {
    struct module_head head;
    bool (*open)(struct screen **screen, const struct screen_settings *settings, struct error *err);
    void (*close)(struct screen *screen);
    struct screen_size (*size)(struct screen *screen);
    void (*draw)(struct screen *screen, const struct screen_line *lines, size_t count);
    enum screen_key (*key)(struct screen *screen, int wait_ms);
};

/* L2 "terminal.unknown" where the terminal ($TERM) is not one that can be drawn on. */
bool ncurses_open(struct screen **screen, const struct screen_settings *settings,
                  struct error *err) MUST_CHECK;
void ncurses_close(struct screen *screen); /* accepts NULL */
struct screen_size ncurses_size(struct screen *screen);
void ncurses_draw(struct screen *screen, const struct screen_line *lines, size_t count);
/* Waits for at most so long. */
enum screen_key ncurses_key(struct screen *screen, int wait_ms);

#endif
