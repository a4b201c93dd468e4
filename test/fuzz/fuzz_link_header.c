/* A target found in a Link header is a piece of that header, between its angle brackets. */
#include <assert.h>
#include <stdint.h>

#include "data/link_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str value = { (const char *)bytes, size };
    struct str target;
    struct error err;

    if (!link_header_find(value, STR("next"), &target, &err)) {
        assert(err.level == ERROR_REQUEST);
        return 0;
    }
    if (target.data != NULL) {
        assert(target.data > value.data && target.data[-1] == '<');
        assert(target.data + target.len < value.data + value.len);
        assert(target.data[target.len] == '>');
    }
    return 0;
}
