/* suite: reads the JSON of public test suites, token by token.
 *
 * Deliberately independent of patra's own JSON reader and much simpler: suites are well-formed, and
 * a bug in the reader under test must not be hidden by the same bug here. Line comments are
 * skipped.
 *
 *      struct suite suite = suite_of(test_read(path));
 *      struct suite_token token;
 *      while (suite_next(&suite, &token)) ...
 */
#ifndef PATRA_TEST_SUITE_H
#define PATRA_TEST_SUITE_H

#include <stdbool.h>

#include "base/str.h"

struct suite {
    char *at; /* strings are decoded in place */
    char *end;
};

struct suite_token {
    enum {
        SUITE_MARK,   /* one of {}[],: */
        SUITE_KEY,    /* a string before a colon; the colon is consumed */
        SUITE_STRING, /* any other string, decoded */
        SUITE_WORD,   /* a number, true, false, null */
    } type;
    struct str text;
};

struct suite suite_of(struct str bytes); /* bytes from test_read; they are modified */
bool suite_next(struct suite *suite, struct suite_token *token); /* false at the end */

bool suite_is_key(const struct suite_token *token, const char *name);
bool suite_is_word(const struct suite_token *token, const char *word);

#endif
