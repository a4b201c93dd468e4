/* secret: the value that a reference leads to, kept no longer than it is needed.
 *
 * The Registry holds where a secret is, never the secret:
 *
 *      env:NAME     an environment variable
 *      file:PATH    a file's content without the line end after it
 *
 * Other references are refused. A value is read again for every use, so that a file that was
 * replaced takes effect with the next request. Its memory is overwritten when it is released.
 *
 * Threads. Any number of threads may use one source.
 */
#ifndef PATRA_PORT_SECRET_H
#define PATRA_PORT_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* Keys, passwords and tokens are far shorter; a private key in PEM form fits. */
enum { SECRET_BYTES_MAX = 16384 };

struct secret {
    size_t len;
    char bytes[SECRET_BYTES_MAX];
};

struct secret_source {
    bool (*get)(struct secret_source *source, struct str reference, struct secret *secret,
                struct error *err);
};

/* False with "secret.missing" (L4: nothing under this reference, or nothing in it),
 * "secret.unreadable" (L4), "secret.too_long" (L4) or "secret.reference" (L4: neither env: nor
 * file:). The texts name the reference and never the value. On failure there is nothing to wipe. */
static inline bool MUST_CHECK secret_get(struct secret_source *source, struct str reference,
                                         struct secret *secret, struct error *err)
{
    return source->get(source, reference, secret, err);
}

/* True for "secret.missing": the reference leads to nothing, which an optional credential may. */
static inline bool secret_error_is_missing(const struct error *err)
{
    return strcmp(err->code, "secret.missing") == 0;
}

static inline struct str secret_str(const struct secret *secret)
{
    return (struct str){ secret->bytes, secret->len };
}

/* Overwrites the value; accepts the zero value. */
static inline void secret_wipe(struct secret *secret)
{
    explicit_bzero(secret->bytes, secret->len);
    secret->len = 0;
}

/* For settings that may be a value or a reference: a user's name, a client's id, a proxy. */
static inline bool secret_is_reference(struct str text)
{
    return str_starts(text, STR("env:")) || str_starts(text, STR("file:"));
}

#endif
