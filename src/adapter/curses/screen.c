/* Lines on a terminal, by ncurses. */
#include "adapter/curses/screen.h"

#include <curses.h>
#include <locale.h>
#include <stdlib.h>

struct screen {
    SCREEN *terminal;
    bool has_color;
};

bool ncurses_open(struct screen **out, const struct screen_settings *settings, struct error *err)
{
    struct screen *screen = calloc(1, sizeof(*screen));
    const char *term = getenv("TERM");

    *out = screen;
    if (screen == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a screen");
    (void)setlocale(LC_CTYPE, ""); /* what the terminal shows of UTF-8 */
    screen->terminal = newterm(NULL, stdout, stdin);
    if (screen->terminal == NULL) {
        free(screen);
        *out = NULL;
        return error_set(
            err, ERROR_REQUEST, "terminal.unknown",
            "the terminal '%s' ($TERM) is not known here; patra status prints the same",
            term != NULL ? term : "");
    }
    (void)cbreak();
    (void)noecho();
    (void)curs_set(0);
    (void)keypad(stdscr, TRUE);
    screen->has_color = settings->color && has_colors() && start_color() == OK;
    if (screen->has_color) {
        (void)use_default_colors();
        (void)init_pair(SCREEN_BAD, COLOR_RED, -1);
        (void)init_pair(SCREEN_WARN, COLOR_YELLOW, -1);
        (void)init_pair(SCREEN_GOOD, COLOR_GREEN, -1);
    }
    return true;
}

void ncurses_close(struct screen *screen)
{
    if (screen == NULL)
        return;
    (void)endwin();
    delscreen(screen->terminal);
    free(screen);
}

struct screen_size ncurses_size(struct screen *screen)
{
    (void)screen;
    return (struct screen_size){ LINES, COLS };
}

static chtype style_of(const struct screen *screen, enum screen_style style)
{
    if (style == SCREEN_TITLE)
        return A_BOLD | A_REVERSE;
    if (style == SCREEN_PLAIN)
        return A_NORMAL;
    return screen->has_color ? COLOR_PAIR((short)style) : style == SCREEN_GOOD ? A_NORMAL : A_BOLD;
}

/* As many bytes as there are columns at most: no character has more columns than bytes. */
static void draw_text(struct str text)
{
    size_t len = text.len < (size_t)COLS ? text.len : (size_t)COLS;

    while (len > 0 && len < text.len && ((unsigned char)text.data[len] & 0xC0) == 0x80)
        len--;
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        const char shown = (char)(c < 0x20 || c == 0x7F ? '?' : c);

        (void)addnstr(&shown, 1);
    }
}

void ncurses_draw(struct screen *screen, const struct screen_line *lines, size_t count)
{
    (void)erase();
    for (size_t i = 0; i < count && i < (size_t)LINES; i++) {
        const chtype style = style_of(screen, lines[i].style);

        (void)move((int)i, 0);
        (void)attrset((int)style);
        draw_text(lines[i].text);
        if (lines[i].style == SCREEN_TITLE && lines[i].text.len < (size_t)COLS)
            (void)hline(' ' | style, COLS);
        (void)attrset(A_NORMAL);
    }
    (void)refresh();
}

enum screen_key ncurses_key(struct screen *screen, int wait_ms)
{
    (void)screen;
    timeout(wait_ms);
    switch (getch()) {
    case ERR:
        return SCREEN_NO_KEY;
    case 'q':
    case 'Q':
    case 27: /* Escape */
        return SCREEN_QUIT;
    case KEY_UP:
    case 'k':
        return SCREEN_UP;
    case KEY_DOWN:
    case 'j':
        return SCREEN_DOWN;
    case KEY_RESIZE:
        return SCREEN_RESIZED;
    default:
        return SCREEN_OTHER;
    }
}
