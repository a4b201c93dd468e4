/* iregexp: regular expressions of RFC 9485, in bounded time.
 *
 * I-Regexp is the syntax of JSONPath's match() and search(): literals, "." (all but \n and \r),
 * classes [a-z] [^\p{L}-], \p{Lu} and \P{Nd}, groups, alternatives, ? * + {n} {n,} {n,m}; no \d,
 * no back references. ^ and $ are anchors: in the RFC's grammar they are literal, but not in its
 * mappings to other engines, in JSONPath's compliance suite and for most authors; [\^] and [$] are
 * the characters. An expression is compiled to a small state machine. Matching keeps the set of
 * all possible states, so each character of the text costs at most one visit of each state,
 * whatever the expression.
 *
 *      a(b|c)*     0 char a    1 split 2,6    2 split 3,5    3 char b    4 jump 1 ...
 */
#ifndef PATRA_DATA_IREGEXP_H
#define PATRA_DATA_IREGEXP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* {n,m} is unrolled, so (a{99}){99} exceeds the first; the second limits the compiler's stack. */
enum { IREGEXP_STATES_MAX = 4000, IREGEXP_NEST_MAX = 64 };

struct iregexp;

/* In the arena. L2 "iregexp.syntax" with the offset, or "iregexp.limit". */
bool iregexp_compile(struct arena *arena, struct str pattern, const struct iregexp **out,
                     struct error *err) MUST_CHECK;

struct iregexp_text {
    struct str text; /* UTF-8 */
    bool search;     /* any part of it may match, not only the whole */
    uint64_t *steps; /* the budget: each visited state costs one */
};

/* Whether the text matches. False when the budget is used up (L2 "iregexp.limit") or the arena is
 * full. */
bool iregexp_run(const struct iregexp *re, struct arena *arena, struct iregexp_text text,
                 bool *found, struct error *err) MUST_CHECK;

#endif
