/* No body unpacks to more than allowed. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "adapter/curl/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const codings[] = { "gzip", "deflate", "br", "zstd" };
    enum { OUT_MAX = 100000 };
    struct arena arena;
    struct error err;
    struct str body;

    if (size == 0)
        return 0;
    arena_init(&arena, 4 << 20);
    if (unpack(&arena,
               &(struct packed_body){
                   str_of(codings[bytes[0] % 4]), { (const char *)bytes + 1, size - 1 }, OUT_MAX },
               &body, &err))
        assert(body.len <= OUT_MAX);
    else
        assert(strncmp(err.code, "http.", 5) == 0);
    arena_release(&arena);
    return 0;
}
