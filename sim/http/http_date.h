/* http_date: the date of HTTP's Date and Retry-After headers, "Fri, 02 Jan 2026 03:04:05 GMT". */
#ifndef PATRA_SIM_HTTP_HTTP_DATE_H
#define PATRA_SIM_HTTP_HTTP_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { HTTP_DATE_TEXT_MAX = 40 };
struct str sim_http_date_write(int64_t at_us, char text[HTTP_DATE_TEXT_MAX]);
bool sim_http_date_parse(struct str text, int64_t *at_us);

#endif
