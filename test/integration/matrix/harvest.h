/* harvest: planner and executor in this process, on a real store, against patra-sim.
 *
 *      stage_open(&stage, options);                        once: the simulator and the wire to it
 *          harvest_open(&harvest, &stage, dsn, shape);     per case: a source on an empty database
 *          harvest_fire(&harvest, "harvest"); harvest_drain(&harvest);
 *          harvest_close(&harvest);
 *      stage_close(&stage);
 *
 * Time is the machine's, but a sleep returns at once and moves the clock forward instead, for the
 * store too. Only the delays of the simulator take real time.
 */
#ifndef PATRA_TEST_MATRIX_HARVEST_H
#define PATRA_TEST_MATRIX_HARVEST_H

#include "adapter/auth/auth_http.h"
#include "adapter/system/system.h"
#include "engine/execute/executor.h"
#include "engine/gate/gate.h"
#include "engine/plan/plan.h"
#include "fixed_secret.h"
#include "port/store_plan.h"
#include "sim_shapes.h"
#include "sim_truth.h"

struct leap_clock {
    struct clock clock; /* first */
    struct clock inner;
    int64_t leapt_us;
    bool is_still; /* only sleeping takes time */
    int64_t still_now_us;
    int64_t still_monotonic_us;
};

struct stage {
    struct sim sim;
    struct leap_clock clock;
    struct random_source random;
    struct fixed_secrets secrets;
    struct auth_tokens *tokens;
    struct http *http;   /* to the simulator's own pages */
    struct http *worker; /* the executor's */
    size_t cases;        /* opened so far */
    struct arena keep;   /* truths */
    struct sim_truth truths[SIM_SHAPES];
};

void stage_open(struct stage *stage, const char *const *options);
void stage_close(struct stage *stage);

/* From here on only sleeping takes time: what is judged by the client's time does not depend on how
 * busy the machine is. */
void stage_still(struct stage *stage);
/* Of the window that is tried; requested once, because the world does not change. */
const struct sim_truth *stage_truth(struct stage *stage, const struct sim_shape *shape);

struct harvest_counts {               /* from the executor's events */
    int64_t tasks[TASK_STATUS_COUNT]; /* ended */
    int64_t batches;
    int64_t records; /* with repetitions */
    int64_t requests;
    int64_t retries;
    char reason[ERROR_TEXT_MAX]; /* of the last that did not succeed */
};

struct harvest {
    struct stage *stage;
    const struct sim_shape *shape;
    const char *dsn;
    struct store *store;
    struct store *session;
    struct store *gate_session;
    struct gate_pool *gates;
    struct partitions *partitions;
    struct executor *executor;
    struct executor_watch watch;
    struct harvest_counts counts;
    struct arena arena;
    const char *from; /* what is fired for: [from, to) */
    const char *to;
    struct window window; /* the same */
};

/* Applies the source, with further changes where `more` is not NULL. */
void harvest_open(struct harvest *harvest, struct stage *stage, const char *dsn,
                  const struct sim_shape *shape, const struct edit_list *more);
void harvest_close(struct harvest *harvest);

/* Another window than the one every shape is tried on. */
void harvest_between(struct harvest *harvest, const char *from, const char *to);

/* Fires a trigger over the window. */
void harvest_fire(struct harvest *harvest, const char *operation);
/* Reads everything again: by a BACKFILL, or by a HARVEST of a feed whose cursor was set back. */
void harvest_again(struct harvest *harvest);
/* Until no task waits. False: it does not come to rest. */
bool harvest_drain(struct harvest *harvest);
/* As a person does when a source was stopped; true when it was. */
bool harvest_lift(struct harvest *harvest);

/* ---- what must hold; NULL: it does, else what is wrong (valid until the arena is reset) ---- */

/* What is shown as done is complete: all records of slices that have succeeded, and all before the
 * cursor. What is known to be missing (quarantine, signals) is counted in *missing. */
const char *harvest_check_shown(struct harvest *harvest, const struct sim_truth *truth,
                                size_t *missing);
/* Nothing waits; the cursor is at the window's end, and its events say so; one event per version.
 */
const char *harvest_check_rest(struct harvest *harvest, const struct sim_truth *truth);
/* What is held with other bytes than a list gives is what the shape's detail endpoint gives. */
const char *harvest_check_forms(struct harvest *harvest, const struct sim_truth *truth);
/* Where the forward cursor is; INT64_MIN: there is none. */
int64_t harvest_cursor_us(struct harvest *harvest);
/* The tasks of the source that ended so, by id. */
struct task_list harvest_tasks(struct harvest *harvest, enum task_status status);
/* `patra-sim verify`. */
const char *harvest_verify(struct harvest *harvest);

/* The requests that the tasks that SUCCEEDED need, by the truth. */
int64_t harvest_need(struct harvest *harvest, const struct sim_truth *truth);

#endif
