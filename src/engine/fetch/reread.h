/* reread: one record's own bytes, as they were stored, judged again.
 *
 *      struct reread reread;
 *      if (!reread_open(&reread, &arena, &from, err)) ...
 *      ... reread.record, good or bad; record_hash(&reread.context, ...), record_fields(...)
 *      reread_close(&reread);
 *
 * Paths that lead out of the record (../@date) find nothing here: only the record was stored.
 */
#ifndef PATRA_ENGINE_FETCH_REREAD_H
#define PATRA_ENGINE_FETCH_REREAD_H

#include "engine/fetch/record.h"

struct reread {
    struct reader reader; /* its own, where it was given none */
    struct document document;
    struct record_origin origin; /* these two, and the arena */
    struct record record;        /* bytes that cannot be read at all are bad: "item.syntax" */
};

struct reread_from { /* endpoint and payload must outlive the reread */
    const struct spec_endpoint *endpoint;
    struct str payload;
    int64_t observed_us;         /* when it was requested */
    const struct reader *reader; /* of the endpoint, open, for a loop over many; NULL: its own */
};

/* It must not be moved. False only for a failure of our own. */
bool reread_open(struct reread *reread, struct arena *arena, const struct reread_from *from,
                 struct error *err) MUST_CHECK;
void reread_close(struct reread *reread); /* accepts the zero value */

#endif
