/* source_select: reads the values of references that select (spec/selected.h), for the hashes of a
 * plan. Other references are not read: a plan needs no secret. */
#ifndef PATRA_ENGINE_SOURCE_SOURCE_SELECT_H
#define PATRA_ENGINE_SOURCE_SOURCE_SELECT_H

#include "base/arena.h"
#include "base/attr.h"
#include "port/secret.h"
#include "spec/source.h"

/* Fills source->selected. "source.selects" (L2) when a required value is missing, or when there is
 * no reader (secrets NULL) and the source needs one; secret.* (L4) when a value cannot be read. */
bool source_select(struct arena *arena, struct secret_source *secrets, struct source *source,
                   struct error *err) MUST_CHECK;

#endif
