/* once: changes that a client may ask for again without being carried out again.
 *
 * A request with an Idempotency-Key is answered once; when it is repeated under the same key within
 * a day, the first answer is given again. So a client whose connection was lost can repeat. Without
 * the header, changes are as harmless to repeat as their commands are (docs/api.md).
 */
#ifndef PATRA_SERVE_ONCE_H
#define PATRA_SERVE_ONCE_H

#include "serve/call.h"

struct once {
    bool is_used;     /* the request has a key */
    bool is_replayed; /* the response is set: it was answered before */
    struct token_answer answer;
};

/* "idempotency.key" (L2): the key is too long, or was used with another request;
 * "idempotency.busy" (L2): the first request is under way. */
bool once_begin(struct call *call, struct once *once, struct error *err) MUST_CHECK;

/* The response is kept; one that says "later" is not. */
void once_end(struct call *call, struct once *once);

#endif
