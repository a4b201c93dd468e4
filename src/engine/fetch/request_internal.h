/* request_internal: what the request*.c files share.
 *
 *      request.c          URL, headers and body of one request, and its digest
 *      request_form.c     what all requests of an endpoint have in common; JSON bodies
 *      request_values.c   what the variables of templates stand for
 *      request_mask.c     takes secrets out of texts
 */
#ifndef PATRA_ENGINE_FETCH_REQUEST_INTERNAL_H
#define PATRA_ENGINE_FETCH_REQUEST_INTERNAL_H

#include "engine/fetch/request.h"

/* Expressions within expressions; the compiler of sources allows as many. */
enum { REQUEST_EXPR_DEPTH_MAX = 16 };
/* Nesting of a JSON body: far more than anybody writes by hand. */
enum { REQUEST_BODY_DEPTH_MAX = 32 };

/* ---- request_values.c ---- */

struct request_values {
    const struct request_input *input;
    struct template_resolver resolver;
    bool redacted;
    int depth; /* of expressions within expressions */
};

void request_values_init(struct request_values *values, const struct request_input *input,
                         bool redacted);

/* Renders a template for its place. What a placeholder without a value does is the endpoint's
 * null_policy. */
struct request_text {
    const struct template *template;
    struct str parameter; /* for error texts */
    enum template_place place;
};
bool request_values_render(struct request_values *values, struct arena *arena,
                           const struct request_text *text, struct template_result *result,
                           struct error *err) MUST_CHECK;

/* ---- request_form.c ---- */

/* Writes the JSON body. A member whose template has no value is left out, and so is an element of a
 * list. */
bool request_body_write(struct request_values *values, struct arena *arena, struct buf *out,
                        struct error *err) MUST_CHECK;

#endif
