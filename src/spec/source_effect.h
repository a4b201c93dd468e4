/* source_effect: what follows from a changed source for what is stored already.
 *
 * A changed query (query_hash) has fetched nothing yet; a changed mapping (mapping_hash) reads
 * stored records in another way. Both are said when a source is compared or applied, because
 * neither shows in the changed lines themselves.
 */
#ifndef PATRA_SPEC_SOURCE_EFFECT_H
#define PATRA_SPEC_SOURCE_EFFECT_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "spec/source.h"

struct source_effect { /* on one operation, which the source had before */
    struct str operation;
    bool is_by_id;     /* it has no cursor */
    bool keeps_cursor; /* namespace: global */
    bool query_changed;
    bool mapping_changed;
};

struct source_effect_list {
    struct source_effect *items;
    size_t count;
};

bool source_effects(struct arena *arena, const struct source *old, const struct source *new,
                    struct source_effect_list *list, struct error *err) MUST_CHECK;

/* A line per operation and change, with what to do. */
void source_effects_print(const struct source_effect_list *list, struct str source,
                          struct buf *out);

#endif
