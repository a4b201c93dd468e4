/* record_tally: how many records each endpoint has, without counting them.
 *
 *      struct record_tally tally = { 0 };
 *
 *      record_tally_add(&tally, &changes[i].record);    // each that is written
 *      record_tally_send(store, &tally, record_id, err) // a row, in the same transaction
 *
 * The rows of ing_record_tally are added up when they are read. A row for all of an endpoint's
 * records would make its writers wait for each other.
 */
#ifndef PATRA_ADAPTER_SQL_RECORD_TALLY_H
#define PATRA_ADAPTER_SQL_RECORD_TALLY_H

#include "adapter/sql/session.h"
#include "port/store_record.h"

struct record_tally {
    int64_t live; /* so many more, or fewer */
    int64_t deleted;
};

void record_tally_add(struct record_tally *tally, const struct record_write *record);

/* Nothing where the numbers stay. `record_id` is one of the records, written before: they are of
 * one endpoint. statements_settle() must follow. */
bool record_tally_send(struct store *store, const struct record_tally *tally, int64_t record_id,
                       struct error *err) MUST_CHECK;

/* Makes one row of up to `limit` rows of an endpoint, if any has TALLY_ROWS_MAX or more. *removed
 * is how many rows there are fewer. */
bool record_tally_fold(struct store *store, int64_t limit, int64_t *removed,
                       struct error *err) MUST_CHECK;

#endif
