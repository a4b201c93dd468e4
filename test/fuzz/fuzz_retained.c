/* Lines of a file of retention, which anybody may have written: whatever they are, what is found
 * has the run and the number that were asked for, and is JSON where it must be. */
#include <assert.h>
#include <stdint.h>

#include "data/json.h"
#include "engine/retain/find.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    const struct retained_file file = { .path = STR("old.jsonl"), .sha256 = STR("") };
    struct retain_find find;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 24);
    retain_find_init(&find, &arena, &file, 31, 4);
    if (byte_sink_write(&find.sink, text, &err) && find.has_batch) {
        assert(find.batch.run_id == 31);
        assert(find.batch.number == 4);
        assert(json_is_valid(find.batch.request_digest));
        assert(json_is_valid(find.batch.response_digest));
        assert(json_is_valid(find.batch.stats));
    }
    byte_sink_close(&find.sink);
    arena_release(&arena);
    return 0;
}
