/* audit: whether the tables of a projection have what they should, and nothing else.
 *
 *      records of the store ──╮                        ╭── rows of the table, keys without a row
 *                             ├─▶ digests by bucket ◀──┤
 *                             ╰─▶ keys of buckets   ◀──╯
 *                                 that differ
 *                                     │
 *                                 each key that differs is looked at again: is its event under way?
 *
 * The newest state of a key is that of its record. Each database makes digests of its side in one
 * pass (port/key_digest.h); only these numbers are moved. Of the buckets that differ, the keys are
 * read and compared: some 64 for each difference. What differs then may have changed meanwhile, or
 * may be on its way: it is read again, together with its newest event.
 *
 *      missing   the table knows nothing of the key
 *      stale     it has an older version
 *      extra     it has a key or a version that the source does not have, or a row is gone although
 *                the record is not deleted
 *      revived   it has a row although the record is deleted
 *      behind    no difference: the event is not in the stream, not consumed, or parked
 *
 * What is not compared, and counted as such: tables that take only some types of events of a
 * record, whose versions cannot be known from records, and aggregates of other services, whose
 * events are removed in time. Of a table with a filter (`where`) it is not known whether a key
 * should have a row: versions are compared, and whether the row is there is not. A projection that
 * begins with the latest events need not have a key.
 *
 * A bus that lost what it has acknowledged is found in this way: the relay has passed the event,
 * the table does not have it. So is what its consumer has not read yet; audit when it has.
 *
 * A repair delivers the newest event of a key again, in a transaction that holds its lane
 * (of a projection that a bus feeds, the version guard alone keeps others away). A key
 * that is missing or stale passes the version guard; what is extra or revived is forgotten first. A
 * key whose event was removed from the outbox cannot be repaired so, and the result says that.
 */
#ifndef PATRA_ENGINE_AUDIT_AUDIT_H
#define PATRA_ENGINE_AUDIT_AUDIT_H

#include "engine/project/project.h"
#include "port/store_offset.h"
#include "port/store_sink.h"

enum audit_kind { AUDIT_MISSING, AUDIT_STALE, AUDIT_EXTRA, AUDIT_REVIVED };
struct str audit_kind_name(enum audit_kind kind); /* "missing" */

struct audit_difference {
    size_t table; /* of the spec */
    struct sink_key key;
    enum audit_kind kind;
    int64_t wanted; /* the record's version; 0: there is none */
    int64_t found;  /* the table's; 0: none */
    bool is_repaired;
    bool is_event_gone; /* it cannot be delivered again */
    struct str refused; /* why its event does not fit the table; empty: it was not refused */
};

struct audit_difference_list {
    struct audit_difference *items; /* by table and key */
    size_t count;
};

struct audit_result {
    int64_t keys;    /* of records that were compared, a table after the other */
    int64_t behind;  /* of them */
    int64_t buckets; /* whose digests differed */
    int64_t tables_left_out;
    struct audit_difference_list differences;
    bool is_full; /* AUDIT_DIFFERENCES_MAX were found; there may be more */
};

enum { AUDIT_DIFFERENCES_MAX = 100000 };

struct audit_request {
    struct store *store; /* has records, events and the stream */
    struct store *sink;  /* has the tables and the offsets; another session, or another database */
    const struct projection_spec *spec;
    const struct sink_tables *tables; /* of the sink, live */
    /* Who brings it its events, and where his offsets are: the projection itself, in the sink; or,
     * where a bus feeds it, the relay of the store. What he has not passed is under way. */
    struct offset_key key;
    struct store *offsets;
};

/* Changes nothing. The arena holds the result. */
bool audit_projection(const struct audit_request *request, struct arena *arena,
                      struct audit_result *result, struct error *err) MUST_CHECK;

/* Repairs what is in the list, each in a transaction of its own; what is as it should be by now
 * counts as repaired. An event that does not fit its table is left, and the rest is repaired. The
 * arena holds what is added to the list. */
bool audit_repair(const struct audit_request *request, const struct projector *projector,
                  struct arena *arena, struct audit_difference_list *differences,
                  struct error *err) MUST_CHECK;

#endif
