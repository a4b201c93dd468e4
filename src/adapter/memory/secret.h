/* memory_secrets: a fixed table of references and values. */
#ifndef PATRA_ADAPTER_MEMORY_SECRET_H
#define PATRA_ADAPTER_MEMORY_SECRET_H

#include "port/secret.h"

struct memory_secret {
    const char *reference; /* "env:KEY" */
    const char *value;
};

struct memory_secrets {
    struct secret_source source; /* first: hand out &memory.source */
    const struct memory_secret *items;
    size_t count;
    size_t asked; /* how often one was fetched */
};

/* `items` must outlive the source. */
void memory_secrets_init(struct memory_secrets *secrets, const struct memory_secret *items,
                         size_t count);

#endif
