/* Stars over passwords, and copies of the arguments that keep them. */
#include "cli/hide.h"

#include <stdlib.h>
#include <string.h>

static void star(char *from, const char *to)
{
    while (from < to)
        *from++ = '*';
}

/* Up to the last @: a password may hold others. */
static void hide_in_url(char *argument)
{
    char *user = strstr(argument, "://");
    char *colon = user != NULL ? strchr(user + 3, ':') : NULL;
    char *at = colon != NULL ? strrchr(colon, '@') : NULL;

    if (at != NULL)
        star(colon + 1, at);
}

/* A value ends at a blank or an ampersand; one in quotes at the last quote there is. */
static char *end_of(char *value)
{
    char *quote = *value == '\'' ? strrchr(value + 1, '\'') : NULL;

    return quote != NULL ? quote : value + strcspn(value, *value == '\'' ? "" : " \t&");
}

static void hide_in_pairs(char *argument)
{
    static const char name[] = "password";

    while ((argument = strstr(argument, name)) != NULL) {
        char *value = argument + strlen(name);

        argument = value;
        value += strspn(value, " \t");
        if (*value != '=')
            continue;
        value += 1 + strspn(value + 1, " \t");
        argument = end_of(value);
        star(value + (*value == '\''), argument);
    }
}

void hide_passwords(char *argument)
{
    hide_in_url(argument);
    hide_in_pairs(argument);
}

/* One piece of memory: whoever reads arguments moves the pointers. */
char **hide_arguments(int argc, char **argv)
{
    const size_t heads = ((size_t)argc + 1) * sizeof(*argv);
    size_t bytes = 0;
    char **copies;
    char *at;

    for (int i = 0; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    copies = calloc(1, heads + bytes);
    at = (char *)copies + heads;
    for (int i = 0; copies != NULL && i < argc; i++) {
        copies[i] = strcpy(at, argv[i]);
        at += strlen(at) + 1;
        hide_passwords(argv[i]);
    }
    return copies;
}
