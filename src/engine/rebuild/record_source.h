/* record_source: stored records as the events that describe them. Internal to rebuild/.
 *
 * Of the wire event they have what the record's row says and its fields by the present mapping:
 * eventType, source, endpoint, id, version, updatedAt, providerVersion, deleted, exprHash, fields.
 */
#ifndef PATRA_ENGINE_REBUILD_RECORD_SOURCE_H
#define PATRA_ENGINE_REBUILD_RECORD_SOURCE_H

#include "engine/project/project.h"
#include "engine/rebuild/rebuild.h"
#include "engine/rebuild/state.h"

/* Whether every aggregate of the spec is of records: L2 "rebuild.pruned" where it is not. */
bool record_source_check(struct arena *arena, const struct rebuild_request *request,
                         struct error *err) MUST_CHECK;

struct record_page {
    struct project_event *items;
    size_t count;
    int64_t unread; /* records that the present mapping cannot read; not among the items */
};

/* The records after the state's place, which moves; state->records_done after the last. What is
 * made lives in the arena; the state's texts in `keep`. */
bool record_source_next(struct arena *arena, struct arena *keep,
                        const struct rebuild_request *request, struct rebuild_state *state,
                        struct record_page *page, struct error *err) MUST_CHECK;

#endif
