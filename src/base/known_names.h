/* known_names: the names that exist, for the message about one that does not.
 */
#ifndef PATRA_BASE_KNOWN_NAMES_H
#define PATRA_BASE_KNOWN_NAMES_H

#include <stddef.h>

#include "base/str.h"

enum { KNOWN_NAMES_MAX = 64, KNOWN_NAME_MAX = 64, KNOWN_NAMES_TEXT_MAX = 512 };

struct known_names { /* all zero: none */
    char texts[KNOWN_NAMES_MAX][KNOWN_NAME_MAX];
    size_t count;
};

/* Names beyond the first KNOWN_NAMES_MAX are left out; a long name is cut. */
void known_names_add(struct known_names *known, struct str name);

/* The one closest to what was typed (see suggest), or NULL. */
const char *known_names_near(const struct known_names *known, struct str typed);

/* "a, b, c", or "none". Returns text. */
const char *known_names_text(const struct known_names *known, char text[KNOWN_NAMES_TEXT_MAX]);

#endif
