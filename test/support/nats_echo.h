/* nats_echo: somebody who publishes to a stream of NATS, once more and out of order, what went by.
 *
 * A process of its own. It listens to one subject and publishes copies of some messages, shuffled,
 * without the ids that the server drops repeats by, to another subject of the same stream.
 */
#ifndef PATRA_TEST_SUPPORT_NATS_ECHO_H
#define PATRA_TEST_SUPPORT_NATS_ECHO_H

#include <stdint.h>
#include <sys/types.h>

struct nats_echo {
    pid_t pid;
    int64_t *count; /* shared with the process */
    int64_t copies; /* after the end */
};

/* A server of nats_server.h. */
void nats_echo_start(struct nats_echo *echo, int port, const char *from, const char *to);
int64_t nats_echo_stop(struct nats_echo *echo); /* how many copies it published */

#endif
