/* system: the machine's own clock, chance and secrets. */
#ifndef PATRA_ADAPTER_SYSTEM_SYSTEM_H
#define PATRA_ADAPTER_SYSTEM_SYSTEM_H

#include "base/log.h"
#include "port/clock.h"
#include "port/random.h"
#include "port/secret.h"

struct clock system_clock(void);
struct random_source system_random(void);

/* Reads the environment and files. `log` (may be NULL) is told of a secret's file that others than
 * its owner and group may read; it must outlive the source. */
struct system_secrets {
    struct secret_source source;
    struct log *log;
};

void system_secrets_init(struct system_secrets *secrets, struct log *log);

#endif
