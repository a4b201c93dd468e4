/* pubsub_emulator: Google's emulator of Pub/Sub, where it is installed. */
#ifndef PATRA_TEST_SUPPORT_PUBSUB_EMULATOR_H
#define PATRA_TEST_SUPPORT_PUBSUB_EMULATOR_H

#include <stdbool.h>
#include <sys/types.h>

struct pubsub_emulator {
    pid_t pid;
    char address[64]; /* "127.0.0.1:1" */
};

/* False when it is not installed, or does not start. Ends with the test program. */
bool pubsub_emulator_start(struct pubsub_emulator *emulator);
void pubsub_emulator_stop(struct pubsub_emulator *emulator);

#endif
