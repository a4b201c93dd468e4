#include "adapter/memory/secret.h"

#include <assert.h>

static bool get(struct secret_source *source, struct str reference, struct secret *secret,
                struct error *err)
{
    struct memory_secrets *secrets = (struct memory_secrets *)source;

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

void memory_secrets_init(struct memory_secrets *secrets, const struct memory_secret *items,
                         size_t count)
{
    *secrets = (struct memory_secrets){ .source.get = get, .items = items, .count = count };
}
