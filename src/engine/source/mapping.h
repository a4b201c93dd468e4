/* mapping: how the records of a source are read now.
 *
 * Every operation of the source that is in force has an endpoint whose responses are records: the
 * details endpoint where it has two phases. A stored record was read by an expression (ing_expr),
 * which names that endpoint; mapping_of() gives what reads it now.
 */
#ifndef PATRA_ENGINE_SOURCE_MAPPING_H
#define PATRA_ENGINE_SOURCE_MAPPING_H

#include "engine/source/spec_cache.h"
#include "spec/snapshot.h"
#include "spec/source.h"

enum { MAPPINGS_MAX = 64 };

struct mapping {
    struct snapshot snapshot;
    const struct spec *spec; /* held */
    const struct spec_endpoint *endpoint;
};

struct mappings {
    struct mapping items[MAPPINGS_MAX]; /* one per operation */
    size_t count;
    struct spec_cache *specs; /* may be NULL */
};

/* The endpoint whose responses are records. */
const struct spec_endpoint *mapping_bearer(const struct spec *spec);

/* mappings_release() must follow, also after a failure. The zero value with `specs` is how it
 * begins. */
bool mappings_load(struct mappings *mappings, struct arena *arena, const struct source *source,
                   struct error *err) MUST_CHECK;
void mappings_release(struct mappings *mappings);

/* NULL: no operation reads the endpoint now. */
const struct mapping *mapping_of(const struct mappings *mappings, struct str endpoint);

#endif
