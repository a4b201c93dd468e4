/* bench_claim: how long claiming a task takes with few and with very many queued.
 *
 *      bench_claim [MANY]      1,000 against 1,000,000 (MANY); on PostgreSQL, if installed
 *
 * Claims alternately from two databases, one task at a time, as an executor does: first the list of
 * partitions, then the claim. Prints; asserts nothing.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "port/store_lease.h"
#include "postgres.h"
#include "queued.h"
#include "seconds.h"

enum { FEW = 1000, MANY = 1000000, CLAIMS = 400 };

/* Adds this many tasks, over four partitions and a day. Their slices do not matter here, so foreign
 * keys are not checked. */
static const char FILL[] =
    "SET session_replication_role = replica;"
    "INSERT INTO ing_task (schedule_instance_id, plan_id, slice_id, provenance_code, endpoint_name,"
    " operation_code, credential_id, cursor_key, namespace_scope_code, namespace_key, params,"
    " expr_hash, idempotent_key, status_code, priority, scheduled_at, created_at, updated_at)"
    " SELECT t.schedule_instance_id, t.plan_id, t.slice_id, t.provenance_code, 'works' || n %% 4,"
    "  t.operation_code, t.credential_id, t.cursor_key, t.namespace_scope_code, t.namespace_key,"
    "  t.params, t.expr_hash, md5(n::text), t.status_code, 100 + n %% 7,"
    "  t.scheduled_at - (n::bigint * 7919 %% 86400) * interval '1 second', t.created_at, "
    "t.updated_at"
    "  FROM ing_task t, generate_series(1, %d) AS n;"
    "RESET session_replication_role; VACUUM ANALYZE ing_task";

struct queue {
    int tasks;
    struct store *store;
    struct arena arena;
    double list_s[CLAIMS];
    double claim_s[CLAIMS];
};

static void fill(const char *dsn, int count)
{
    PGconn *connection = PQconnectdb(dsn);
    char sql[2048];
    char *rest = sql;

    (void)snprintf(sql, sizeof(sql), FILL, count);
    while (rest != NULL) { /* VACUUM must be a statement of its own */
        char *const one = strsep(&rest, ";");
        PGresult *result = PQexec(connection, one);

        if (PQresultStatus(result) != PGRES_COMMAND_OK) {
            (void)fprintf(stderr, "bench_claim: %s\n", PQerrorMessage(connection));
            exit(1);
        }
        PQclear(result);
    }
    PQfinish(connection);
}

static bool queue_open(struct queue *queue, int tasks)
{
    struct error err = { 0 };
    const char *dsn = postgres_new_database(&err);

    if (dsn == NULL) {
        (void)printf("PostgreSQL: %s\n", err.level == ERROR_NONE ? "is not installed" : err.text);
        return false;
    }
    queue->tasks = tasks;
    arena_init(&queue->arena, (size_t)16 << 20);
    queue->store = queued_store(dsn);
    queued_add(queue->store, (struct window){ 0 });
    fill(dsn, tasks - 1);
    return true;
}

static void claim(struct queue *queue, int round)
{
    struct partition_list partitions;
    struct task_list tasks;
    struct error err = { 0 };
    double at_s = now_s();

    arena_reset(&queue->arena);
    must(store_partition_list(queue->store, &queue->arena, QUEUED_NOW_US, &partitions, &err), &err);
    queue->list_s[round] = now_s() - at_s;
    at_s = now_s();
    must(store_task_claim(
             queue->store, &queue->arena,
             &(struct task_claim){ .partition =
                                       partitions.items[(size_t)round % partitions.count].partition,
                                   .owner = STR("bench"),
                                   .now_us = QUEUED_NOW_US,
                                   .until_us = QUEUED_NOW_US + US_PER_HOUR,
                                   .limit = 1 },
             &tasks, &err),
         &err);
    queue->claim_s[round] = now_s() - at_s;
}

static double part_ms(double *times_s, int percent)
{
    seconds_sort(times_s, CLAIMS);
    return times_s[CLAIMS * percent / 100] * 1e3;
}

int main(int argc, char **argv)
{
    static struct queue queues[2];

    if (!queue_open(&queues[0], FEW) || !queue_open(&queues[1], argc > 1 ? atoi(argv[1]) : MANY))
        return 0;
    for (int round = -20; round < CLAIMS; round++) {
        for (int i = 0; i < 2; i++)
            claim(&queues[i], round < 0 ? 0 : round); /* the first claims prepare the statements */
    }
    for (int i = 0; i < 2; i++) {
        struct queue *queue = &queues[i];

        (void)printf("%7d queued: claim P50 %.2f ms, P95 %.2f ms; partitions P50 %.2f ms, P95 "
                     "%.2f ms\n",
                     queue->tasks, part_ms(queue->claim_s, 50), part_ms(queue->claim_s, 95),
                     part_ms(queue->list_s, 50), part_ms(queue->list_s, 95));
        store_close(queue->store);
        arena_release(&queue->arena);
    }
    (void)printf("claim at %d against %d: P50 x %.2f, P95 x %.2f; partitions P95 x %.2f\n",
                 queues[1].tasks, queues[0].tasks,
                 part_ms(queues[1].claim_s, 50) / part_ms(queues[0].claim_s, 50),
                 part_ms(queues[1].claim_s, 95) / part_ms(queues[0].claim_s, 95),
                 part_ms(queues[1].list_s, 95) / part_ms(queues[0].list_s, 95));
    return 0;
}
