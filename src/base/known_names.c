/* Names that exist, collected for a message. */
#include "base/known_names.h"

#include <stdio.h>

#include "base/suggest.h"

void known_names_add(struct known_names *known, struct str name)
{
    if (known->count < KNOWN_NAMES_MAX)
        (void)snprintf(known->texts[known->count++], KNOWN_NAME_MAX, "%.*s", STR_ARG(name));
}

const char *known_names_near(const struct known_names *known, struct str typed)
{
    const char *names[KNOWN_NAMES_MAX];

    for (size_t i = 0; i < known->count; i++)
        names[i] = known->texts[i];
    return suggest(typed, names, known->count);
}

const char *known_names_text(const struct known_names *known, char text[KNOWN_NAMES_TEXT_MAX])
{
    size_t len = 0;

    if (known->count == 0)
        (void)snprintf(text, KNOWN_NAMES_TEXT_MAX, "none");
    for (size_t i = 0; i < known->count && len < KNOWN_NAMES_TEXT_MAX; i++)
        len += (size_t)snprintf(text + len, KNOWN_NAMES_TEXT_MAX - len, "%s%s", i > 0 ? ", " : "",
                                known->texts[i]);
    return text;
}
