/* What has a canonical form has one that parses and is its own canonical form. */
#include <assert.h>
#include <stdint.h>

#include "data/json_canonical.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    struct str once, twice;
    struct arena arena;
    struct error err;

    arena_init(&arena, 16 << 20);
    if (json_canonical_text(&arena, text, &once, &err)) {
        const bool again = json_canonical_text(&arena, once, &twice, &err);

        assert(again);
        assert(str_eq(once, twice));
        assert(str_is_utf8(once));
    }
    arena_release(&arena);
    return 0;
}
