/* Leases on tasks. */
#include <inttypes.h>

#include "adapter/sql/read.h"
#include "adapter/sql/session.h"
#include "port/store_lease.h"

static bool read_partitions(struct rows *rows, struct arena *arena, struct partition_list *list,
                            struct error *err)
{
    struct partition_state *state;

    *list = (struct partition_list){ 0 };
    while ((state = ROWS_NEXT(rows, arena, list)) != NULL) {
        state->partition.source = rows_text(rows, arena);
        state->partition.endpoint = rows_text(rows, arena);
        state->partition.operation = (enum operation)rows_code(rows, &OPERATION_CODES);
        state->plan_id = rows_i64(rows);
        state->has_due = !rows_is_null(rows);
        state->priority = rows_i64(rows);
        state->scheduled_us = rows_i64(rows);
        state->live = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

/* Steps from one partition to the next by the index, so that the number of tasks in between does
 * not matter; then finds the first due task of each, and counts the tasks under way. A step is the
 * next operation, else the next endpoint, else the next source: SQLite would begin a comparison of
 * all three at once with the tasks of the partition that is left, and read them all. */
static const char PARTITIONS[] =
    "WITH RECURSIVE first (id) AS ("
    "  SELECT * FROM (SELECT id FROM ing_task WHERE status_code = 'QUEUED'"
    "                  AND provenance_code > ''" /* all; else SQLite may sort the table */
    "                  ORDER BY provenance_code, endpoint_name, operation_code LIMIT 1) AS one"
    "  UNION ALL"
    "  SELECT coalesce("
    "    (SELECT n.id FROM ing_task n WHERE n.status_code = 'QUEUED'"
    "        AND n.provenance_code = t.provenance_code AND n.endpoint_name = t.endpoint_name"
    "        AND n.operation_code > t.operation_code ORDER BY n.operation_code LIMIT 1),"
    "    (SELECT n.id FROM ing_task n WHERE n.status_code = 'QUEUED'"
    "        AND n.provenance_code = t.provenance_code AND n.endpoint_name > t.endpoint_name"
    "      ORDER BY n.endpoint_name, n.operation_code LIMIT 1),"
    "    (SELECT n.id FROM ing_task n WHERE n.status_code = 'QUEUED'"
    "        AND n.provenance_code > t.provenance_code"
    "      ORDER BY n.provenance_code, n.endpoint_name, n.operation_code LIMIT 1))"
    "    FROM first JOIN ing_task t ON t.id = first.id)"
    "SELECT p.provenance_code, p.endpoint_name, p.operation_code, p.plan_id, d.priority,"
    "       d.scheduled_at,"
    "       (SELECT count(*) FROM ing_task l WHERE l.status_code IN ('DISPATCHED', 'EXECUTING')"
    "           AND l.provenance_code = p.provenance_code AND l.endpoint_name = p.endpoint_name"
    "           AND l.operation_code = p.operation_code AND l.leased_until > :now)"
    "  FROM first JOIN ing_task p ON p.id = first.id"
    "  LEFT JOIN ing_task d ON d.id ="
    "       (SELECT q.id FROM ing_task q WHERE q.status_code = 'QUEUED'"
    "           AND q.provenance_code = p.provenance_code AND q.endpoint_name = p.endpoint_name"
    "           AND q.operation_code = p.operation_code AND q.scheduled_at <= :now"
    "         ORDER BY q.priority, q.scheduled_at, q.id LIMIT 1)"
    " ORDER BY p.provenance_code{byte-order}, p.endpoint_name{byte-order},"
    "          p.operation_code{byte-order}";

static bool lease_partitions(struct store *store, struct arena *arena, int64_t now_us,
                             struct partition_list *list, struct error *err)
{
    struct statement *st = statement_of(store, PARTITIONS);

    bind_instant(st, ":now", now_us);
    return read_partitions(&st->rows, arena, list, err) || error_wrap(err, "list partitions");
}

static const char LIVE[] =
    "SELECT count(*) FROM ing_task WHERE status_code IN ('DISPATCHED', 'EXECUTING')"
    "   AND provenance_code = :source AND endpoint_name = :endpoint"
    "   AND operation_code = :operation AND leased_until > :now";

static void bind_partition(struct statement *st, const struct task_partition *partition)
{
    bind_text(st, ":source", partition->source);
    bind_text(st, ":endpoint", partition->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)partition->operation);
}

static bool count_live(struct store *store, const struct task_partition *partition, int64_t now_us,
                       int64_t *live, struct error *err)
{
    struct statement *st = statement_of(store, LIVE);

    bind_partition(st, partition);
    bind_instant(st, ":now", now_us);
    return rows_only_i64(&st->rows, live, err);
}

#define TAKE                                                                                \
    "UPDATE ing_task SET status_code = 'DISPATCHED', lease_owner = :owner,"                 \
    " leased_until = :until, lease_count = lease_count + 1, lease_epoch = lease_epoch + 1," \
    " updated_at = :now WHERE id IN (SELECT id FROM ing_task WHERE status_code = 'QUEUED'"  \
    "   AND scheduled_at <= :now"
#define TAKEN \
    " ORDER BY priority, scheduled_at, id LIMIT :limit{lock-free}) RETURNING " TASK_COLUMNS

static const char CLAIM[] = TAKE " AND provenance_code = :source AND endpoint_name = :endpoint"
                                 " AND operation_code = :operation" TAKEN;
static const char CLAIM_ANY[] = TAKE TAKEN;

/* Sessions that count and claim in one partition wait for each other. */
static bool lock_partition(struct store *store, const struct task_partition *partition,
                           struct error *err)
{
    return store_lock_named(store, err, "partition:%.*s/%.*s/%d", STR_ARG(partition->source),
                            STR_ARG(partition->endpoint), (int)partition->operation);
}

/* How many tasks may be claimed. */
static bool claim_limit(struct store *store, const struct task_claim *claim, int64_t *limit,
                        struct error *err)
{
    int64_t live = 0;

    *limit = claim->limit;
    if (claim->live_max <= 0 || claim->partition.source.len == 0)
        return true;
    if (!lock_partition(store, &claim->partition, err) ||
        !count_live(store, &claim->partition, claim->now_us, &live, err))
        return false;
    if (*limit > claim->live_max - live)
        *limit = claim->live_max > live ? claim->live_max - live : 0;
    return true;
}

static bool claim_tasks(struct store *store, struct arena *arena, const struct task_claim *claim,
                        struct task_list *list, struct error *err)
{
    const bool is_any = claim->partition.source.len == 0;
    struct statement *st;
    int64_t limit;

    if (!claim_limit(store, claim, &limit, err))
        return false;
    st = statement_of(store, is_any ? CLAIM_ANY : CLAIM);
    if (!is_any)
        bind_partition(st, &claim->partition);
    bind_text(st, ":owner", claim->owner);
    bind_instant(st, ":until", claim->until_us);
    bind_instant(st, ":now", claim->now_us);
    bind_i64(st, ":limit", limit);
    return read_tasks(&st->rows, arena, list, err);
}

/* Without live_max it is one statement, and needs no transaction around it. */
static bool lease_claim(struct store *store, struct arena *arena, const struct task_claim *claim,
                        struct task_list *list, struct error *err)
{
    bool owns_transaction = false, ok;

    if (claim->live_max > 0 && !store_begin_if_idle(store, &owns_transaction, err))
        return false;
    ok = claim_tasks(store, arena, claim, list, err) || error_wrap(err, "claim tasks");
    return store_end_if_owned(store, owns_transaction, ok, err);
}

/* The condition for a change that only the holder of a lease may make. */
#define HELD \
    " WHERE id = :id AND lease_epoch = :epoch AND status_code IN ('DISPATCHED', 'EXECUTING')"

static bool run_held(struct statement *st, struct lease lease, bool *held, struct error *err)
{
    bind_i64(st, ":id", lease.task_id);
    bind_i64(st, ":epoch", lease.epoch);
    return statement_changed(st, held, err) ||
           error_wrap(err, "update the lease of task %" PRId64, lease.task_id);
}

static const char START[] = "UPDATE ing_task SET status_code = 'EXECUTING', updated_at = :now,"
                            " started_at = coalesce(started_at, :now)" HELD;

static bool lease_start(struct store *store, struct lease lease, int64_t now_us, bool *held,
                        struct error *err)
{
    struct statement *st = statement_of(store, START);

    bind_instant(st, ":now", now_us);
    return run_held(st, lease, held, err);
}

static const char RENEW[] =
    "UPDATE ing_task SET leased_until = {greatest}(leased_until, :until), updated_at = :now" HELD;

static bool lease_renew(struct store *store, struct lease lease, int64_t until_us, int64_t now_us,
                        bool *held, struct error *err)
{
    struct statement *st = statement_of(store, RENEW);

    bind_instant(st, ":until", until_us);
    bind_instant(st, ":now", now_us);
    return run_held(st, lease, held, err);
}

static const char FINISH[] =
    "UPDATE ing_task SET status_code = :status, partial_reason_code = :reason,"
    " covered_from = :covered_from, covered_to = :covered_to, last_error = :error,"
    " lease_owner = NULL, leased_until = NULL, finished_at = :now, updated_at = :now" HELD;

static bool lease_finish(struct store *store, const struct task_end *end, bool *held,
                         struct error *err)
{
    struct statement *st = statement_of(store, FINISH);

    bind_code(st, ":status", &TASK_STATUS_CODES, (int)end->status);
    bind_code_opt(st, ":reason", end->has_reason, &PARTIAL_REASON_CODES, (int)end->reason);
    bind_window(st, ":covered_from", ":covered_to", end->covered);
    bind_text(st, ":error", end->error);
    bind_instant(st, ":now", end->now_us);
    return run_held(st, end->lease, held, err);
}

static const char RELEASE[] =
    "UPDATE ing_task SET status_code = 'QUEUED', last_error = :reason,"
    " scheduled_at = CASE WHEN cancel_reason IS NULL THEN :scheduled ELSE :now END,"
    " lease_owner = NULL, leased_until = NULL, crash_count = 0, updated_at = :now" HELD;

static bool lease_release(struct store *store, const struct lease_release *release, bool *held,
                          struct error *err)
{
    struct statement *st = statement_of(store, RELEASE);

    bind_instant(st, ":scheduled", release->scheduled_us);
    bind_text(st, ":reason", release->reason);
    bind_instant(st, ":now", release->now_us);
    return run_held(st, release->lease, held, err);
}

/* A worker that has stored a batch under the lease has come further than those before it. */
static const char RECLAIM[] =
    "UPDATE ing_task SET status_code = 'QUEUED', lease_owner = NULL, leased_until = NULL,"
    " crash_count = CASE WHEN EXISTS (SELECT 1 FROM ing_task_run AS r JOIN ing_task_run_batch AS b"
    "   ON b.run_id = r.id WHERE r.task_id = ing_task.id AND r.lease_epoch = ing_task.lease_epoch)"
    "   THEN 0 ELSE crash_count + 1 END, updated_at = :now"
    " WHERE id IN (SELECT id FROM ing_task WHERE status_code IN ('DISPATCHED', 'EXECUTING')"
    "                 AND leased_until <= :now ORDER BY leased_until LIMIT :limit{lock-free})";

/* The requests that the owners had under way still hold slots of the rate gate. */
static const char FREE_SLOTS[] =
    "DELETE FROM ing_rate_permit WHERE id IN (SELECT p.id FROM ing_rate_permit p"
    "  JOIN ing_task t ON t.lease_owner = p.owner AND t.status_code IN ('DISPATCHED', 'EXECUTING')"
    "                 AND t.leased_until <= :now{lock-free p})";

static bool free_slots(struct store *store, int64_t now_us, struct error *err)
{
    struct statement *st = statement_of(store, FREE_SLOTS);

    bind_instant(st, ":now", now_us);
    return statement_run(st, NULL, err);
}

static bool lease_reclaim(struct store *store, int64_t now_us, int64_t limit, int64_t *count,
                          struct error *err)
{
    struct statement *st;

    if (!free_slots(store, now_us, err))
        return error_wrap(err, "reclaim leases");
    st = statement_of(store, RECLAIM);
    bind_instant(st, ":now", now_us);
    bind_i64(st, ":limit", limit);
    return statement_run(st, count, err) || error_wrap(err, "reclaim leases");
}

const struct store_lease_ops SQL_LEASE = {
    .partitions = lease_partitions,
    .claim = lease_claim,
    .start = lease_start,
    .renew = lease_renew,
    .finish = lease_finish,
    .release = lease_release,
    .reclaim = lease_reclaim,
};
