/* id_case: ids that differ only in the case of their letters, a to z.
 *
 * A sorted index of ids is searched for them without reading it: id_case_next() says where the next
 * one can be at the earliest, the index says what is there or after it, and so on.
 */
#ifndef PATRA_CORE_ID_CASE_H
#define PATRA_CORE_ID_CASE_H

#include <stdbool.h>

#include "base/str.h"

bool id_case_is_alike(struct str a, struct str b);

/* The first id, in the order of bytes, that is like `id` and not before `from`; it has id.len
 * bytes. False: there is none. */
bool id_case_next(struct str id, struct str from, char *next);

#endif
