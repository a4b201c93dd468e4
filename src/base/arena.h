/* arena: memory that is allocated piece by piece and freed all at once.
 *
 * A function that allocates takes an arena. The code that initialised the arena releases it; no
 * other code frees anything. An arena has a limit in bytes. When it is reached, or the system has
 * no memory left, arena_alloc() returns NULL and marks the arena as failed; arena_error() turns
 * that into an ordinary error that names the limit. Not for use by two threads at once.
 */
#ifndef PATRA_BASE_ARENA_H
#define PATRA_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    struct arena_chunk *spare;  /* kept from before the last reset */
    size_t used;                /* bytes handed out since init or reset */
    size_t limit;
    size_t fail_at; /* for tests: the n-th allocation from now fails; 0 = never */
    bool failed;
};

void arena_init(struct arena *arena, size_t limit);
void arena_release(struct arena *arena); /* accepts the zero value */
void arena_reset(struct arena *arena);   /* frees everything; some of it is kept for reuse */
void arena_wipe(struct arena *arena);    /* overwrites everything, then resets: for secrets */

/* Zeroed, aligned for any type; NULL at the limit. size 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size) MUST_CHECK;
/* The same, not zeroed: for memory that is overwritten at once, such as a page. */
void *arena_alloc_raw(struct arena *arena, size_t size) MUST_CHECK;
void *arena_alloc_array(struct arena *arena, size_t count, size_t size) MUST_CHECK;

/* Extends the last allocation in place if it can, else copies it. Bytes beyond the old
 * size are zero. `old` may be NULL with old_size 0. */
void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t new_size) MUST_CHECK;

/* A copy followed by a NUL (not counted in len); data is NULL at the limit. */
struct str arena_copy(struct arena *arena, struct str s) MUST_CHECK;
struct str arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3) MUST_CHECK;

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_alloc_array((arena), (count), sizeof(type)))

void arena_error_set(const struct arena *arena, struct error *err);

/* Returns false: `return arena_error(arena, err);` */
static inline bool arena_error(const struct arena *arena, struct error *err)
{
    arena_error_set(arena, err);
    return false;
}

/* True for the error that arena_error() makes: an arena met its ceiling. */
bool arena_error_is_limit(const struct error *err);

#endif
