/* request_values: what the variables of a request's templates stand for. Only request*.c include
 * this. */
#ifndef PATRA_ENGINE_FETCH_REQUEST_VALUES_H
#define PATRA_ENGINE_FETCH_REQUEST_VALUES_H

#include "engine/fetch/request.h"

struct request_values {
    const struct request_ask *ask;
    struct template_resolver resolver;
    bool redacted;
    int depth; /* of expressions within expressions */
};

void request_values_init(struct request_values *values, const struct request_ask *ask,
                         bool redacted);

/* A template in its place; what a placeholder without value does is the endpoint's null_policy. */
struct request_place {
    struct str parameter; /* for error texts */
    enum template_place place;
};
bool request_values_render(struct request_values *values, struct arena *arena,
                           const struct template *template, struct request_place place,
                           struct template_result *result, struct error *err) MUST_CHECK;

#endif
