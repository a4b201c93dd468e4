/* request_body: a JSON body whose texts are templates. Only request*.c include this. */
#ifndef PATRA_ENGINE_FETCH_REQUEST_BODY_H
#define PATRA_ENGINE_FETCH_REQUEST_BODY_H

#include "engine/fetch/request_values.h"

/* Nesting of a body: what anybody writes by hand is far below. */
enum { REQUEST_BODY_DEPTH_MAX = 32 };

/* Compiles the texts of endpoint->json into form->templates. */
bool request_body_open(struct request_form *form, struct arena *arena,
                       struct error *err) MUST_CHECK;

/* A member whose template has no value is left out, as is such an element of a list. */
bool request_body_write(struct request_values *values, struct arena *arena, struct buf *out,
                        struct error *err) MUST_CHECK;

#endif
