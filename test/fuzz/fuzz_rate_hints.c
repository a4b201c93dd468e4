/* Headers, a line each: all hints are numbers that waits and rates can be computed from.
 */
#include <assert.h>
#include <stdint.h>

#include "base/list.h"
#include "core/limits.h"
#include "data/rate_hints.h"

static const int64_t NOW_US = INT64_C(1767225600000000);

static struct http_headers read_headers(struct arena *arena, struct str text)
{
    struct {
        struct http_header *items;
        size_t count;
    } list = { 0 };

    while (text.len > 0) {
        struct str value = str_cut(&text, '\n');
        const struct str name = str_cut(&value, ':');
        struct http_header *header = LIST_ADD(arena, &list);

        if (header == NULL)
            break;
        *header = (struct http_header){ name, str_trim(value) };
    }
    return (struct http_headers){ list.items, list.count };
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    struct http_response reply = { .status = 429 };
    struct rate_hints hints;
    struct arena arena;

    arena_init(&arena, 4 << 20);
    reply.headers = read_headers(&arena, text);
    hints = rate_hints_of(&reply, false, NOW_US);
    assert(hints.has_retry_after == (hints.retry_after_us > 0));
    assert(!hints.has_remaining || hints.remaining >= 0);
    assert(hints.reset_at_us >= 0 && hints.limit >= 0);
    assert(hints.provider_rate >= 0 && (hints.provider_rate == 0 || hints.limit > 0));
    reply.status = 200;
    hints = rate_hints_of(&reply, false, NOW_US);
    assert(!hints.has_retry_after);
    arena_release(&arena);
    return 0;
}
