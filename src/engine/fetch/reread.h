/* reread: one record's own bytes, as they were stored, judged again.
 *
 *      struct reread reread;
 *      if (!reread_open(&reread, &arena, &endpoint, payload, err)) ...
 *      ... reread.record, good or bad; record_hash(&reread.context, ...), record_fields(...)
 *      reread_close(&reread);
 *
 * A stored XML element is without its surroundings: the namespace of names without a prefix, and
 * what its prefixes mean. It is read with the source's prefixes declared, and names without a
 * prefix first in no namespace, then in each of the source's, until the record is good.
 */
#ifndef PATRA_ENGINE_FETCH_REREAD_H
#define PATRA_ENGINE_FETCH_REREAD_H

#include "engine/fetch/record.h"

struct reread {
    struct reader reader;
    struct document document;
    struct record_origin origin; /* these two, and the arena */
    struct record record;        /* bytes that cannot be read at all are bad: "item.syntax" */
};

/* The endpoint and the payload must outlive it, and it must not be moved. False only for a failure
 * of our own. */
bool reread_open(struct reread *reread, struct arena *arena, const struct spec_endpoint *endpoint,
                 struct str payload, struct error *err) MUST_CHECK;
void reread_close(struct reread *reread); /* accepts the zero value */

#endif
