/* date_read: one reader per format of date.h's table. Internal to date*.c. Each returns false for
 * a text that is not exactly of its format, and allocates nothing. */
#ifndef PATRA_DATA_DATE_READ_H
#define PATRA_DATA_DATE_READ_H

#include <stdbool.h>

#include "base/str.h"
#include "data/date.h"

bool date_read_rfc3339(struct str text, struct date *date);
bool date_read_datetime(struct str text, struct date *date);
bool date_read_date(struct str text, struct date *date);
bool date_read_month(struct str text, struct date *date);
bool date_read_year(struct str text, struct date *date);
bool date_read_partial(struct str text, struct date *date);
bool date_read_ncbi(struct str text, struct date *date);
bool date_read_compact(struct str text, struct date *date);
bool date_read_epoch_s(struct str text, struct date *date);
bool date_read_epoch_ms(struct str text, struct date *date);
bool date_read_structured(struct str text, struct date *date);
bool date_read_medline(struct str text, struct date *date);
bool date_read_rfc822(struct str text, struct date *date);

#endif
