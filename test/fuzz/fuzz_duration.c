/* Whatever is read as a duration has a short form that is the same duration. */
#include <assert.h>
#include <stdint.h>

#include "base/duration.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    struct duration duration, again;
    char shown[DURATION_TEXT_MAX];
    struct error err;
    int64_t moved_us;

    if (!duration_parse(text, &duration, &err))
        return 0;
    (void)duration_format(duration, shown);
    assert(duration_parse(str_of(shown), &again, &err));
    assert(again.months == duration.months && again.us == duration.us);
    (void)!duration_add(0, duration, &moved_us);
    (void)!duration_subtract(0, duration, &moved_us);
    return 0;
}
