/* spec_cache: snapshots that have been read, for all threads of a process.
 *
 *      if (!spec_cache_hold(cache, plan.expr_proto_snapshot, &spec, err))
 *          return false;
 *      ... spec, and all it points to, is valid here ...
 *      spec_cache_release(cache, spec);
 *
 * A snapshot is known by its text, compared as a whole, so a row that says something else than its
 * hash is read as what it says. A spec that is held stays; of the others the SPECS_KEPT used last
 * are kept. So memory is bounded by those and by the number of holders.
 *
 * Threads. Any number of threads use one cache; it has a lock of its own. A spec is never written
 * once it has been read.
 */
#ifndef PATRA_ENGINE_SOURCE_SPEC_CACHE_H
#define PATRA_ENGINE_SOURCE_SPEC_CACHE_H

#include "base/attr.h"
#include "spec/spec.h"

enum { SPECS_KEPT = 32 };

struct spec_cache;
bool spec_cache_open(struct spec_cache **cache, struct error *err) MUST_CHECK;

/* All specs must have been released. Accepts NULL. */
void spec_cache_close(struct spec_cache *cache);

/* Without a cache (NULL) the spec is read for this holder only. Errors: those of spec_read(). */
bool spec_cache_hold(struct spec_cache *cache, struct str snapshot, const struct spec **spec,
                     struct error *err) MUST_CHECK;

/* Once for each hold, with the same cache. Accepts a spec that is NULL. */
void spec_cache_release(struct spec_cache *cache, const struct spec *spec);

#endif
