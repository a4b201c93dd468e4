/* sim_world: planner, executors, rate gate and cursor together, in virtual time and on a real
 * store (contract.h), against an upstream that knows the truth (upstream.h).
 *
 *      world_init(&w, seed);
 *      upstream_change(&w.api, world_now(&w));
 *      REQUIRE_OK(world_trigger(&w, &result, &err), err);
 *      world_drain(&w);
 *      world_check_record(&w, 0);
 *      world_release(&w);
 *
 * All chance is the seed's. An executor and its sessions are a process to fault_store.h; one that
 * dies is replaced by another of a new name.
 */
#ifndef PATRA_TEST_SIM_SIM_WORLD_H
#define PATRA_TEST_SIM_SIM_WORLD_H

#include "base/instant.h"
#include "engine/execute/executor.h"
#include "engine/gate/gate.h"
#include "engine/plan/plan.h"
#include "fixed_secret.h"
#include "port/store_cursor.h"
#include "seeded_random.h"
#include "upstream.h"

#define START_US INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */
#define LEASE_US US_PER_MINUTE

enum { EXECUTORS = 2 };

struct world {
    struct random random;
    struct virtual_clock clock;
    struct seeded_random chance;
    struct fixed_secrets secrets;
    struct upstream api;
    struct store *store;
    struct gate_pool *gates;
    struct partitions *partitions;
    struct arena arena;
    struct worker {
        struct store *session;
        struct store *gate_session;
        struct executor *executor;
        char owner[16];
    } workers[EXECUTORS];
    int64_t batch_records; /* 0: a page is never too long */
    bool is_scheduled;     /* triggers are those of a schedule, not by hand */
    int deaths;
    int64_t update_ids; /* that an UPDATE was planned for */
    int64_t events;     /* that the watch has seen */
    struct executor_watch watch;
    enum task_status last_status;
    bool last_was_overtaken;
};

void world_open(struct world *w, uint64_t seed, const char *source); /* the text of its file */
void world_init(struct world *w, uint64_t seed);                     /* of UPSTREAM_SOURCE */
void world_release(struct world *w);

int64_t world_now(struct world *w);

bool world_fire(struct world *w, const char *operation, struct plan_result *result,
                struct error *err) MUST_CHECK;
bool world_trigger(struct world *w, struct plan_result *result,
                   struct error *err) MUST_CHECK; /* harvest */

/* One step of an executor. One that dies is replaced; its lease expires by itself. */
enum executor_did world_step(struct world *w, int i);
void world_drain(struct world *w); /* until nothing is left to do */

/* The forward cursor; false when there is none. */
bool world_cursor(struct world *w, struct cursor *cursor);
struct cursor_event_list world_events(struct world *w, const struct cursor *cursor);

/* Checks that the store has it as the upstream does, with an event for each version. */
void world_check_record(struct world *w, int number);

#endif
