/* arena: chunks, zeroing and growth in place. */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chunks double up to this, so that a small arena stays small and a large one needs few calls. */
enum { CHUNK_MIN = 4096, CHUNK_MAX = 1 << 20, KEPT_MAX = 8 << 20 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
    size_t used;
    size_t dirty; /* bytes after this were never handed out and are zero */
    alignas(max_align_t) unsigned char bytes[];
};

void arena_init(struct arena *arena, size_t limit)
{
    assert(limit > 0);
    *arena = (struct arena){ .limit = limit };
}

static void free_from(struct arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct arena_chunk *next = chunk->next;

        free(chunk);
        chunk = next;
    }
}

void arena_release(struct arena *arena)
{
    free_from(arena->chunks);
    free_from(arena->spare);
    *arena = (struct arena){ 0 };
}

/* The largest first, so that they are used first. */
static void add_spare(struct arena *arena, struct arena_chunk *chunk)
{
    struct arena_chunk **at = &arena->spare;

    chunk->dirty = chunk->used > chunk->dirty ? chunk->used : chunk->dirty;
    chunk->used = 0;
    while (*at != NULL && (*at)->size > chunk->size)
        at = &(*at)->next;
    chunk->next = *at;
    *at = chunk;
}

/* The largest chunk, and others up to KEPT_MAX. */
static void trim_spare(struct arena *arena)
{
    struct arena_chunk **at = &arena->spare;
    size_t kept = 0;

    while (*at != NULL && (kept == 0 || kept + (*at)->size <= KEPT_MAX)) {
        kept += (*at)->size;
        at = &(*at)->next;
    }
    free_from(*at);
    *at = NULL;
}

/* What held a page or a batch will hold the next one: memory that is new to the process costs a
 * page fault per 4 KiB. */
void arena_reset(struct arena *arena)
{
    for (struct arena_chunk *chunk = arena->chunks, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        add_spare(arena, chunk);
    }
    trim_spare(arena);
    arena->chunks = NULL;
    arena->used = 0;
    arena->failed = false;
}

void arena_wipe(struct arena *arena)
{
    for (struct arena_chunk *chunk = arena->chunks; chunk != NULL; chunk = chunk->next)
        explicit_bzero(chunk->bytes, chunk->used);
    arena_reset(arena);
}

static size_t align_up(size_t size)
{
    const size_t align = alignof(max_align_t);

    return (size + align - 1) / align * align;
}

/* The first spare chunk with room for it; NULL: none. */
static struct arena_chunk *take_spare(struct arena *arena, size_t size)
{
    for (struct arena_chunk **at = &arena->spare; *at != NULL; at = &(*at)->next) {
        struct arena_chunk *chunk = *at;

        if (chunk->size < size)
            continue;
        *at = chunk->next;
        return chunk;
    }
    return NULL;
}

static bool add_chunk(struct arena *arena, size_t size)
{
    size_t wanted = arena->chunks != NULL ? arena->chunks->size * 2 : CHUNK_MIN;
    struct arena_chunk *chunk = take_spare(arena, size);

    if (wanted > CHUNK_MAX)
        wanted = CHUNK_MAX;
    if (wanted < size) /* with room for a slightly larger page after a reset */
        wanted = size > CHUNK_MAX && size < SIZE_MAX / 2 ? size + size / 8 : size;
    if (chunk == NULL) {
        chunk = calloc(1, sizeof(*chunk) + wanted);
        if (chunk == NULL)
            return false;
        chunk->size = wanted;
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return true;
}

/* Zeroes what an earlier use left between two offsets of the chunk. */
static void clean(struct arena_chunk *chunk, size_t from, size_t to)
{
    const size_t end = to < chunk->dirty ? to : chunk->dirty;

    if (from < end)
        memset(chunk->bytes + from, 0, end - from);
}

static bool must_fail(struct arena *arena)
{
    return arena->fail_at > 0 && --arena->fail_at == 0;
}

void *arena_alloc_raw(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = arena->chunks;
    size_t rounded;
    void *bytes;

    if (must_fail(arena) || size > arena->limit || arena->used > arena->limit - size) {
        arena->failed = true;
        return NULL;
    }
    rounded = align_up(size > 0 ? size : 1);
    if (chunk == NULL || chunk->size - chunk->used < rounded) {
        if (!add_chunk(arena, rounded)) {
            arena->failed = true;
            return NULL;
        }
        chunk = arena->chunks;
    }
    bytes = chunk->bytes + chunk->used;
    chunk->used += rounded;
    arena->used += size;
    return bytes;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    void *bytes = arena_alloc_raw(arena, size);

    if (bytes != NULL) /* it ends at the chunk's `used`, padding included */
        clean(arena->chunks, (size_t)((unsigned char *)bytes - arena->chunks->bytes),
              arena->chunks->used);
    return bytes;
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total)) {
        arena->failed = true;
        return NULL;
    }
    return arena_alloc(arena, total);
}

static bool grow_in_place(struct arena *arena, const void *old, size_t old_size, size_t new_size)
{
    struct arena_chunk *chunk = arena->chunks;
    const size_t old_rounded = align_up(old_size > 0 ? old_size : 1);
    const size_t new_rounded = align_up(new_size);

    if (old == NULL || chunk == NULL || chunk->used < old_rounded)
        return false;
    if ((const unsigned char *)old != chunk->bytes + chunk->used - old_rounded)
        return false;
    if (chunk->size - chunk->used < new_rounded - old_rounded)
        return false;
    if (new_size - old_size > arena->limit - arena->used)
        return false;
    clean(chunk, chunk->used - old_rounded + old_size, chunk->used - old_rounded + new_rounded);
    chunk->used += new_rounded - old_rounded;
    arena->used += new_size - old_size;
    return true;
}

void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t new_size)
{
    unsigned char *bytes;

    assert(new_size >= old_size);
    if (grow_in_place(arena, old, old_size, new_size))
        return old;
    bytes = arena_alloc_raw(arena, new_size);
    if (bytes == NULL)
        return NULL;
    if (old_size > 0)
        memcpy(bytes, old, old_size);
    clean(arena->chunks, (size_t)(bytes - arena->chunks->bytes) + old_size, arena->chunks->used);
    return bytes;
}

struct str arena_copy(struct arena *arena, struct str s)
{
    char *bytes = arena_alloc_raw(arena, s.len + 1);

    if (bytes == NULL)
        return (struct str){ NULL, 0 };
    if (s.len > 0)
        memcpy(bytes, s.data, s.len);
    bytes[s.len] = '\0';
    return (struct str){ bytes, s.len };
}

struct str arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    int len;
    char *bytes;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(len >= 0);
    bytes = arena_alloc(arena, (size_t)len + 1);
    if (bytes == NULL)
        return (struct str){ NULL, 0 };
    va_start(args, format);
    (void)vsnprintf(bytes, (size_t)len + 1, format, args);
    va_end(args);
    return (struct str){ bytes, (size_t)len };
}

void arena_error_set(const struct arena *arena, struct error *err)
{
    (void)error_set(err, ERROR_REQUEST, "memory.limit",
                    "out of memory: the limit of this step is %zu bytes, %zu are in use",
                    arena->limit, arena->used);
}

bool arena_error_is_limit(const struct error *err)
{
    return strcmp(err->code, "memory.limit") == 0;
}
