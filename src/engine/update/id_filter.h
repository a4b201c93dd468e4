/* id_filter: ids that have been seen, in a fixed amount of memory.
 *
 * A Bloom filter. It never forgets an id. Sometimes it reports an id as seen that was not: about
 * one in two hundred thousand with a hundred thousand ids, one in forty with a million. It suits
 * callers that may leave such an id for later.
 */
#ifndef PATRA_ENGINE_UPDATE_ID_FILTER_H
#define PATRA_ENGINE_UPDATE_ID_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { ID_FILTER_BITS = 1 << 23, ID_FILTER_WORDS = ID_FILTER_BITS / 64 };

struct id_filter { /* zeros: empty. A megabyte: put it into an arena. */
    uint64_t words[ID_FILTER_WORDS];
};

void id_filter_add(struct id_filter *filter, struct str id);
bool id_filter_has(const struct id_filter *filter, struct str id);

#endif
