/* Looks secrets up in a table. */
#include "fixed_secret.h"

#include <assert.h>

static bool get(struct secret_source *source, struct str reference, struct secret *secret,
                struct error *err)
{
    struct fixed_secrets *secrets = (struct fixed_secrets *)source;

    secrets->asked++;
    secret->len = 0;
    for (size_t i = 0; i < secrets->count; i++) {
        if (!str_eq(str_of(secrets->items[i].reference), reference))
            continue;
        secret->len = strlen(secrets->items[i].value);
        assert(secret->len <= SECRET_BYTES_MAX);
        memcpy(secret->bytes, secrets->items[i].value, secret->len);
    }
    if (secret->len > 0)
        return true;
    return error_set(err, ERROR_FATAL, "secret.missing", "%.*s is not set", STR_ARG(reference));
}

void fixed_secrets_init(struct fixed_secrets *secrets, const struct fixed_secret *items,
                        size_t count)
{
    *secrets = (struct fixed_secrets){ .source.get = get, .items = items, .count = count };
}
