/* A checkpoint of the store is refused, or it is the same after it was written and read again. */
#include <assert.h>
#include <stdint.h>

#include "engine/fetch/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str json = { (const char *)bytes, size };
    struct checkpoint checkpoint, again;
    struct proof proof, proof_again;
    struct str first, second;
    struct arena arena;
    struct error err;

    arena_init(&arena, 64 << 20);
    proof_init(&proof, &arena, (struct proof_rules){ .counts_total = true });
    proof_init(&proof_again, &arena, (struct proof_rules){ .counts_total = true });
    if (checkpoint_read(&checkpoint, &arena, json, &proof, &err)) {
        assert(checkpoint_write(&checkpoint, &arena, &first, &err));
        assert(checkpoint_read(&again, &arena, first, &proof_again, &err));
        assert(checkpoint_write(&again, &arena, &second, &err) && str_eq(first, second));
        assert(str_eq(checkpoint.page.token, again.page.token));
        assert((checkpoint.page.token.data == NULL) == (again.page.token.data == NULL));
    } else
        assert(arena.failed || err.level == ERROR_FATAL);
    arena_release(&arena);
    return 0;
}
