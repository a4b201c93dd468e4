/* sql: a look into a database from outside, by its own library. */
#ifndef PATRA_TEST_SUPPORT_SQL_H
#define PATRA_TEST_SUPPORT_SQL_H

#include <stdint.h>

/* The first value of the first row as a number; ends the test when there is none. dsn as patra
 * takes it: a SQLite file or postgresql://. */
int64_t sql_number(const char *dsn, const char *sql);

#endif
