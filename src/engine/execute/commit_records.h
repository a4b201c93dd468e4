/* commit_records: the records of a batch, from the page into the store; a part of commit.h.
 *
 *      struct record          as the page has it (engine/fetch/record.h)
 *        records_init()       sorts by id and keeps one state of each
 *        records_judge()      compares with the store; makes hash, fields and event where needed
 *      struct record_change   as the store will have it (port/store_record.h)
 *        records_resolve()    resolves what was quarantined before and is valid now
 *        records_write()      writes the changes, then confirms the unchanged
 *
 * The first two are called before the transaction begins, so that it is short. When another worker
 * was there first, *is_written is false: roll back, judge again.
 */
#ifndef PATRA_ENGINE_EXECUTE_COMMIT_RECORDS_H
#define PATRA_ENGINE_EXECUTE_COMMIT_RECORDS_H

#include "core/batch_items.h"
#include "engine/event/record_event.h"
#include "engine/execute/commit.h"
#include "port/store_record.h"

struct records {
    struct store *store;
    struct arena *arena;
    struct record_origin origin; /* where they were read; its arena is used for hashing only */
    struct random_source *random;
    struct uuid_state *event_ids;
    struct record_event_cause cause; /* of their events */
    bool touches_older; /* requested by id: a record that is older was checked nevertheless */
    struct maybe_instant late_before; /* assignment.late_before */
    bool must_wait;                   /* a race was lost: lock all records before any is changed */
    struct payload_pack *pack;        /* with the dictionary of the endpoint; NULL: as received */

    const struct record **items; /* by provider_id */
    struct str *hashes;          /* theirs; data NULL: not needed so far */
    struct str *ids;             /* theirs */
    enum batch_item_kind *kinds; /* what becomes of them; made by records_judge() */
    size_t count;
    int64_t twice; /* states that another one of the same batch replaced */

    /* Made by records_judge(). */
    struct record_change *changes; /* in the order that store_record_write() demands */
    size_t change_count;
    struct record_version *same; /* the unchanged, by id */
    size_t same_count;
    int64_t *touches; /* checked, and older than what is stored */
    size_t touch_count;
    struct str *current; /* ids of both: what the source has now, not what it had before */
    size_t current_count;
};

bool records_init(struct records *records, const struct fetch_batch *batch,
                  struct error *err) MUST_CHECK;

/* Sets the counts of *result that are about good records. */
bool records_judge(struct records *records, const struct record_context *context,
                   struct commit_result *result, struct error *err) MUST_CHECK;

/* After records_judge(): adds an item for each (core/batch_items.h). */
void records_tell(const struct records *records, struct batch_item_writer *items);

/* In a transaction. The context has the whole lineage now. */
bool records_write(struct records *records, const struct record_context *context, bool *is_written,
                   struct error *err) MUST_CHECK;

/* In a transaction: resolves what was quarantined before and is valid now. */
bool records_resolve(const struct records *records, const struct record_context *context,
                     int64_t batch_no, struct error *err) MUST_CHECK;

#endif
