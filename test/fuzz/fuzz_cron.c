/* Any bytes: a schedule or a refusal that points into them; and ticks that agree with one another.
 */
#include <assert.h>
#include <stdint.h>

#include "base/instant.h"
#include "core/cron.h"

/* By the fields as they were read, of that moment alone: both days restricted, either will do. */
static bool is_tick(const struct cron *cron, int64_t at_us)
{
    const struct civil at = instant_to_civil(at_us);
    const int64_t weekday = ((instant_day_number(at_us) + 4) % 7 + 7) % 7; /* a Thursday was 0 */
    const bool day = (cron->days >> at.day & 1) != 0;
    const bool day_of_week = (cron->weekdays >> weekday & 1) != 0;

    return (cron->minutes >> at.minute & 1) != 0 && (cron->hours >> at.hour & 1) != 0 &&
           (cron->months >> at.month & 1) != 0 &&
           (cron->is_any_day || cron->is_any_weekday ? day && day_of_week : day || day_of_week);
}

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
        assert(is_tick(&cron, next_us));
        assert(cron_last(&cron, next_us, &last_us) && last_us == next_us);
        assert(cron_last(&cron, next_us - 1, &last_us) && last_us <= moments[i]);
        assert(cron_next(&cron, last_us, &next_us) && next_us > moments[i]);
    }
    return 0;
}
