/* Whole numbers as people and headers write them: read exactly or not at all. */
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

/* The same with numbers that cannot overflow: digits after an optional sign. */
static bool is_number(struct str text, int64_t *value)
{
    const bool is_negative = text.len > 0 && text.data[0] == '-';
    const bool is_signed = is_negative || (text.len > 0 && text.data[0] == '+');
    __int128 sum = 0;

    if (text.len == (size_t)is_signed)
        return false;
    for (size_t i = is_signed; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        sum = sum * 10 + (text.data[i] - '0');
        if (sum > (__int128)INT64_MAX + 1)
            return false;
    }
    if (sum > (__int128)INT64_MAX + is_negative)
        return false;
    *value = (int64_t)(is_negative ? -sum : sum);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    int64_t value = 0, wanted = 0;

    assert(str_to_i64(text, &value) == is_number(text, &wanted));
    assert(value == wanted);
    return 0;
}
