/* The one symbol of patra-curses.so. */
#include "adapter/curses/screen.h"

extern const struct screen_library patra_module;

MODULE_EXPORT const struct screen_library patra_module = {
    .head = { .version = PATRA_VERSION },
    .open = ncurses_open,
    .close = ncurses_close,
    .size = ncurses_size,
    .draw = ncurses_draw,
    .key = ncurses_key,
};
