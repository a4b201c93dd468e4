/* attempt: the requests of a batch before the one that counts, read back from its digest
 * (engine/fetch/attempts.h). */
#ifndef PATRA_VIEW_ATTEMPT_H
#define PATRA_VIEW_ATTEMPT_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct view_attempt {
    struct str at;  /* an instant */
    int64_t status; /* 0: no response */
    int64_t bytes;
    int64_t took_ms;
    int64_t retry_after_ms; /* -1: the source did not ask for a wait */
    struct str code;
    struct str text;
    struct str then; /* why another request was sent (ATTEMPT_THEN_CODES); '': none was */
    int64_t wait_ms; /* before the next one; 0: none */
    int64_t ids;     /* requested by it; 0: a page */
};

struct view_attempt_list {
    struct view_attempt *items;
    size_t count;
    int64_t left_out; /* further ones, before the last */
};

/* Views of the digest, or in the arena. */
bool view_attempt_list(struct arena *arena, struct str response_digest,
                       struct view_attempt_list *list, struct error *err) MUST_CHECK;

#endif
