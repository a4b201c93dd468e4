/* why_rig: a store with the source "demo" (planning.h), and what is planted there: windows, rows of
 * an id, a record with its events, subscriptions. */
#ifndef PATRA_TEST_INTEGRATION_WHY_RIG_H
#define PATRA_TEST_INTEGRATION_WHY_RIG_H

#include "core/codes.h"
#include "planning.h"
#include "view/why.h"

#define WHY_ID "w1"
#define WHY_DATE "2025-12-01T12:00:00Z"             /* of the record, in the first of two days */
#define WHY_LATE_US (INT64_C(4102444800) * 1000000) /* 2100: later than any clock here */

/* The database that the store of this test is on, for SQL. */
extern const char *why_dsn;
struct store *why_store(void);
void why_sql(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A backfill of 2025-12-01 and 2025-12-02, or a harvest of them; returns the task of the first. */
int64_t why_backfill(struct store *store);
int64_t why_harvest(struct store *store);

/* The record, or its next version; `more` is put into its body ("\"mergedInto\":\"w2\""). Returns
 * when it was written. */
struct why_write {
    const char *type; /* of the event */
    const char *title;
    const char *more;
};
void why_put(struct store *store, const struct why_write *write);

void why_signal(struct store *store, const char *reason, int64_t http_status);
int64_t why_quarantined(struct store *store, int64_t observed_us);

/* Gives every event its position. */
void why_sequence(struct store *store);

/* A relay "hook"; `events` are lines of its file. */
void why_relay(struct store *store, const char *events);

/* A projection "shelf" with a table of this name; `more` are lines of its file, `from` its sources
 * of events. */
void why_projection(struct store *store, const char *more, const char *from);

/* A foreign outbox "shop", whose types begin with this. */
void why_import(struct store *store, const char *prefix);

/* The subscription is past everything in the stream, whatever became of it. */
void why_reads(struct store *store, const char *name);

/* What several tests plant: a backfill of two days, which has ended; a record of two versions,
 * whose events are in the stream. */
extern const struct why_write WHY_FIRST, WHY_SECOND;
void why_plant_backfill(struct store *store);
void why_plant_covered(struct store *store);
void why_plant_stored(struct store *store);
void why_plant_sequenced(struct store *store);

extern int64_t why_number; /* of the row that was planted, for commands that name it */

/* A situation, and what is to be found first. */
struct why_case {
    const char *label;
    void (*plant)(struct store *store);
    const char *date; /* that is given */
    const char *step; /* "": it is there, and nothing is missing */
    const char *reason;
    const char *command; /* # stands for the row that was planted */
};
void why_check(const char *source, const char *id, const struct why_case *cases, size_t count);

struct view_why why_ask(struct store *store, const char *source, const char *id, const char *date);

#endif
