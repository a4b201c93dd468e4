/* rederive: reads stored records again by the source's present mapping, without a request.
 *
 *      ing_record, expr_hash ── ing_expr: the mapping that read it ── not the present one?
 *                                                                            │
 *      payload ── by the old mapping ──▶ fields as they were published       │
 *              ╰─ by the present one ──▶ fields, date, version, deleted ◀────╯
 *                                             │
 *      one transaction per page:              ├─ something differs: new version, event
 *                                             ├─ nothing does: only the record's expr_hash moves
 *                                             ╰─ cannot be read: quarantined; the record stays
 *
 * The query of a record does not change here: one that was fetched by an old query and is read by
 * the present mapping is still requested again by the next update.
 *
 * Resumable. A record that is done has another expr_hash, so a run that was killed is continued by
 * the next one. Any number of runs, harvests and updates may work at once: the write is a
 * compare-and-set of version and expression, and a page that lost is read again. Memory does not
 * grow with the number of records.
 *
 * Tombstones are left alone. A record that the present mapping calls deleted becomes one.
 */
#ifndef PATRA_ENGINE_REDERIVE_REDERIVE_H
#define PATRA_ENGINE_REDERIVE_REDERIVE_H

#include "base/arena.h"
#include "base/attr.h"
#include "engine/source/spec_cache.h"
#include "port/random.h"
#include "port/store.h"
#include "spec/source.h"

enum { REDERIVE_EXAMPLES = 3, REDERIVE_SAMPLE_MAX = 160 };

struct rederive_example {
    struct str id;   /* the provider's */
    struct str from; /* JSON, cut to REDERIVE_SAMPLE_MAX bytes; '' = the field was absent */
    struct str to;
};

struct rederive_field { /* an output field, or "updatedAt", "providerVersion", "deleted" */
    struct str name;
    int64_t changed; /* records in which it differs */
    struct rederive_example examples[REDERIVE_EXAMPLES];
    size_t example_count;
};

struct rederive_field_list {
    struct rederive_field *items;
    size_t count;
};

struct rederive_result {
    int64_t read;      /* records of an old mapping */
    int64_t changed;   /* of these: a new version and its event */
    int64_t deleted;   /* of the changed: tombstones now */
    int64_t unchanged; /* nothing visible differs */
    int64_t bad;       /* cannot be read by the present mapping */
    int64_t unknown;   /* expressions of which the store does not know the mapping */
    int64_t orphans;   /* expressions of endpoints that no operation reads now */
    bool is_left;      /* records_max ended it */
    struct rederive_field_list fields;
};

/* Called after each page. */
struct rederive_listener {
    void (*page)(struct rederive_listener *listener, const struct rederive_result *so_far);
};

struct rederive_request {
    const struct source *source;
    struct str endpoint; /* under which records are stored; '' = all of the source */
    int64_t now_us;
    bool is_dry;         /* nothing is written */
    int64_t records_max; /* 0: all */
    struct random_source *random;
    struct rederive_listener *listener; /* may be NULL */
    struct spec_cache *specs;           /* NULL: none */
};

/* Without a transaction. What was done before a failure stays done. The result's texts are in the
 * arena. */
bool rederive(struct store *store, struct arena *arena, const struct rederive_request *request,
              struct rederive_result *result, struct error *err) MUST_CHECK;

#endif
