/* planted: a secret, what is said by somebody who was shown it, and the search for what is left.
 *
 * It is repeated in twelve ways of writing, four to a text, so that none is cut off:
 *
 *      as it is, in capitals, percent-encoded, percent-encoded twice
 *      decimal, hexadecimal and named references of HTML, base64
 *      base64 behind a user's name, hexadecimal digits small and large, escapes of JSON
 */
#ifndef PATRA_TEST_SUPPORT_PLANTED_H
#define PATRA_TEST_SUPPORT_PLANTED_H

#include "run.h"

#define PLANTED "zq7/K+y&w9x"
#define PLANTED_ENCODED "zq7%2FK%2By%26w9x" /* for a URL */

#define PLANTED_ONE "key zq7/K+y&w9x, ZQ7/K+Y&W9X, zq7%2FK%2By%26w9x, zq7%252FK%252By%2526w9x end"
#define PLANTED_TWO                                                                               \
    "key zq7&#47;K&#43;y&#38;w9x, zq7&#x2f;K&#x2B;y&#x26;w9x, zq7/K+y&amp;w9x, enE3L0sreSZ3OXg= " \
    "end"
#define PLANTED_THREE                                                           \
    "key b3A6enE3L0sreSZ3OXg=, 7a71372f4b2b7926773978, 7A71372F4B2B7926773978," \
    " \\u007aq7\\/K\\u002by\\u0026w9x end"

/* Nothing of it is in there; fails the test otherwise. */
void planted_check(struct str text, const char *what);
void planted_check_run(struct run run, const char *what);
/* The file of a SQLite store, and its log. */
void planted_check_store(const char *path);
/* Every column of every table of a PostgreSQL store. */
void planted_check_database(const char *dsn);

#endif
