/* Brings a site to rest and checks it: the simulator's truth and audit, and rules in SQL. */
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/instant.h"
#include "sql.h"
#include "stream_sql.h"
#include "test.h"

enum { ROUNDS_MAX = 8 };

static int64_t live_tasks(const struct site *site)
{
    return sql_number(site->dsn, "SELECT count(*) FROM ing_task WHERE status_code IN"
                                 " ('QUEUED', 'DISPATCHED', 'EXECUTING')");
}

static int64_t cursors_behind(const struct site *site)
{
    char sql[SITE_TEXT_MAX], to[32];

    site_to(site, to);
    if (site->is_postgres)
        (void)snprintf(sql, sizeof(sql),
                       "SELECT count(*) FROM ing_cursor WHERE operation_code = 'HARVEST' AND"
                       " normalized_instant < '%s'",
                       to);
    else
        (void)snprintf(sql, sizeof(sql),
                       "SELECT count(*) FROM ing_cursor WHERE operation_code = 'HARVEST' AND"
                       " normalized_instant < %lld",
                       (long long)(site->now_us - 60000000));
    return sql_number(site->dsn, sql);
}

static void one_round(struct site *site, bool with_replay)
{
    char to[32];

    site_to(site, to);
    for (int i = 0; i < site->source_count; i++) {
        const struct site_source *source = &site_sources[site->sources[i]];

        CHECK_EQ(SITE_COMMAND(site, "patra", "trigger", source->name, "harvest", "--to", to), 0,
                 "a harvest that is left alone");
        CHECK_EQ(SITE_COMMAND(site, "patra", "trigger", source->name, "backfill", "--from",
                              SITE_FROM, "--to", SITE_START),
                 0, "a backfill that is left alone");
        if (source->has_update)
            CHECK_EQ(SITE_COMMAND(site, "patra", "trigger", source->name, "update"), 0,
                     "an update that is left alone");
        if (with_replay)
            CHECK_EQ(SITE_COMMAND(site, "patra", "trigger", source->name, "replay", "--from",
                                  SITE_FROM, "--to", to, "--campaign", "rest"),
                     0, "a replay that is left alone");
    }
    CHECK_EQ(SITE_COMMAND(site, "patra", "work", "--drain", "--workers", "8", "--lease", "5s"), 0,
             "a worker that is left alone");
}

void come_to_rest(struct site *site, bool with_replay)
{
    int round = 0;

    do
        one_round(site, with_replay && round == 0);
    while (++round < ROUNDS_MAX && (round < 2 || live_tasks(site) > 0 || cursors_behind(site) > 0));
    CHECK_EQ(cursors_behind(site), 0, "every harvest's cursor has come to the end");
    CHECK_EQ(live_tasks(site), 0, "nothing is left to do");
}

/* ---- by SQL ---- */

/* Each counts what must not be. */
static const struct {
    const char *label;
    const char *sql;
} rules[] = {
    { "runs that nobody ended",
      "SELECT count(*) FROM ing_task_run WHERE status_code IN ('PLANNED', 'RUNNING')" },
    { "tasks that hold a lease", "SELECT count(*) FROM ing_task WHERE lease_owner IS NOT NULL" },
    { "plans in the middle of being made",
      "SELECT count(*) FROM ing_plan WHERE status_code IN ('DRAFT', 'SLICING')" },
    { "slices that are open although their task has ended",
      "SELECT count(*) FROM ing_plan_slice s JOIN ing_task t ON t.slice_id = s.id WHERE"
      " s.status_code IN ('PENDING', 'READY') AND t.status_code NOT IN"
      " ('QUEUED', 'DISPATCHED', 'EXECUTING')" },
    { "slices that ended otherwise than their task",
      "SELECT count(*) FROM ing_plan_slice s JOIN ing_task t ON t.slice_id = s.id WHERE"
      " s.status_code <> t.status_code AND s.status_code NOT IN ('PENDING', 'READY')" },
    { "slices without a task", "SELECT count(*) FROM ing_plan_slice s WHERE NOT EXISTS"
                               " (SELECT 1 FROM ing_task t WHERE t.slice_id = s.id)"
                               " AND s.status_code <> 'CANCELLED'" },
    { "records with events other than one per version",
      "SELECT count(*) FROM ing_record r WHERE r.version <> (SELECT count(*) FROM ing_outbox o"
      " WHERE o.record_id = r.id)" },
    { "records whose last event has another version",
      "SELECT count(*) FROM ing_record r WHERE r.version <> (SELECT max(o.version) FROM ing_outbox "
      "o"
      " WHERE o.record_id = r.id)" },
    { "first events that are no creations, and creations that are no first events",
      "SELECT count(*) FROM ing_outbox WHERE (version = 1) <> (event_type = 'RecordCreated')"
      " AND NOT (version = 1 AND event_type = 'RecordDeleted')" },
    { "events without a record",
      "SELECT count(*) FROM ing_outbox o WHERE NOT EXISTS (SELECT 1 FROM ing_record r"
      " WHERE o.record_id = r.id)" },
    { "records whose last event says otherwise whether they are dead",
      "SELECT count(*) FROM ing_record r JOIN ing_outbox o ON o.record_id = r.id AND o.version = "
      "r.version"
      " WHERE (CASE WHEN r.deleted THEN 1 ELSE 0 END) <>"
      " (CASE WHEN o.event_type = 'RecordDeleted' THEN 1 ELSE 0 END)" },
    { "records without content, and content without a record",
      "SELECT (SELECT count(*) FROM ing_record r WHERE NOT EXISTS (SELECT 1 FROM"
      " ing_record_content c WHERE c.record_id = r.id)) + (SELECT count(*) FROM"
      " ing_record_content c WHERE NOT EXISTS (SELECT 1 FROM ing_record r WHERE"
      " r.id = c.record_id))" },
    { "endpoints with another number of records than is kept", SQL_WRONG_TALLIES },
    { "records without lineage",
      "SELECT count(*) FROM ing_record r WHERE NOT EXISTS (SELECT 1 FROM ing_task_run_batch b JOIN"
      " ing_task_run n ON n.id = b.run_id JOIN ing_task t ON t.id = n.task_id"
      " WHERE b.id = r.batch_id AND n.id = r.run_id AND t.id = r.task_id AND t.plan_id = r.plan_id"
      " AND t.slice_id = r.slice_id AND t.provenance_code = r.provenance_code)" },
    { "batches that are not of their run's task",
      "SELECT count(*) FROM ing_task_run_batch b JOIN ing_task_run n ON n.id = b.run_id"
      " WHERE b.task_id <> n.task_id" },
    { "batches twice", "SELECT count(*) FROM (SELECT 1 FROM ing_task_run_batch"
                       " WHERE status_code = 'SUCCEEDED' GROUP BY run_id, batch_no"
                       " HAVING count(*) > 1) AS t" },
    { "runs with gaps between batches",
      "SELECT count(*) FROM (SELECT run_id FROM ing_task_run_batch GROUP BY run_id"
      " HAVING max(batch_no) - min(batch_no) + 1 <> count(*)) AS t" },
    { "tasks that succeeded without a run that did",
      "SELECT count(*) FROM ing_task t WHERE t.status_code = 'SUCCEEDED' AND NOT EXISTS"
      " (SELECT 1 FROM ing_task_run n WHERE n.task_id = t.id AND n.status_code = 'SUCCEEDED')" },
    { "tasks with a number of runs other than their attempts",
      "SELECT count(*) FROM ing_task t WHERE (SELECT count(*) FROM ing_task_run n WHERE"
      " n.task_id = t.id) <> (SELECT coalesce(max(n.attempt_no), 0) FROM ing_task_run n WHERE"
      " n.task_id = t.id)" },
    { "cursors that went back without a reset",
      "SELECT count(*) FROM ing_cursor_event WHERE reason_code = 'ADVANCE' AND"
      " prev_instant IS NOT NULL AND new_instant <= prev_instant" },
};

static const char *const sums[][2] = {
    { "reqCount", "reqCount" },   { "retCount", "itemsCount" },   { "inserted", "inserted" },
    { "updated", "updated" },     { "skipped", "skipped" },       { "failed", "failed" },
    { "unchanged", "unchanged" }, { "older", "older" },           { "deleted", "deleted" },
    { "signals", "signals" },     { "retryCount", "retryCount" },
};

static void number_of(const struct site *site, const char *column, const char *name, char text[128])
{
    if (site->is_postgres)
        (void)snprintf(text, 128, "(%s::jsonb->>'%s')::bigint", column, name);
    else
        (void)snprintf(text, 128, "json_extract(%s, '$.%s')", column, name);
}

/* Events of a changed mapping, which no batch counts. */
#define REDERIVED_POSTGRES                                               \
    "SELECT count(*) FROM ing_outbox WHERE convert_from(body, 'UTF8')::" \
    "jsonb->>'rederived' = 'true'"
#define REDERIVED_SQLITE                                      \
    "SELECT count(*) FROM ing_outbox WHERE json_extract(CAST" \
    "(body AS TEXT), '$.rederived') = 1"

static void check_sums(struct site *site)
{
    char run[128], batch[128], inserted[128], updated[128], sql[1024];
    int64_t counted, events;

    for (size_t i = 0; i < ARRAY_LEN(sums); i++) {
        number_of(site, "n.stats", sums[i][0], run);
        number_of(site, "b.stats", sums[i][1], batch);
        (void)snprintf(sql, sizeof(sql),
                       "SELECT count(*) FROM ing_task_run n WHERE %s <> (SELECT"
                       " coalesce(sum(%s), 0) FROM ing_task_run_batch b WHERE b.run_id = n.id)",
                       run, batch);
        CHECK_EQ(sql_number(site->dsn, sql), 0, sums[i][0]);
    }
    number_of(site, "stats", "inserted", inserted);
    number_of(site, "stats", "updated", updated);
    (void)snprintf(sql, sizeof(sql), "SELECT coalesce(sum(%s + %s), 0) FROM ing_task_run_batch",
                   inserted, updated);
    counted = sql_number(site->dsn, sql);
    events = sql_number(site->dsn, "SELECT count(*) FROM ing_outbox");
    counted += sql_number(site->dsn, "SELECT count(*) FROM ing_quarantine WHERE"
                                     " resolution_code = 'RETRIED'");
    counted += sql_number(site->dsn, site->is_postgres ? REDERIVED_POSTGRES : REDERIVED_SQLITE);
    if (sql_number(site->dsn, "SELECT count(*) FROM ing_quarantine") == 0)
        CHECK_EQ(counted, events, "changes that batches count, and events");
    else
        CHECK(counted >= events, "changes that batches count, and events");
}

/* ---- by others ---- */

static void check_truth(struct site *site)
{
    char to[32], address[4096];

    site_to(site, to);
    (void)snprintf(address, sizeof(address), "%s%s", site->is_postgres ? "" : "sqlite:", site->dsn);
    for (int i = 0; i < site->source_count; i++) {
        const struct site_source *source = &site_sources[site->sources[i]];
        const struct run run =
            RUN("patra-sim", "verify", "--store", address, "--protocol", source->protocol,
                "--source", source->name, "--endpoint", source->endpoint, "--from", SITE_FROM,
                "--to", to, "--url", site->sim.base);

        if (run.code != 0)
            test_fail(__FILE__, __LINE__, "%s: verify ended with %d: %s%s", source->name, run.code,
                      run.out.data, run.talk.data);
    }
}

static int64_t number_after(const char *text, const char *name)
{
    const char *found = strstr(text, name);

    REQUIRE(found != NULL, name);
    return strtoll(found + strlen(name), NULL, 10);
}

/* Not bounded: triggers overlap, cursors are reset and windows replayed on purpose, page sizes
 * change, and a process that is killed leaves pages to be requested again. None of this can be
 * told apart in the audit from requests that nobody needs. The audit itself reports a page that is
 * requested again without a cause. */
static void print_requests(struct site *site, const char *audit)
{
    const int64_t good = number_after(audit, "\"requests\":") - number_after(audit, "\"faults\":");
    const int64_t runs = sql_number(site->dsn, "SELECT count(*) FROM ing_task_run");
    const int64_t records = sql_number(site->dsn, "SELECT count(*) FROM ing_record");

    test_note("%lld requests without faults: %.2f per record, %.2f per run", (long long)good,
              (double)good / (double)records, (double)good / (double)runs);
}

static void check_audit(struct site *site)
{
    const char *audit = site_ask(site, "GET", "/_sim/audit", "");

    if (strstr(audit, "\"violations\":[]") == NULL)
        test_fail(__FILE__, __LINE__, "the audit: %.3000s", audit);
    print_requests(site, audit);
}

/* A sanitizer ends a process with an exit code that commands have as well. */
static void check_log(const struct site *site)
{
    static const char *const words[] = { "Sanitizer", "runtime error:" };
    const struct str log = test_read(site->log);

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const size_t found = str_find(log, str_of(words[i]));

        if (found < log.len)
            test_fail(__FILE__, __LINE__, "a process said: %.2000s", log.data + found);
    }
}

/* The lease of a publisher that was killed lasts five seconds. */
static void check_stream(struct site *site)
{
    int code = -1;

    for (int i = 0; i < 200 && code != 0; i++) {
        code = SITE_COMMAND(site, "patra", "publish", "--once");
        if (code != 0)
            (void)usleep(100000);
    }
    CHECK_EQ(code, 0, "everything is published");
    stream_sql_check(site->dsn);
}

void check_site(struct site *site)
{
    check_log(site);
    check_truth(site);
    check_audit(site);
    CHECK_EQ(SITE_COMMAND(site, "patra", "cursor", "verify"), 0, "cursor verify");
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        CHECK_EQ(sql_number(site->dsn, rules[i].sql), 0, rules[i].label);
    check_sums(site);
    check_stream(site);
    CHECK(sql_number(site->dsn, "SELECT count(*) FROM ing_record") > 300, "there was work");
}
