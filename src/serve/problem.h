/* problem: a failure as an answer (RFC 9457, application/problem+json).
 *
 *      {"type":"urn:patra:problem:source.unknown","title":"Not Found","status":404,
 *       "detail":"there is no source 'crosref'","code":"source.unknown"}
 *
 * `type` and `code` are stable; programs go by them. `detail` is for people, and holds no secrets.
 */
#ifndef PATRA_SERVE_PROBLEM_H
#define PATRA_SERVE_PROBLEM_H

#include "base/error.h"
#include "port/web.h"

/* The status that an error is answered with: by its code, else by its level. */
int problem_status(const struct error *err);

/* Sets status, headers and body. What is our own fault (500) is not shown. */
void problem_write(struct arena *arena, const struct error *err, struct web_response *response);

#endif
