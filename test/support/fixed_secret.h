/* fixed_secrets: the secret port from a fixed table of references and values. */
#ifndef PATRA_TEST_SUPPORT_FIXED_SECRET_H
#define PATRA_TEST_SUPPORT_FIXED_SECRET_H

#include "port/secret.h"

struct fixed_secret {
    const char *reference; /* "env:KEY" */
    const char *value;
};

struct fixed_secrets {
    struct secret_source source; /* first: hand out &fixed.source */
    const struct fixed_secret *items;
    size_t count;
    size_t asked; /* how often one was read */
};

/* `items` must outlive the source. */
void fixed_secrets_init(struct fixed_secrets *secrets, const struct fixed_secret *items,
                        size_t count);

#endif
