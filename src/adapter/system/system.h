/* system: clock, random numbers and secrets of the machine. */
#ifndef PATRA_ADAPTER_SYSTEM_SYSTEM_H
#define PATRA_ADAPTER_SYSTEM_SYSTEM_H

#include "base/log.h"
#include "port/clock.h"
#include "port/random.h"
#include "port/secret.h"

struct clock system_clock(void);
struct random_source system_random(void);

/* Reads the environment and files. log, which may be NULL, gets a warning about a secret's file
 * that others than its owner and group may read; it must outlive the source. */
struct system_secrets {
    struct secret_source source;
    struct log *log;
};

void system_secrets_init(struct system_secrets *secrets, struct log *log);

#endif
