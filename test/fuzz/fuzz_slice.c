/* A slice's row, of each dimension: refused, or a slice that can be walked. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/instant.h"
#include "core/cursor.h"
#include "engine/slice/slice_read.h"

static const struct window WINDOW = { 0, US_PER_DAY };

static void check_slice(const struct slice *slice)
{
    switch (slice->dimension) {
    case SLICE_TIME:
        assert(window_is_valid(slice->window));
        break;
    case SLICE_PAGE:
        assert(slice->pages.from >= 0 && slice->pages.from < slice->pages.to);
        break;
    case SLICE_ID:
        if (slice->ids.slicing == ID_SLICING_HASH)
            assert(slice->ids.bucket < slice->ids.bucket_count);
        else
            assert(slice->ids.from < slice->ids.to);
        break;
    case SLICE_FEED:
        if (slice->feed.type == CURSOR_ID && slice->feed.after.data != NULL)
            assert(cursor_id_is_valid(slice->feed.after));
        assert(slice->feed.type == CURSOR_ID || slice->feed.type == CURSOR_TOKEN);
        break;
    case SLICE_FILE:
        assert(slice->file.data != NULL);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const enum slice_dimension dimensions[] = { SLICE_TIME, SLICE_PAGE, SLICE_ID, SLICE_FEED,
                                                       SLICE_FILE };
    const struct plan plan = { .window = WINDOW };
    struct slice_limits limits;
    struct slice slice;
    struct arena arena;
    struct error err;

    arena_init(&arena, 16 << 20);
    for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++) {
        const struct plan_slice row = { .dimension = dimensions[i],
                                        .number = 1,
                                        .window = WINDOW,
                                        .spec = { (const char *)bytes, size } };

        if (slice_read(&arena, &plan, &row, &slice, &limits, &err)) {
            check_slice(&slice);
            assert(limits.requests_max >= 0 && limits.duration_max_us >= 0);
        } else
            assert(strcmp(err.code, "slice.unreadable") == 0);
    }
    arena_release(&arena);
    return 0;
}
