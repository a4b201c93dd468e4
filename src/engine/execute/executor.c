/* The loop of an executor: housekeeping, the next task, idling. */
#include "engine/execute/executor.h"

#include <stdlib.h>

#include "core/limits.h"
#include "engine/execute/executor_internal.h"
#include "engine/housekeeping/housekeeping.h"
#include "engine/session/store_time.h"

/* A task, its plan's snapshot, its spec, and the ids it is about. */
#define STEP_BYTES_MAX (INT64_C(512) << 20)

#define LEASE_US US_PER_MINUTE
#define POLL_US US_PER_SECOND

/* A server that restarts needs a few seconds. */
#define RETRY_MIN_US (100 * US_PER_MS)
#define RETRY_MAX_US (5 * US_PER_SECOND)

enum { LEASES_MAX = 1000, TICKETS_MAX = 16 }; /* of one round of housekeeping */

bool executor_open(struct executor **out, const struct executor_parts *parts,
                   const struct executor_settings *settings, struct error *err)
{
    struct executor *executor = calloc(1, sizeof(*executor));

    *out = executor;
    if (executor == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for an executor");
    executor->parts = *parts;
    executor->settings = *settings;
    if (settings->lease_us == 0)
        executor->settings.lease_us = LEASE_US;
    if (settings->poll_us == 0)
        executor->settings.poll_us = POLL_US;
    arena_init(&executor->arena, STEP_BYTES_MAX);
    arena_init(&executor->batch, BATCH_BYTES_MAX);
    arena_init(&executor->archived, BATCH_BYTES_MAX);
    payload_pack_init(&executor->pack, parts->store, parts->packer_open);
    if (gate_open(&executor->gate,
                  &(struct gate_parts){ .pool = parts->gates,
                                        .store = parts->gate_store,
                                        .clock = parts->clock,
                                        .random = parts->random,
                                        .secrets = parts->secrets,
                                        .owner = settings->owner,
                                        .wake_fd = parts->wake_fd },
                  err))
        return true;
    executor_close(executor);
    *out = NULL;
    return false;
}

void executor_close(struct executor *executor)
{
    if (executor == NULL)
        return;
    gate_close(executor->gate);
    archive_release(&executor->archive);
    payload_pack_release(&executor->pack);
    arena_release(&executor->archived);
    arena_release(&executor->batch);
    arena_release(&executor->arena);
    free(executor);
}

int64_t executor_now_us(const struct executor *executor)
{
    if (!executor->is_synced)
        return clock_now_us(executor->parts.clock);
    return executor->synced_us +
           (clock_monotonic_us(executor->parts.clock) - executor->synced_at_us);
}

int64_t executor_at_us(const struct executor *executor, int64_t monotonic_us)
{
    const int64_t passed_us = clock_monotonic_us(executor->parts.clock) - monotonic_us;

    return executor_now_us(executor) - (monotonic_us > 0 ? passed_us : 0);
}

bool executor_sync(struct executor *executor, struct error *err)
{
    struct clock *clock = executor->parts.clock;
    struct store_time time;

    if (!store_time(executor->parts.store, clock, &time, err))
        return false;
    executor->synced_us = time.now_us;
    executor->synced_at_us = clock_monotonic_us(clock);
    executor->is_synced = true;
    return true;
}

int64_t executor_shared_us(const struct executor *executor, int64_t local_us)
{
    if (local_us == 0)
        return 0;
    return executor_now_us(executor) + (local_us - clock_now_us(executor->parts.clock));
}

void executor_report(const struct executor *executor, const struct executor_event *event)
{
    struct executor_event timed = *event;

    if (executor->parts.watch == NULL)
        return;
    timed.now_us = executor_now_us(executor);
    executor->parts.watch->see(executor->parts.watch, &timed);
}

/* ---- a store that is out of reach ---- */

static void report_trouble(void *context, const struct error *err)
{
    executor_report(context, &(struct executor_event){ .kind = EXECUTOR_TROUBLE, .err = err });
}

struct store_retry executor_retry(const struct executor *executor)
{
    return (struct store_retry){ .store = executor->parts.store };
}

bool executor_retry_wait(struct executor *executor, struct store_retry *retry, struct error *err)
{
    return store_retry_wait(retry,
                            &(struct store_backoff){ .delay_min_us = RETRY_MIN_US,
                                                     .delay_max_us = RETRY_MAX_US,
                                                     .clock = executor->parts.clock,
                                                     .random = executor->parts.random,
                                                     .wake_fd = executor->parts.wake_fd,
                                                     .report = report_trouble,
                                                     .context = executor },
                            err);
}

/* ---- housekeeping ---- */

bool executor_keep_house(struct executor *executor, struct executor_chores chores,
                         struct error *err)
{
    const struct housekeeping_request request = { .owner = executor->settings.owner,
                                                  .now_us = executor_now_us(executor),
                                                  .leases_max = chores.leases ? LEASES_MAX : 0,
                                                  .tickets_max = chores.tickets ? TICKETS_MAX : 0,
                                                  .specs = executor->parts.specs };
    struct housekeeping_result result;

    if (housekeeping_run(executor->parts.store, &request, &result, err))
        return true;
    if (result.reached != HOUSEKEEPING_TICKETS)
        return false;
    log_event(executor->parts.log, LOG_WARN, "slice not re-sliced",
              LOG_STR("error", str_of(err->text)));
    return true;
}

/* At intervals: reads the shared clock and does the housekeeping. */
static bool keep_house_when_due(struct executor *executor, struct error *err)
{
    const int64_t monotonic_us = clock_monotonic_us(executor->parts.clock);

    if (executor->housekeeping_us != 0 && monotonic_us < executor->housekeeping_us)
        return true;
    if (!executor_sync(executor, err) ||
        !executor_keep_house(executor, (struct executor_chores){ true, true }, err))
        return false;
    executor->housekeeping_us = monotonic_us + executor->settings.lease_us / 4;
    return true;
}

/* ---- a silence that a person has lifted ---- */

#define LIFTED_US (2 * US_PER_SECOND) /* how often to look */

static void hear_lifted(struct executor *executor)
{
    const int64_t monotonic_us = clock_monotonic_us(executor->parts.clock);

    if (monotonic_us < executor->lifted_us)
        return;
    executor->lifted_us = monotonic_us + LIFTED_US;
    if (gate_hear_lifted(executor->gate))
        partitions_end_rests(executor->parts.partitions);
}

/* ---- the next task ---- */

static bool is_wanted(const void *context, const struct task_partition *partition)
{
    const struct executor_settings *s = context;

    if (s->source.len > 0 && !str_eq(s->source, partition->source))
        return false;
    return !s->has_partition ||
           (s->operation == partition->operation && str_eq(s->endpoint, partition->endpoint));
}

/* Reads the settings of a partition from the plan of its first task. */
static bool learn(struct executor *executor, const struct partition_state *state, struct error *err)
{
    const struct spec *spec;
    struct plan plan;
    bool found;

    if (partitions_know(executor->parts.partitions, &state->partition))
        return true;
    if (!store_plan_get(executor->parts.store, &executor->arena, state->plan_id, &plan, &found,
                        err))
        return false;
    if (found && spec_cache_hold(executor->parts.specs, plan.expr_proto_snapshot, &spec, err)) {
        struct partition_rules rules = { .running_max = spec->operation.running_max,
                                         .health = health_default() };

        rules.health.open_us = 2 * spec->endpoint.retry.max_delay_us;
        spec_cache_release(executor->parts.specs, spec);
        partitions_learn(executor->parts.partitions, &state->partition, &rules);
    }
    return true;
}

static bool learn_all(struct executor *executor, const struct partition_list *partitions,
                      struct error *err)
{
    for (size_t i = 0; i < partitions->count; i++) {
        if (is_wanted(&executor->settings, &partitions->items[i].partition) &&
            !learn(executor, &partitions->items[i], err))
            return false;
    }
    return true;
}

/* What an executor finds when it looks at the queue. */
struct outlook {
    struct task_list tasks;     /* claimed: one or none */
    bool has_waiting;           /* tasks that could run, now or later */
    struct partition_rest rest; /* without a task: until when, and why */
};

static bool claim(struct executor *executor, struct outlook *outlook, struct error *err)
{
    struct store *store = executor->parts.store;
    const int64_t now_us = executor_now_us(executor);
    struct partition_list partitions;
    struct pause_list pauses;
    struct partition_choice choice;
    struct partition_query query;

    gate_tell(executor->gate);
    hear_lifted(executor);
    if (!store_partition_list(store, &executor->arena, now_us, &partitions, err))
        return false;
    if (partitions.count == 0)
        return true;
    if (!store_pause_list(store, &executor->arena, (struct str){ 0 }, &pauses, err) ||
        !learn_all(executor, &partitions, err))
        return false;
    for (size_t i = 0; i < partitions.count; i++) {
        const struct task_partition *p = &partitions.items[i].partition;

        if (is_wanted(&executor->settings, p) && !pause_list_has(&pauses, p->source, p->endpoint))
            outlook->has_waiting = true;
    }
    query = (struct partition_query){ .partitions = &partitions,
                                      .pauses = &pauses,
                                      .wanted = is_wanted,
                                      .context = &executor->settings,
                                      .now_us = now_us };
    choice = partitions_choose(executor->parts.partitions, &query);
    outlook->rest = partitions_rest(executor->parts.partitions, &query);
    if (choice.partition == NULL)
        return true;
    return store_task_claim(store, &executor->arena,
                            &(struct task_claim){ .partition = choice.partition->partition,
                                                  .owner = executor->settings.owner,
                                                  .now_us = now_us,
                                                  .until_us = now_us + executor->settings.lease_us,
                                                  .limit = 1,
                                                  .live_max = choice.live_max },
                            &outlook->tasks, err);
}

/* ---- whether there is anything left ---- */

/* A source never has more tasks under way than there are workers. */
enum { UNDER_WAY_MAX = 10000 };

static bool is_under_way(struct executor *executor, enum task_status status, bool *is,
                         struct error *err)
{
    const struct task_filter filter = { .source = executor->settings.source,
                                        .has_status = true,
                                        .status = status,
                                        .limit = UNDER_WAY_MAX };
    struct task_list tasks;

    if (!store_task_list(executor->parts.store, &executor->arena, &filter, &tasks, err))
        return false;
    for (size_t i = 0; i < tasks.count; i++) {
        const struct task *task = &tasks.items[i];
        const struct task_partition p = { task->source, task->endpoint, task->operation };

        *is = *is || is_wanted(&executor->settings, &p);
    }
    return true;
}

/* Tasks of paused sources wait for a person. */
static bool is_drained(struct executor *executor, const struct outlook *outlook, bool *drained,
                       struct error *err)
{
    bool has = outlook->has_waiting;

    if (!has && (!is_under_way(executor, TASK_DISPATCHED, &has, err) ||
                 !is_under_way(executor, TASK_EXECUTING, &has, err)))
        return false;
    *drained = !has;
    return true;
}

/* ---- steps ---- */

static bool look(struct executor *executor, struct outlook *outlook, bool *drained,
                 struct error *err)
{
    arena_reset(&executor->arena);
    *outlook = (struct outlook){ 0 };
    *drained = false;
    return keep_house_when_due(executor, err) && claim(executor, outlook, err) &&
           (outlook->tasks.count > 0 || !executor->settings.is_draining ||
            is_drained(executor, outlook, drained, err));
}

bool executor_step(struct executor *executor, enum executor_did *did, int64_t *next_us,
                   struct error *err)
{
    struct store_retry retry = executor_retry(executor);
    struct outlook outlook;
    bool drained;

    *next_us = executor_now_us(executor);
    *did = EXECUTOR_NOTHING;
    while (!look(executor, &outlook, &drained, err)) {
        if (!executor_retry_wait(executor, &retry, err))
            return err->level == ERROR_TRANSIENT; /* must stop, or the store fails */
    }
    if (outlook.tasks.count > 0) {
        *did = EXECUTOR_WORKED;
        return task_run(executor, &outlook.tasks.items[0], err) || err->level == ERROR_TRANSIENT;
    }
    if (drained)
        *did = EXECUTOR_DRAINED;
    *next_us += executor->settings.poll_us;
    executor_report(executor, &(struct executor_event){ .kind = EXECUTOR_IDLE,
                                                        .until_us = outlook.rest.until_us,
                                                        .reason = outlook.rest.reason,
                                                        .partition = outlook.rest.partition });
    return true;
}

static bool wait_until(struct executor *executor, int64_t next_us)
{
    const int64_t for_us = next_us - executor_now_us(executor);

    return clock_sleep_us(executor->parts.clock, for_us > 0 ? for_us : 0, executor->parts.wake_fd);
}

bool executor_run(struct executor *executor, struct error *err)
{
    enum executor_did did;
    int64_t next_us;

    do {
        if (!executor_step(executor, &did, &next_us, err))
            return error_wrap(err, "executor");
        if (did == EXECUTOR_DRAINED && executor->settings.is_draining)
            return true;
    } while (wait_until(executor, did == EXECUTOR_WORKED ? 0 : next_us));
    return true;
}
