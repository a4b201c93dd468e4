/* rows: valid rows to begin with, for tests that change one thing about them. */
#ifndef PATRA_TEST_CONTRACT_ROWS_H
#define PATRA_TEST_CONTRACT_ROWS_H

#include "port/store_cursor.h"
#include "port/store_plan.h"
#include "port/store_record.h"
#include "port/store_schedule.h"
#include "port/store_task.h"

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

struct schedule_instance rows_schedule(void);
struct plan rows_plan(int64_t schedule_instance_id);
/* The signature and the task's key are made of `number`. */
struct plan_slice rows_slice(int64_t plan_id, int64_t number);
struct task rows_task(const struct plan *plan, int64_t slice_id, int64_t number);

/* Adds a trigger and a plan, which is returned with its id. */
struct plan rows_add_plan(struct store *store);
/* Adds `count` slices and a task for each; windows of an hour, one after the other from NOW_US. */
void rows_add_tasks(struct store *store, const struct plan *plan, int64_t count);

struct cursor_name rows_cursor_name(void);

/* Writes them in this order, which must be the one that store_record_write() demands; the event
 * of each is made here. */
bool rows_write(struct store *store, const struct record_context *context,
                const struct record_write *records, size_t count, bool *written,
                struct error *err) MUST_CHECK;

/* That event. */
struct outbox_event rows_event(const struct record_context *context,
                               const struct record_write *record);

#endif
