/* A file is unpacked to the same bytes, with the same end, whatever the pieces it comes in; what is
 * not gzip stays as it is. The first byte of the input says how large the pieces are. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "adapter/curl/gunzip.h"

enum { OUT_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct result {
    uint64_t hash;
    size_t len;
    bool ok;
};

static void add(struct result *result, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        result->hash = (result->hash ^ (unsigned char)bytes[i]) * 1099511628211U;
    result->len += len;
}

static struct result unpack_file(struct str file, size_t piece, size_t room)
{
    struct gunzip gunzip = { 0 };
    struct result result = { 14695981039346656037U, 0, true };
    struct error err = { 0 };
    char out[4096];
    size_t at = 0, given = 0;

    while (result.ok && result.len < OUT_MAX) {
        struct str in = { file.data + at, given - at };
        size_t len;

        result.ok = gunzip_take(&gunzip, &in, given == file.len, (struct http_room){ out, room },
                                &len, &err);
        assert(len <= room);
        at = given - in.len;
        if (result.ok)
            add(&result, out, len);
        if (len > 0 || !result.ok)
            continue;
        if (given == file.len)
            break;
        given = file.len - given < piece ? file.len : given + piece;
    }
    if (result.ok && result.len < OUT_MAX)
        result.ok = gunzip_end(&gunzip, &err);
    if (!result.ok)
        assert(err.level == ERROR_TRANSIENT);
    if (result.ok && !gunzip.is_packed && result.len < OUT_MAX)
        assert(result.len == file.len);
    gunzip_release(&gunzip);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct result one, other;
    struct str file;

    if (size == 0)
        return 0;
    file = (struct str){ (const char *)bytes + 1, size - 1 };
    one = unpack_file(file, (size_t)bytes[0] + 1, 4096);
    other = unpack_file(file, size, 64);
    assert(one.ok == other.ok);
    if (one.ok && one.len < OUT_MAX && other.len < OUT_MAX)
        assert(one.len == other.len && one.hash == other.hash);
    return 0;
}
