/* Which of several hosts of an address is tried first.
 *
 * libpq tries them in their order and goes on to the next when one refuses. One that takes the
 * connection and says nothing (its host hangs) is waited for: PQconnectPoll() cannot be told to
 * pass over it. So the next attempt begins with another one: the list is turned.
 *
 *      a,b,c  ── a hangs ──  b,c,a
 */
#include <stdlib.h>
#include <string.h>

#include "adapter/postgres/postgres.h"

/* The same list beginning with its second entry, in memory of its own. NULL: it has one entry, or
 * memory is short; the address's own is used then. */
static char *turned(const char *list)
{
    const char *second = list != NULL ? strchr(list, ',') : NULL;
    const size_t first_len = second != NULL ? (size_t)(second - list) : 0;
    const size_t rest_len = second != NULL ? strlen(second + 1) : 0;
    char *made = second != NULL ? malloc(first_len + rest_len + 2) : NULL;

    if (made == NULL)
        return NULL;
    memcpy(made, second + 1, rest_len);
    made[rest_len] = ',';
    memcpy(made + rest_len + 1, list, first_len);
    made[rest_len + 1 + first_len] = '\0';
    return made;
}

void postgres_hosts_release(struct postgres_hosts *hosts)
{
    free(hosts->host);
    free(hosts->hostaddr);
    free(hosts->port);
    *hosts = (struct postgres_hosts){ 0 };
}

/* libpq knows which lists are in force, the environment's too. */
void postgres_hosts_turn(struct postgres_hosts *hosts, PGconn *connection)
{
    PQconninfoOption *options = PQconninfo(connection);

    postgres_hosts_release(hosts);
    for (PQconninfoOption *option = options; option != NULL && option->keyword != NULL; option++) {
        if (strcmp(option->keyword, "host") == 0)
            hosts->host = turned(option->val);
        else if (strcmp(option->keyword, "hostaddr") == 0)
            hosts->hostaddr = turned(option->val);
        else if (strcmp(option->keyword, "port") == 0)
            hosts->port = turned(option->val);
    }
    PQconninfoFree(options);
}
