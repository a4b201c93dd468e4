/* rebuild: the tables of a projection once more, beside the live ones, and then in their place.
 *
 *      noted: where the stream begins
 *      copies "NAME__new" ◀── the stream from there on, page by page
 *                         ◀── records, where the stream does not reach back to its beginning
 *      swap, one transaction: live tables become "NAME__old", copies become live,
 *                             what came into the stream meanwhile is applied
 *
 * The version guard merges what comes from the stream and from records: whichever is newer stays.
 * Everything that a consumer has applied before the swap came from the stream, so it is in the
 * copies; what it applies after the swap goes into them.
 *
 * Readers see the old rows up to the swap and the new ones after it, never a mixture. Consumers go
 * on all the time; they wait for the swap's few statements.
 *
 * Resumable. How far it is is committed with the rows of each page (ing_projection.rebuild). A
 * rebuild that was killed is continued by the next one of the same spec; of another spec, it starts
 * again with empty copies. One that was overtaken by another fails with L2 "rebuild.overtaken".
 *
 * Events that cannot be applied are left out and counted: the consumer has parked their keys, and
 * tries them again.
 *
 * Where events were removed from the stream, records are read by the present mapping of their
 * source, as exports read them (engine/export/field_reader.h): of the event's own members they have
 * what the record's row says. Aggregates of other services have no records: L2 "rebuild.pruned",
 * nothing is changed.
 */
#ifndef PATRA_ENGINE_REBUILD_REBUILD_H
#define PATRA_ENGINE_REBUILD_REBUILD_H

#include "engine/source/spec_cache.h"
#include "port/clock.h"
#include "port/store_sink.h"

struct rebuild_result {
    int64_t events;  /* read from the stream */
    int64_t behind;  /* of the stream: not read yet */
    int64_t records; /* read beside it */
    int64_t rows;    /* written into the copies */
    int64_t skipped; /* events that cannot be applied */
    struct error skipped_example;
    bool is_continued; /* one that was begun before */
    int64_t live_keys; /* of the first tables of both sides, before the swap */
    int64_t new_keys;
    int64_t buckets_differ; /* of 64: in which their keys and versions differ */
    int64_t tries;          /* of the swap, in vain: somebody was in the way */
};

/* Called after each page. */
struct rebuild_listener {
    /* False: stop here; the next rebuild continues. */
    bool (*page)(struct rebuild_listener *listener, const struct rebuild_result *so_far);
};

struct rebuild_request {
    struct store *store; /* whose stream and records are read */
    struct store *sink;  /* may be the same session */
    const struct projection_spec *spec;
    struct str hash; /* of its stored form */
    struct clock *clock;
    struct spec_cache *specs;
    struct rebuild_listener *listener; /* may be NULL */
};

/* *is_swapped is false when the listener stopped it. */
bool rebuild(struct arena *arena, const struct rebuild_request *request,
             struct rebuild_result *result, bool *is_swapped, struct error *err) MUST_CHECK;

/* The tables from before the last rebuild become the live ones again, with all events since: in one
 * transaction. L2 "rebuild.no_old" when there are none, "rebuild.pruned" when events since then
 * were removed. */
bool rebuild_back(struct arena *arena, const struct rebuild_request *request,
                  struct rebuild_result *result, struct error *err) MUST_CHECK;

#endif
