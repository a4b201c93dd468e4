/* Names for people and processes. */
#include "cli/who.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NAMES_BYTES = 4096, HOST_BYTES = 256 };

struct str who_am_i(struct arena *arena)
{
    const uid_t uid = geteuid();
    const char *sudo_user = getenv("SUDO_USER");
    char names[NAMES_BYTES], host[HOST_BYTES] = "";
    struct passwd entry, *found = NULL;
    struct str user;

    if (getpwuid_r(uid, &entry, names, sizeof(names), &found) == 0 && found != NULL)
        user = str_of(found->pw_name);
    else
        user = arena_printf(arena, "uid %lu", (unsigned long)uid);
    (void)gethostname(host, sizeof(host) - 1);
    if (sudo_user != NULL && sudo_user[0] != '\0')
        return arena_printf(arena, "%.*s@%s for %s", STR_ARG(user), host, sudo_user);
    return arena_printf(arena, "%.*s@%s", STR_ARG(user), host);
}

void who_process(char text[WHO_PROCESS_MAX], uint64_t start, const char *part)
{
    char host[HOST_BYTES] = "";

    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(text, WHO_PROCESS_MAX, "%.64s:%ld:%08" PRIx32 "/%.10s", host, (long)getpid(),
                   (uint32_t)start, part);
}
