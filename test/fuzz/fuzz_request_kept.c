/* What a request was made of is refused, or it is the same after it was written and read again. */
#include <assert.h>
#include <stdint.h>

#include "engine/fetch/request_kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str json = { (const char *)bytes, size };
    struct request_kept kept, again;
    struct str first, second;
    struct arena arena;
    struct error err;

    arena_init(&arena, 64 << 20);
    if (request_kept_read(&kept, &arena, json, &err)) {
        first = request_kept_write(&kept, &arena);
        assert(first.data != NULL);
        assert(request_kept_read(&again, &arena, first, &err));
        second = request_kept_write(&again, &arena);
        assert(str_eq(first, second) && str_eq(kept.token, again.token));
    } else
        assert(arena.failed || err.level == ERROR_FATAL);
    arena_release(&arena);
    return 0;
}
