/* reread: one record's own bytes, as they were stored, judged once more.
 *
 *      struct reread reread;
 *      if (!reread_open(&reread, &arena, &endpoint, payload, err)) ...
 *      reread.judgement: reread.record or reread.bad; record_hash() and record_fields() go
 *      reread_close(&reread);
 *
 * An XML element has lost what stood around it: which namespace its names without a prefix are of,
 * and what its prefixes mean. It is read with the source's prefixes declared, and names without one
 * first in no namespace, then in each of the source's, until it can be judged.
 */
#ifndef PATRA_ENGINE_FETCH_REREAD_H
#define PATRA_ENGINE_FETCH_REREAD_H

#include "engine/fetch/reader.h"
#include "engine/fetch/record.h"

struct reread {
    struct reader reader;
    struct document document;
    enum record_judgement judgement;
    struct record record;  /* GOOD */
    struct bad_record bad; /* BAD; also for bytes that can not be read at all: "item.syntax" */
};

/* The endpoint and the payload must outlive it. False only for what is wrong with us. */
bool reread_open(struct reread *reread, struct arena *arena, const struct spec_endpoint *endpoint,
                 struct str payload, struct error *err) MUST_CHECK;
void reread_close(struct reread *reread); /* accepts the zero value */

#endif
