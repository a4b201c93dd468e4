/* Any bytes: a schedule or a refusal that points into them; and ticks that agree with one another.
 */
#include <assert.h>
#include <stdint.h>

#include "base/instant.h"
#include "core/cron.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const int64_t moments[] = { 0, -1, INT64_C(951782399999999), INT64_C(4107542400000000) };
    const struct str text = { (const char *)bytes, size };
    struct cron cron;
    struct error err;
    size_t fault_at = SIZE_MAX;

    if (!cron_parse(text, &cron, &fault_at, &err)) {
        assert(fault_at <= size);
        assert(err.level == ERROR_REQUEST);
        return 0;
    }
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        int64_t next_us, last_us;

        assert(cron_next(&cron, moments[i], &next_us));
        assert(next_us > moments[i] && next_us % US_PER_MINUTE == 0);
        assert(cron_matches(&cron, next_us));
        assert(cron_last(&cron, next_us, &last_us) && last_us == next_us);
        assert(cron_last(&cron, next_us - 1, &last_us) && last_us <= moments[i]);
        assert(cron_next(&cron, last_us, &next_us) && next_us > moments[i]);
    }
    return 0;
}
