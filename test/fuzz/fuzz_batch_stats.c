/* The numbers of a batch, as its row has them: refused, or such as can be summed up and written. */
#include <assert.h>
#include <stdint.h>

#include "engine/execute/commit.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct fetch_batch batch = { 0 };
    struct commit_result result = { 0 }, again = { 0 };
    struct arena arena;
    struct error err;
    struct str json;

    arena_init(&arena, 16 << 20);
    if (batch_stats_read(&arena, (struct str){ (const char *)bytes, size }, &result, &err)) {
        assert(batch_stats_write(&arena, &batch, &result, NULL, &json, &err));
        assert(batch_stats_read(&arena, json, &again, &err));
        assert(again.created == result.created && again.updated == result.updated);
        assert(again.deleted == result.deleted && again.unchanged == result.unchanged);
        assert(again.older == result.older && again.quarantined == result.quarantined);
        assert(again.signals == result.signals && again.has_latest == result.has_latest);
        assert(!again.has_latest || again.latest_us == result.latest_us);
    }
    arena_release(&arena);
    return 0;
}
