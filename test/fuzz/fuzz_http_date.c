/* HTTP dates and Retry-After. */
#include <assert.h>
#include <stdint.h>

#include "base/instant.h"
#include "data/http_date.h"
#include "data/retry_after.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const int64_t NOW_US = INT64_C(946684790000000);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    const struct retry_after retry = retry_after_parse(text, NOW_US);
    char shown[HTTP_DATE_TEXT_MAX];
    int64_t at_us, again_us;

    assert(retry.wait_us >= 0 && retry.wait_us <= RETRY_AFTER_US_MAX);
    assert(retry.kind == RETRY_AFTER_WAIT ? retry.is_past == (retry.wait_us == 0)
                                          : retry.wait_us == 0 && !retry.is_past);
    if (http_date_parse(text, NOW_US, &at_us)) {
        assert(retry.kind == RETRY_AFTER_WAIT);
        (void)http_date_format(at_us, shown);
        assert(http_date_parse(str_of(shown), NOW_US, &again_us));
        /* All but a leap second, which is written as the second before it. */
        assert(again_us == at_us || again_us == at_us - 999999);
    }
    if (http_date_parse_lenient(text, &at_us)) {
        (void)http_date_format(at_us, shown);
        assert(http_date_parse(str_of(shown), NOW_US, &again_us) && again_us == at_us);
    }
    return 0;
}
