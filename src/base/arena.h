/* arena: memory that is made piece by piece and ended at once.
 *
 * A function that makes memory takes an arena; whoever made the arena ends it; nobody else frees.
 * An arena has a ceiling in bytes. Meeting it (or the system's) makes arena_alloc return NULL and
 * marks the arena as failed; arena_error() turns that into an ordinary error that tells the number.
 * Not for use by two threads at once.
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
    size_t used;                /* bytes handed out since init or reset */
    size_t limit;
    size_t fail_at; /* for tests: the n-th allocation from now fails; 0 = never */
    bool failed;
};

void arena_init(struct arena *arena, size_t limit);
void arena_release(struct arena *arena); /* accepts the zero value */
void arena_reset(struct arena *arena);   /* all that was made is gone; one chunk is kept */
void arena_wipe(struct arena *arena);    /* overwrites all that was made, then resets: secrets */

/* Zeroed, aligned for any type; NULL when the ceiling is met. size 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size) MUST_CHECK;
/* The same with whatever bytes lie there: for what is overwritten at once, a page above all. */
void *arena_alloc_raw(struct arena *arena, size_t size) MUST_CHECK;
void *arena_alloc_array(struct arena *arena, size_t count, size_t size) MUST_CHECK;

/* Makes the last allocation longer in place when it can, else copies it. Bytes beyond the old
 * size are zero. `old` may be NULL with old_size 0. */
void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t new_size) MUST_CHECK;

/* A copy with a NUL behind it (not counted); data is NULL when the ceiling is met. */
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

#endif
