/* visible: what upstreams wrote, on a terminal that obeys nothing of it.
 *
 * Titles, error texts and records come from servers. A terminal takes ESC ]0;... and the like in
 * them as orders: it changes its title, hides lines, or types for the user. So on a terminal,
 * controls (C0 but for line ends and tabs, DEL, C1 as UTF-8) are printed as \x1b. A pipe or a file
 * gets every byte as it is.
 */
#ifndef PATRA_CLI_VISIBLE_H
#define PATRA_CLI_VISIBLE_H

#include <stdio.h>

/* A stream that writes to `to` with its controls made visible; NULL: no memory. Closing it flushes
 * `to`, and leaves it open. */
FILE *visible_stream(FILE *to);

/* Such a stream where `to` is a terminal, else `to` itself. */
FILE *visible_on_terminal(FILE *to);

/* Accepts what visible_on_terminal() returned for it. */
void visible_close(FILE *out, FILE *to);

#endif
