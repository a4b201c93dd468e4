/* Texts of sources without their personal data: no longer than before, the same when masked again,
 * UTF-8 when they were, and without the address that is planted in them. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/mask.h"

enum { TEXT_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Between blanks it is an address, whatever is around it. A text that has the same name may have it
 * in something that is not an address. */
static void check_planted(struct str text)
{
    static const char planted[] = " zoe.planted@example.org ";
    char around[TEXT_MAX + sizeof(planted)];
    const size_t half = text.len / 2;
    size_t len = 0;

    if (str_find(text, STR("zoe.planted")) < text.len)
        return;
    memcpy(around, text.data, half);
    memcpy(around + half, planted, sizeof(planted) - 1);
    memcpy(around + half + sizeof(planted) - 1, text.data + half, text.len - half);
    len = mask_personal(around, text.len + sizeof(planted) - 1);
    assert(memmem(around, len, " zoe.planted@", 13) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size < TEXT_MAX ? size : TEXT_MAX };
    char masked[TEXT_MAX], again[TEXT_MAX];
    size_t len;

    if (text.len == 0)
        return 0;
    memcpy(masked, text.data, text.len);
    len = mask_personal(masked, text.len);
    assert(len <= text.len);
    assert(!str_is_utf8(text) || str_is_utf8((struct str){ masked, len }));
    memcpy(again, masked, len);
    assert(mask_personal(again, len) == len && memcmp(again, masked, len) == 0);
    check_planted(text);
    return 0;
}
