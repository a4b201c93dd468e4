/* moment: the ways in which the simulator's users and its replies write times.
 *
 * All are the microseconds of base/instant.h. Nothing here reads a clock.
 */
#ifndef PATRA_SIM_UTIL_TIME_OPTION_H
#define PATRA_SIM_UTIL_TIME_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* What when.h reads (the beginning of what is meant), or a number of microseconds since 1970. */
bool time_option_parse(struct str text, int64_t *at_us);

/* What base/duration.h reads (30s, 15m, 1h30m, 500ms), with a sign where one makes sense, or a
 * number of seconds. */
bool duration_option_parse(struct str text, int64_t *us);

#endif
