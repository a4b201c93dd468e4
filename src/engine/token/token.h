/* token: makes and checks the tokens of the HTTP API.
 *
 *      patra_1f0c9a7be3d25480_6c1e...            what the caller has
 *            ╰── selector ──╯ ╰ secret, 256 bits by chance: shown once, never stored
 *
 * The store has the selector and the SHA-256 of the secret. A secret of 256 random bits cannot be
 * guessed, so the hash needs no salt and may be fast. A row is found by the selector, and hashes
 * are compared in constant time: how long it takes says nothing about the secret.
 */
#ifndef PATRA_ENGINE_TOKEN_TOKEN_H
#define PATRA_ENGINE_TOKEN_TOKEN_H

#include "port/random.h"
#include "port/store_token.h"

enum { TOKEN_SELECTOR_HEX = 16, TOKEN_SECRET_HEX = 64, TOKEN_TEXT_MAX = 96, TOKEN_NAME_MAX = 64 };

struct token_request {
    struct str name; /* letters, digits, and -_.@ ; at most TOKEN_NAME_MAX */
    enum token_scope scope;
    int64_t expires_us; /* 0: never */
    struct str by;
    int64_t now_us;
};

/* `text` is all there will ever be of the secret. "token.name" (L2): the name is not one, or a
 * token in force has it. */
bool token_make(struct store *store, struct random_source *random,
                const struct token_request *request, char text[TOKEN_TEXT_MAX],
                struct error *err) MUST_CHECK;

enum token_verdict {
    TOKEN_GOOD,
    TOKEN_MALFORMED,
    TOKEN_UNKNOWN, /* there is none, or the secret is another */
    TOKEN_REVOKED,
    TOKEN_EXPIRED,
};

/* *row is set where the verdict is TOKEN_GOOD. False when the store could not be asked. */
bool token_check(struct store *store, struct arena *arena, struct str text, int64_t now_us,
                 enum token_verdict *verdict, struct token_row *row, struct error *err) MUST_CHECK;

/* The selector of a text that has the form of a token; '' of any other. */
struct str token_selector(struct str text);

#endif
