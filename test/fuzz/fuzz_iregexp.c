/* An expression, a line end, a text: compiled or refused; run within its budget; what matches as a
 * whole is also found. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "data/iregexp.h"

enum { STEPS_MAX = 200000 };

static bool run(const struct iregexp *re, struct arena *arena, struct iregexp_text text,
                bool *found)
{
    uint64_t steps = STEPS_MAX;
    struct error err;

    text.steps = &steps;
    if (iregexp_run(re, arena, text, found, &err))
        return true;
    assert(arena->failed || strcmp(err.code, "iregexp.limit") == 0);
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    const struct str pattern = str_cut(&text, '\n');
    const struct iregexp *re;
    struct arena arena;
    struct error err;
    bool is_match, is_found;

    arena_init(&arena, 16 << 20);
    if (!iregexp_compile(&arena, pattern, &re, &err))
        assert(arena.failed || err.level == ERROR_REQUEST);
    else if (str_is_utf8(text) &&
             run(re, &arena, (struct iregexp_text){ .text = text }, &is_match) &&
             run(re, &arena, (struct iregexp_text){ .text = text, .search = true }, &is_found))
        assert(!is_match || is_found);
    arena_release(&arena);
    return 0;
}
