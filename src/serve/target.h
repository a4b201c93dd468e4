/* target: the target of a request, taken apart and decoded.
 *
 *      /v1/records/crossref/10.1000%2F182?history=true
 *          segments  "v1", "records", "crossref", "10.1000/182"     a slash within one is %2F
 *          pairs     "history" = "true"
 *
 * Foreign bytes: whatever is not well-formed is refused, and nothing is guessed.
 */
#ifndef PATRA_SERVE_TARGET_H
#define PATRA_SERVE_TARGET_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

enum { TARGET_SEGMENTS_MAX = 8, TARGET_PAIRS_MAX = 32, TARGET_BYTES_MAX = 8192 };

/* Some thousand ids, pasted. */
enum { FORM_BYTES_MAX = 262144 };

struct target_pair {
    struct str name;
    struct str value;
};

struct target {
    struct str path; /* as received, without the query */
    struct str segments[TARGET_SEGMENTS_MAX];
    size_t segment_count;
    struct target_pair pairs[TARGET_PAIRS_MAX];
    size_t pair_count;
};

/* Decoded texts are UTF-8 without NUL. "request.target" (L2) for anything else, and beyond the
 * limits. */
bool target_parse(struct arena *arena, struct str text, struct target *target,
                  struct error *err) MUST_CHECK;

/* The pairs of a form's body (application/x-www-form-urlencoded); the rest of `form` is empty.
 * "request.body" (L2). */
bool target_parse_form(struct arena *arena, struct str body, struct target *form,
                       struct error *err) MUST_CHECK;

/* The value of the first pair of this name; '' where there is none. */
struct str target_value(const struct target *target, struct str name);

#endif
