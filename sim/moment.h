/* moment: the ways in which the simulator's users and its replies write times.
 *
 * All are the microseconds of base/instant.h. Nothing here reads a clock.
 */
#ifndef PATRA_SIM_MOMENT_H
#define PATRA_SIM_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* "2026-01-02", "2026-01-02T03:04:05", with ".678" and "Z" or "+01:00" behind it (none is UTC), or
 * a number of microseconds since 1970. */
bool moment_parse(struct str text, int64_t *at_us);

/* "250us", "30", "30s", "1.5s", "500ms", "5m", "2h", "7d", with a sign where one makes sense. */
bool moment_parse_duration(struct str text, int64_t *us);

/* The form of HTTP's Date and Retry-After: "Fri, 02 Jan 2026 03:04:05 GMT". */
enum { MOMENT_HTTP_MAX = 40 };
struct str moment_http(int64_t at_us, char text[MOMENT_HTTP_MAX]);
bool moment_parse_http(struct str text, int64_t *at_us);

#endif
