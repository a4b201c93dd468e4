/* cli: what tests of the program share: a store for it, and what it says, taken apart. */
#ifndef PATRA_TEST_SUPPORT_CLI_H
#define PATRA_TEST_SUPPORT_CLI_H

#include <stdbool.h>

#include "base/str.h"

/* The address of a new store, good until the test program ends; the first lives in the test's
 * folder, the second skips the test where PostgreSQL is not installed. */
const char *cli_sqlite(const char *name);
const char *cli_postgres(void);

/* Initialised, with test/data/plan/daily.yaml in it. Returns `store`. */
const char *cli_with_daily(const char *store);

/* The characters of the longest line. */
size_t cli_width(struct str text);

bool cli_has(struct str text, const char *needle);

/* The value at names and numbers of a JSON text ("slices.0.window.from"), unchanged,
 * strings without quotes; "" where there is none. */
struct str cli_value(struct str json, const char *path);
/* The same of a whole number; -1 where there is none. */
int64_t cli_number(struct str json, const char *path);

#endif
