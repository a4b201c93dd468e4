/* time_option: times and durations in options and control requests. Nothing here reads a clock. */
#ifndef PATRA_SIM_UTIL_TIME_OPTION_H
#define PATRA_SIM_UTIL_TIME_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* A date of api_date.h (its start), or microseconds since 1970. */
bool time_option_parse(struct str text, int64_t *at_us);

/* A duration of base/duration.h (30s, 15m, 1h30m, 500ms) with an optional sign, or seconds. */
bool duration_option_parse(struct str text, int64_t *us);

#endif
