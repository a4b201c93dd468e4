/* commit_records: the records of a batch, from the page into the store; a part of commit.h.
 *
 *      records_init     sorts by id and keeps one state of each: outside of the transaction
 *      records_judge    checks the store, judges, counts
 *      records_write    the new and the newer with their events, then touches; false in
 *                       *is_written when another worker was there first: roll back, judge again
 */
#ifndef PATRA_ENGINE_EXECUTE_COMMIT_RECORDS_H
#define PATRA_ENGINE_EXECUTE_COMMIT_RECORDS_H

#include "engine/execute/commit.h"
#include "port/store_record.h"

struct records_item;
struct records_write;

/* Makes of a record what is needed only when it is written; embed it first. */
struct records_reader {
    bool (*hash)(struct records_reader *reader, const struct record *record, char hex[HASH_HEX_MAX],
                 struct error *err);
    bool (*fields)(struct records_reader *reader, const struct record *record, struct arena *arena,
                   struct str *json, struct error *err);
};

/* That of a walk's current batch. */
struct fetch_records {
    struct records_reader reader;
    struct fetch *fetch;
};
struct fetch_records fetch_records_of(struct fetch *fetch);

struct records {
    struct store *store;
    struct arena *arena;
    struct records_reader *reader;
    bool touches_older; /* requested by id: a record that is older was checked nevertheless */
    struct records_item *items; /* by provider_id */
    struct str *ids;            /* theirs */
    size_t count;
    int64_t twice; /* states that another one of the same batch replaced */

    /* Made by records_judge. */
    struct records_write *writes; /* in the order in which they are written */
    size_t write_count;
    int64_t *touches;
    size_t touch_count;
    struct str *current; /* ids of both: what the source has now, not what it had before */
    size_t current_count;
};

bool records_init(struct records *records, const struct fetch_batch *batch,
                  struct error *err) MUST_CHECK;

/* Sets the counts of *result that are about good records. */
bool records_judge(struct records *records, const struct record_context *context,
                   struct commit_result *result, struct error *err) MUST_CHECK;

bool records_write(struct records *records, const struct record_context *context,
                   struct random_source *random, struct uuid_state *ids, bool *is_written,
                   struct error *err) MUST_CHECK;

#endif
