/* hook_server: the receiver of a webhook, on a free port of 127.0.0.1. It answers each POST with a
 * status of the test's choice and remembers those that it has answered with 2xx. Other methods are
 * answered with 200 and forgotten. */
#ifndef PATRA_TEST_SUPPORT_HOOK_SERVER_H
#define PATRA_TEST_SUPPORT_HOOK_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct hook_server;

struct hook_request {
    struct str head; /* request line and headers */
    struct str body;
};

/* The status of a request; the server's thread asks. `headers` (may be set) are added to the
 * answer: "Retry-After: 7\r\n". */
typedef int (*hook_answer)(void *context, const struct hook_request *request, const char **headers);

struct hook_server *hook_server_start(hook_answer answer, void *context); /* NULL: always 200 */
void hook_server_end(struct hook_server *server);                         /* accepts NULL */
int hook_server_port(const struct hook_server *server);

/* The body of every answer from now on; must live as long. Before the first request. */
void hook_server_say(struct hook_server *server, const char *body);

/* Closes everything, and listens again at the same port. What was received stays. */
void hook_server_stop(struct hook_server *server);
void hook_server_resume(struct hook_server *server);

/* In the order of arrival. They live until the server is ended. */
size_t hook_server_count(struct hook_server *server);
struct hook_request hook_server_request(struct hook_server *server, size_t index);

/* How many POSTs came, whatever they were answered with. */
size_t hook_server_posts(struct hook_server *server);

/* The value of a header, without regard to case; data is NULL when there is none. */
struct str hook_header(const struct hook_request *request, const char *name);

#endif
