/* foreign_outbox: a table of events that a service of others writes, in its own database.
 *
 *      CREATE TABLE app_outbox (id uuid PRIMARY KEY, aggregate_type, aggregate_id, event_type,
 *          version, schema_version, payload, occurred_at,               what the service says
 *          published_at, publish_attempts, next_retry_at)               what is done with it
 *
 * Only the columns of the second kind are written, and only of rows that are named. The names of
 * all of them are the service's choice (core/import_spec.h).
 *
 * Where the table is in the store's own database, the handle may share the store's session
 * (`shares_session`): its calls are then part of the transaction that is open there.
 *
 * Failures are as those of a store, with codes "foreign.*": L1 foreign.lost, foreign.busy; L4
 * foreign.auth, foreign.schema (a table, a column or a privilege that is missing). After
 * foreign.lost the next call connects again, but where the session is the store's.
 *
 * Threads: one at a time.
 */
#ifndef PATRA_PORT_FOREIGN_OUTBOX_H
#define PATRA_PORT_FOREIGN_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"
#include "port/store_stream.h"

struct foreign_row {
    struct str id; /* of the row, as text */
    struct str aggregate_type;
    struct str aggregate_id;
    struct str event_type;
    bool has_version;
    int64_t version;
    int64_t schema_version;
    bool has_occurred;
    int64_t occurred_us;
    bool has_payload;
    int64_t payload_bytes;
    struct str payload; /* empty where it is larger than EVENT_BYTES_MAX */
    int64_t attempts;
    bool is_due; /* next_retry_at has passed, or there is none */
};

struct foreign_row_list {
    struct foreign_row *items; /* each row once, in no order */
    size_t count;
};

struct foreign_ids {
    const struct str *items;
    size_t count;
};

struct foreign_outbox;

struct foreign_ops {
    void (*close)(struct foreign_outbox *foreign);
    bool (*check)(struct foreign_outbox *foreign, struct error *err);
    bool (*page)(struct foreign_outbox *foreign, struct arena *arena, int64_t limit,
                 struct foreign_row_list *list, struct error *err);
    bool (*writers)(struct foreign_outbox *foreign, struct arena *arena,
                    struct stream_writers *writers, struct error *err);
    bool (*mark)(struct foreign_outbox *foreign, struct foreign_ids ids, struct error *err);
    bool (*refuse)(struct foreign_outbox *foreign, struct str id, struct str reason,
                   int64_t *retry_in_us, struct error *err);
    bool (*hold)(struct foreign_outbox *foreign, struct foreign_ids ids, int64_t for_us,
                 struct error *err);
    bool (*retry)(struct foreign_outbox *foreign, struct str aggregate_type,
                  struct str aggregate_id, int64_t *rows, struct error *err);
};

struct foreign_outbox {
    const struct foreign_ops *ops;
    bool shares_session;
};

/* Accepts NULL. */
static inline void foreign_close(struct foreign_outbox *foreign)
{
    if (foreign != NULL)
        foreign->ops->close(foreign);
}

/* Whether the table, its columns and the privileges are there. */
static inline bool MUST_CHECK foreign_check(struct foreign_outbox *foreign, struct error *err)
{
    return foreign->ops->check(foreign, err);
}

/* Of one moment: up to `limit` rows that are due and not published, the oldest by occurred_at; and
 * of each of their aggregates the lowest versions that are not published, due or not: as many as
 * the page has of it, and some more. */
static inline bool MUST_CHECK foreign_page(struct foreign_outbox *foreign, struct arena *arena,
                                           int64_t limit, struct foreign_row_list *list,
                                           struct error *err)
{
    return foreign->ops->page(foreign, arena, limit, list, err);
}

/* Whose transactions have written to the table and not ended. */
static inline bool MUST_CHECK foreign_writers(struct foreign_outbox *foreign, struct arena *arena,
                                              struct stream_writers *writers, struct error *err)
{
    return foreign->ops->writers(foreign, arena, writers, err);
}

/* They are published, by the clock of their database. Those that are marked or gone stay so. */
static inline bool MUST_CHECK foreign_mark(struct foreign_outbox *foreign, struct foreign_ids ids,
                                           struct error *err)
{
    return ids.count == 0 || foreign->ops->mark(foreign, ids, err);
}

/* One more attempt has failed; the next one is so many minutes later as there were. *retry_in_us
 * says when. */
static inline bool MUST_CHECK foreign_refuse(struct foreign_outbox *foreign, struct str id,
                                             struct str reason, int64_t *retry_in_us,
                                             struct error *err)
{
    return foreign->ops->refuse(foreign, id, reason, retry_in_us, err);
}

/* They wait for another row: not due for so long. */
static inline bool MUST_CHECK foreign_hold(struct foreign_outbox *foreign, struct foreign_ids ids,
                                           int64_t for_us, struct error *err)
{
    return ids.count == 0 || foreign->ops->hold(foreign, ids, for_us, err);
}

/* The rows of an aggregate that are not published are due at once. *rows counts them. */
static inline bool MUST_CHECK foreign_retry(struct foreign_outbox *foreign,
                                            struct str aggregate_type, struct str aggregate_id,
                                            int64_t *rows, struct error *err)
{
    return foreign->ops->retry(foreign, aggregate_type, aggregate_id, rows, err);
}

/* Whether the failure is the foreign database's. */
static inline bool foreign_error_is_own(const struct error *err)
{
    return strncmp(err->code, "foreign.", strlen("foreign.")) == 0;
}

#endif
