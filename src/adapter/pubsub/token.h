/* token: the bearer token that calls to Google are made with.
 *
 *      KEY        a service account's key file signs an assertion, its token server answers
 *      METADATA   the metadata server of the machine (or of its cluster: workload identity) answers
 *      NONE       no token: an emulator, or a server that a plain connection is allowed to
 *
 * A token is kept until it is near its end. While its server fails (L1), the old one is used until
 * its end.
 */
#ifndef PATRA_ADAPTER_PUBSUB_TOKEN_H
#define PATRA_ADAPTER_PUBSUB_TOKEN_H

#include "port/bus_parts.h"
#include "port/http.h"

enum token_source { TOKEN_NONE, TOKEN_KEY, TOKEN_METADATA };

struct token {
    enum token_source source;
    const struct bus_parts *parts;
    bus_http_opener opener;
    struct http *http; /* NULL: not opened yet */
    struct secret value;
    struct secret before;   /* the last one, which calls under way may still be made with */
    int64_t number;         /* how many there were */
    int64_t fresh_until_us; /* monotonic: after it a new one is requested */
    int64_t until_us;       /* monotonic: its end */
};

/* In *value, which lives until the next call; empty with TOKEN_NONE. Errors: "auth.key" (L4),
 * "auth.token" (L4: refused, L1: the server fails), those of port/http.h, secret.* (L4). */
bool token_get(struct token *token, int64_t timeout_us, struct str *value,
               struct error *err) MUST_CHECK;

/* The one of this number was refused: the next token_get() requests another, unless it did so since
 * that one was given out. */
void token_drop(struct token *token, int64_t number);

/* Takes the token out of what a server said, and the last one. */
void token_redact(const struct token *token, struct error *err);

void token_close(struct token *token);

#endif
