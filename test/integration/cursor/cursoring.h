/* cursoring: a store with a started cursor and tasks by the hour, for tests of what moves it. Built
 * on the fixtures and rows of test/contract, so that the same cases run over every adapter.
 */
#ifndef PATRA_TEST_CURSORING_H
#define PATRA_TEST_CURSORING_H

#include "contract.h"
#include "engine/cursor/cursor_advance.h"
#include "port/store_lease.h"
#include "rows.h"

/* An hour after NOW_US; tasks are of one hour each. */
#define HOUR(n) (NOW_US + (n)*US_PER_HOUR)

/* A namespace of this operation, as planners name it; a plan's row without its numbers. */
struct plan cursoring_like(enum operation operation);

/* A plan of `hours` tasks from HOUR(0) on, and its cursor at HOUR(0) as a planner starts it, in the
 * namespace of `like`; NULL: HARVEST's. */
struct plan cursoring_plan(struct store *store, const struct plan *like, int64_t hours);

/* `count` further tasks, one hour each from HOUR(first) on; the plan knows them by number. */
void cursoring_add(struct store *store, const struct plan *plan, int64_t first, int64_t count);

/* Ends the task of this hour that is live, as an executor does. */
void cursoring_end(struct store *store, const struct plan *plan, int64_t hour,
                   enum task_status status);
void cursoring_end_part(struct store *store, const struct plan *plan, int64_t hour,
                        struct window covered);

/* cursor_advance(), which must succeed. */
struct cursor_advance_request cursoring_request(const struct plan *plan);
struct cursor_advance_result cursoring_advance(struct store *store, const struct plan *plan);

struct cursor_name cursoring_name(const struct plan *plan);
struct cursor cursoring_cursor(struct store *store, const struct plan *plan); /* which must exist */
struct cursor_event_list cursoring_events(struct store *store, const struct plan *plan);

/* A value of the event's remarks; '' for none. */
struct str cursoring_remark(const struct cursor_event *event, const char *name);

/* Fails the test unless the events, read in order, give the cursor's value. */
void cursoring_check_replay(struct store *store, const struct plan *plan, const char *label);

#endif
