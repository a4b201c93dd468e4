/* import: brings the events of a foreign outbox into this one, each once and in order.
 *
 *      page ── places ── judge ── add, commit ── mark
 *      of the   of the    each     in the store   in the foreign database; where that is the
 *      table    outbox    row                     store's own, both are one transaction
 *
 * Once. An event is known by its aggregate and version. A crash between the two commits leaves rows
 * that are imported and not marked; the next page has them again, and they are only marked. A lease
 * (a row of the subscription) fences the first commit, so one importer at a time adds events.
 *
 * Order. The events of an aggregate are imported in the order of their versions. A service that
 * takes an aggregate's version under a lock that it holds until its commit (an update of the
 * aggregate's row does) shows every earlier version to whoever sees a later one; nothing more is
 * needed. Where versions are taken in another way, a lower one can commit after a higher one. So a
 * version that does not follow on the one before waits until every transaction that was writing to
 * the table when the gap was seen has ended, and the table was looked at again: what is missing
 * then will never come, or was not in the table yet. What does come after a higher version was
 * imported is late: it is refused, or taken, as the spec says.
 *
 * Refusal. A row that cannot be an event (no key, version 0, a payload that is too large or not
 * what the spec says) gets its dispatch columns set and its key parked (port/store_parked.h), so
 * that people see it. Higher versions of its aggregate wait for it; other aggregates go on.
 */
#ifndef PATRA_ENGINE_IMPORT_IMPORT_H
#define PATRA_ENGINE_IMPORT_IMPORT_H

#include "base/instant.h"
#include "core/import_spec.h"
#include "port/foreign_outbox.h"
#include "port/store.h"

#define IMPORT_LEASE_US (10 * US_PER_SECOND)

/* Aggregate types, ids and event types: what an index of the store can hold. */
enum { IMPORT_KEY_MAX = 1024 };

struct import_parts { /* all must outlive it */
    struct store *store;
    struct foreign_outbox *foreign;
    const struct import_spec *spec;
};

struct import_settings {
    struct str owner; /* of the lease; no other importer has it */
    int64_t lease_us; /* 0: IMPORT_LEASE_US */
};

struct import_round {
    bool is_held; /* it is the importer; else somebody else is, and nothing was done */
    int64_t imported;
    int64_t repeated; /* were imported before, and are marked now */
    int64_t refused;
    int64_t gaps;  /* rows that wait for a lower version that may yet be committed */
    bool has_more; /* the page was full */
};

struct import;
bool import_open(struct import **import, const struct import_parts *parts,
                 const struct import_settings *settings, struct error *err) MUST_CHECK;
void import_close(struct import *import); /* accepts NULL; does not give the lease back */

/* One page at this instant of the clock that all processes share. After a failure it holds nothing
 * and the next round begins with a claim. A failure of the foreign database is
 * foreign_error_is_own(). */
bool import_round(struct import *import, int64_t now_us, struct import_round *round,
                  struct error *err) MUST_CHECK;

/* Gives the lease back, if it has it. */
bool import_release(struct import *import, struct error *err) MUST_CHECK;

#endif
