#include <inttypes.h>

#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"
#include "port/store_lease.h"

/* From one partition to the next by the index, however many tasks lie between; then of each the
 * first task that is due, and how many are under way. */
enum { PARTITIONS_NOW = 1 };
static const char PARTITIONS[] =
    "WITH RECURSIVE first (id) AS ("
    "  (SELECT id FROM ing_task WHERE status_code = 'QUEUED'"
    "    ORDER BY provenance_code, endpoint_name, operation_code LIMIT 1)"
    "  UNION ALL"
    "  SELECT (SELECT n.id FROM ing_task n WHERE n.status_code = 'QUEUED'"
    "             AND (n.provenance_code, n.endpoint_name, n.operation_code)"
    "               > (t.provenance_code, t.endpoint_name, t.operation_code)"
    "           ORDER BY n.provenance_code, n.endpoint_name, n.operation_code LIMIT 1)"
    "    FROM first JOIN ing_task t ON t.id = first.id),"
    " live AS (SELECT provenance_code, endpoint_name, operation_code, count(*) AS tasks"
    "            FROM ing_task WHERE status_code IN ('DISPATCHED', 'EXECUTING')"
    "             AND leased_until > $1 GROUP BY 1, 2, 3)"
    "SELECT p.provenance_code, p.endpoint_name, p.operation_code, d.priority, d.scheduled_at,"
    "       coalesce(live.tasks, 0)"
    "  FROM first JOIN ing_task p ON p.id = first.id"
    "  LEFT JOIN LATERAL"
    "       (SELECT q.priority, q.scheduled_at FROM ing_task q WHERE q.status_code = 'QUEUED'"
    "           AND q.provenance_code = p.provenance_code AND q.endpoint_name = p.endpoint_name"
    "           AND q.operation_code = p.operation_code AND q.scheduled_at <= $1"
    "         ORDER BY q.priority, q.scheduled_at, q.id LIMIT 1) d ON true"
    "  LEFT JOIN live USING (provenance_code, endpoint_name, operation_code)"
    " ORDER BY p.provenance_code COLLATE \"C\", p.endpoint_name COLLATE \"C\","
    "          p.operation_code COLLATE \"C\"";

static bool lease_partitions(struct store *store, struct arena *arena, int64_t now_us,
                             struct partition_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), PARTITIONS);
    set_time(&q, PARTITIONS_NOW, now_us);
    return read_partitions(&q.rows, arena, list, err) || error_wrap(err, "list partitions");
}

enum { LIVE_SOURCE = 1, LIVE_ENDPOINT, LIVE_OPERATION, LIVE_NOW };
static const char LIVE[] =
    "SELECT count(*) FROM ing_task WHERE status_code IN ('DISPATCHED', 'EXECUTING')"
    "   AND provenance_code = $1 AND endpoint_name = $2 AND operation_code = $3"
    "   AND leased_until > $4";

/* Those who count and take in one partition go one after the other. */
static bool lock_partition(struct store *store, const struct task_partition *partition,
                           struct error *err)
{
    return store_lock_named(store, err, "partition:%.*s/%.*s/%d", STR_ARG(partition->source),
                            STR_ARG(partition->endpoint), (int)partition->operation);
}

static bool count_live(struct postgres_store *postgres, const struct task_partition *partition,
                       int64_t now_us, int64_t *live, struct error *err)
{
    struct query q;

    query_init(&q, postgres, LIVE);
    set_text(&q, LIVE_SOURCE, partition->source);
    set_text(&q, LIVE_ENDPOINT, partition->endpoint);
    set_code(&q, LIVE_OPERATION, &OPERATION_CODES, (int)partition->operation);
    set_time(&q, LIVE_NOW, now_us);
    return rows_only_i64(&q.rows, live, err);
}

enum {
    CLAIM_OWNER = 1,
    CLAIM_UNTIL,
    CLAIM_NOW,
    CLAIM_LIMIT,
    CLAIM_SOURCE,
    CLAIM_ENDPOINT,
    CLAIM_OPERATION,
};
#define TAKE                                                                             \
    "UPDATE ing_task SET status_code = 'DISPATCHED', lease_owner = $1,"                  \
    " leased_until = $2, lease_count = lease_count + 1, lease_epoch = lease_epoch + 1,"  \
    " updated_at = $3 WHERE id IN (SELECT id FROM ing_task WHERE status_code = 'QUEUED'" \
    "   AND scheduled_at <= $3"
#define TAKEN                                                               \
    " ORDER BY priority, scheduled_at, id LIMIT $4 FOR UPDATE SKIP LOCKED)" \
    " RETURNING " TASK_COLUMNS

static const char CLAIM[] =
    TAKE " AND provenance_code = $5 AND endpoint_name = $6 AND operation_code = $7" TAKEN;
static const char CLAIM_ANY[] = TAKE TAKEN;

static bool claim_tasks(struct store *store, struct arena *arena, const struct task_claim *claim,
                        struct task_list *list, struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    const bool is_any = claim->partition.source.len == 0;
    int64_t limit = claim->limit;
    int64_t live = 0;
    struct query q;

    if (claim->live_max > 0 && !is_any) {
        if (!lock_partition(store, &claim->partition, err) ||
            !count_live(postgres, &claim->partition, claim->now_us, &live, err))
            return false;
        if (limit > claim->live_max - live)
            limit = claim->live_max > live ? claim->live_max - live : 0;
    }
    query_init(&q, postgres, is_any ? CLAIM_ANY : CLAIM);
    set_text(&q, CLAIM_OWNER, claim->owner);
    set_time(&q, CLAIM_UNTIL, claim->until_us);
    set_time(&q, CLAIM_NOW, claim->now_us);
    set_i64(&q, CLAIM_LIMIT, limit);
    if (!is_any) {
        set_text(&q, CLAIM_SOURCE, claim->partition.source);
        set_text(&q, CLAIM_ENDPOINT, claim->partition.endpoint);
        set_code(&q, CLAIM_OPERATION, &OPERATION_CODES, (int)claim->partition.operation);
    }
    return read_tasks(&q.rows, arena, list, err);
}

/* Without a limit it is one statement, and needs no transaction around it. */
static bool lease_claim(struct store *store, struct arena *arena, const struct task_claim *claim,
                        struct task_list *list, struct error *err)
{
    bool alone = false;

    if (claim->live_max > 0 && !store_enter(store, &alone, err))
        return false;
    return store_leave(
        store, alone, claim_tasks(store, arena, claim, list, err) || error_wrap(err, "claim tasks"),
        err);
}

/* What only the holder of a lease may do. */
enum { HELD_ID = 1, HELD_EPOCH, HELD_NOW, HELD_NEXT };
#define HELD " WHERE id = $1 AND lease_epoch = $2 AND status_code IN ('DISPATCHED', 'EXECUTING')"

static bool run_held(struct query *q, struct lease lease, int64_t now_us, bool *held,
                     struct error *err)
{
    int64_t changes;

    set_i64(q, HELD_ID, lease.task_id);
    set_i64(q, HELD_EPOCH, lease.epoch);
    set_time(q, HELD_NOW, now_us);
    if (!query_run(q, &changes, err))
        return error_wrap(err, "lease of task %" PRId64, lease.task_id);
    *held = changes == 1;
    return true;
}

static const char START[] = "UPDATE ing_task SET status_code = 'EXECUTING', updated_at = $3,"
                            " started_at = coalesce(started_at, $3)" HELD;

static bool lease_start(struct store *store, struct lease lease, int64_t now_us, bool *held,
                        struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), START);
    return run_held(&q, lease, now_us, held, err);
}

enum { RENEW_UNTIL = HELD_NEXT };
static const char RENEW[] =
    "UPDATE ing_task SET leased_until = greatest(leased_until, $4), updated_at = $3" HELD;

static bool lease_renew(struct store *store, struct lease lease, int64_t until_us, int64_t now_us,
                        bool *held, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), RENEW);
    set_time(&q, RENEW_UNTIL, until_us);
    return run_held(&q, lease, now_us, held, err);
}

enum {
    FINISH_STATUS = HELD_NEXT,
    FINISH_REASON,
    FINISH_COVERED,
    FINISH_ERROR = FINISH_COVERED + 2
};
static const char FINISH[] =
    "UPDATE ing_task SET status_code = $4, partial_reason_code = $5, covered_from = $6,"
    " covered_to = $7, last_error = $8, lease_owner = NULL, leased_until = NULL,"
    " finished_at = $3, updated_at = $3" HELD;

static bool lease_finish(struct store *store, const struct task_end *end, bool *held,
                         struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), FINISH);
    set_code(&q, FINISH_STATUS, &TASK_STATUS_CODES, (int)end->status);
    set_code_opt(&q, FINISH_REASON, end->has_reason, &PARTIAL_REASON_CODES, (int)end->reason);
    set_window(&q, FINISH_COVERED, end->covered);
    set_text(&q, FINISH_ERROR, end->error);
    return run_held(&q, end->lease, end->now_us, held, err);
}

enum { RELEASE_SCHEDULED = HELD_NEXT, RELEASE_WHY };
static const char RELEASE[] =
    "UPDATE ing_task SET status_code = 'QUEUED', scheduled_at = $4, last_error = $5,"
    " lease_owner = NULL, leased_until = NULL, updated_at = $3" HELD;

static bool lease_release(struct store *store, struct lease lease, int64_t scheduled_us,
                          struct str why, int64_t now_us, bool *held, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), RELEASE);
    set_time(&q, RELEASE_SCHEDULED, scheduled_us);
    set_text(&q, RELEASE_WHY, why);
    return run_held(&q, lease, now_us, held, err);
}

enum { RECLAIM_NOW = 1, RECLAIM_LIMIT };
static const char RECLAIM[] =
    "UPDATE ing_task SET status_code = 'QUEUED', lease_owner = NULL, leased_until = NULL,"
    " updated_at = $1"
    " WHERE id IN (SELECT id FROM ing_task WHERE status_code IN ('DISPATCHED', 'EXECUTING')"
    "                 AND leased_until <= $1 ORDER BY leased_until LIMIT $2"
    "                 FOR UPDATE SKIP LOCKED)"; /* who is renewing has not lost it */

/* Requests that the owners had under way hold slots of the rate gate; they hold them no longer. */
enum { SLOTS_NOW = 1 };
static const char FREE_SLOTS[] =
    "DELETE FROM ing_rate_permit WHERE id IN (SELECT p.id FROM ing_rate_permit p"
    "  JOIN ing_task t ON t.lease_owner = p.owner AND t.status_code IN ('DISPATCHED', 'EXECUTING')"
    "                 AND t.leased_until <= $1 FOR UPDATE OF p SKIP LOCKED)";

static bool free_slots(struct store *store, int64_t now_us, struct error *err)
{
    struct query q;
    int64_t count;

    query_init(&q, postgres_store_of(store), FREE_SLOTS);
    set_time(&q, SLOTS_NOW, now_us);
    return query_run(&q, &count, err);
}

static bool lease_reclaim(struct store *store, int64_t now_us, int64_t limit, int64_t *count,
                          struct error *err)
{
    struct query q;

    if (!free_slots(store, now_us, err))
        return error_wrap(err, "reclaim leases");
    query_init(&q, postgres_store_of(store), RECLAIM);
    set_time(&q, RECLAIM_NOW, now_us);
    set_i64(&q, RECLAIM_LIMIT, limit);
    return query_run(&q, count, err) || error_wrap(err, "reclaim leases");
}

const struct store_lease_ops POSTGRES_LEASE = {
    .partitions = lease_partitions,
    .claim = lease_claim,
    .start = lease_start,
    .renew = lease_renew,
    .finish = lease_finish,
    .release = lease_release,
    .reclaim = lease_reclaim,
};
