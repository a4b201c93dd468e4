/* silence: a person wants to hear nothing of some alerts for a while. */
#ifndef PATRA_ACT_SILENCE_H
#define PATRA_ACT_SILENCE_H

#include "base/instant.h"
#include "port/store_alert.h"
#include "view/reader.h"

#define SILENCE_MAX_US (90 * US_PER_DAY)

/* Sets silence->id and until_us. "alert.silence" (L2): no such rule, nothing named, or a time that
 * is not within SILENCE_MAX_US. */
bool act_silence(const struct view_reader *reader, struct alert_silence *silence, int64_t for_us,
                 struct error *err) MUST_CHECK;

static inline bool act_silence_error_is_request(const struct error *err)
{
    return str_eq(str_of(err->code), STR("alert.silence"));
}

#endif
