/* pubsub_process: the fake of Pub/Sub (pubsub_fake.h) in a process of its own, which keeps old
 * messages once more as it goes. For tests that fork: a process with threads should not. */
#ifndef PATRA_TEST_SUPPORT_PUBSUB_PROCESS_H
#define PATRA_TEST_SUPPORT_PUBSUB_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

struct pubsub_process {
    pid_t pid;
    int port;
    int64_t *copies; /* shared with the process */
};

void pubsub_process_start(struct pubsub_process *process);
int64_t pubsub_process_copies(const struct pubsub_process *process); /* that it has added */
void pubsub_process_stop(struct pubsub_process *process);

#endif
