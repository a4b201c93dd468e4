/* A snapshot of the store: refused as unreadable, or one that says which source it is of. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "spec/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct spec spec;
    struct arena arena;
    struct error err;

    arena_init(&arena, 64 << 20);
    if (spec_read(&arena, (struct str){ (const char *)bytes, size }, &spec, &err))
        assert(spec.source.len > 0 && spec.operation.name.len > 0);
    else
        assert(arena.failed || strcmp(err.code, "spec.unreadable") == 0);
    arena_release(&arena);
    return 0;
}
