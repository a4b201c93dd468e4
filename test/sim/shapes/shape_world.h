/* shape_world: planner, executor and cursor on a real store in RAM and in virtual time, with the
 * source and the upstream of a shape.
 *
 *      shape_world_open(&w, &shape, seed);
 *      shape_world_harvest(&w, day);           plans the day and works until nothing is left
 *      shape_world_close(&w);
 */
#ifndef PATRA_TEST_SIM_SHAPES_SHAPE_WORLD_H
#define PATRA_TEST_SIM_SHAPES_SHAPE_WORLD_H

#include "base/instant.h"
#include "engine/execute/executor.h"
#include "engine/gate/gate.h"
#include "fixed_secret.h"
#include "seeded_random.h"
#include "shape.h"
#include "virtual_clock.h"

#define SHAPE_START_US INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */

enum { SHAPE_DAYS = 2, SHAPE_SLICES = 2 /* of a day */ };

struct shape_world {
    struct virtual_clock clock;
    struct seeded_random chance;
    struct fixed_secrets secrets;
    struct shape_api api;
    const char *dsn;
    struct store *store;
    struct store *session;
    struct store *gate_session;
    struct gate_pool *gates;
    struct partitions *partitions;
    struct executor *executor;
    struct executor_watch watch;
    struct arena arena;
    char reason[ERROR_TEXT_MAX]; /* of the last task that did not succeed */
};

void shape_world_open(struct shape_world *w, const struct shape *shape, uint64_t seed);
void shape_world_close(struct shape_world *w);

struct window shape_day(int day);
struct window shape_slice(int day, int slice);

/* False: it does not come to rest. */
bool shape_world_harvest(struct shape_world *w, int day);
/* What a person does: `patra resume` after a stop. */
void shape_world_resume(struct shape_world *w);

#endif
