/* History that is taken out, and evidence that is handed on, after a harvest from the simulator. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

static struct sim harvested(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "6000");

    sim_source_apply(store, &sim, "rate.burst=100");
    CHECK_EQ(RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-05",
                 "--workers", "2", "--store", store)
                 .code,
             0, "harvest");
    return sim;
}

static int64_t lines_of(const char *pattern)
{
    char command[1024];
    struct run run;

    (void)snprintf(command, sizeof(command), "zstd -dc %s | wc -l", pattern);
    run = RUN("/bin/sh", "-c", command);
    return atoll(run.out.data);
}

/* How many tasks another harvest of the same window makes. */
static int64_t tasks_of_another(const char *store)
{
    const int64_t before = sql_number(store, "SELECT count(*) FROM ing_task");

    CHECK_EQ(RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-05",
                 "--store", store)
                 .code,
             0, "another harvest");
    return sql_number(store, "SELECT count(*) FROM ing_task") - before;
}

/* A batch that was shown before must be shown from its file, and where that is away or changed,
 * told. */
static void show_archived(const char *store, const char *id, struct str before, const char *pattern)
{
    char key[80], command[1400];
    struct run run;

    (void)snprintf(key, sizeof(key), "%s/1", id);
    run = RUN("patra", "batch", "show", key, "--json", "--store", store);
    CHECK_EQ(run.code, 0, "shown");
    CHECK_STR(cli_value(run.out, "request"), cli_value(before, "request"), "the request as before");
    CHECK_STR(cli_value(run.out, "stats"), cli_value(before, "stats"), "its numbers");
    CHECK_STR(cli_value(run.out, "at"), cli_value(before, "at"), "its time");
    CHECK_STR(cli_value(run.out, "lineage"), cli_value(before, "lineage"), "where it belongs");
    CHECK(cli_value(run.out, "archivedIn").len > 0, "from a file");
    run = RUN("patra", "batch", "show", key, "--store", store);
    CHECK(run.code == 0 && cli_has(run.out, "read from "), "people see that, too");
    (void)snprintf(key, sizeof(key), "%s/99999", id);
    run = RUN("patra", "batch", "show", key, "--store", store);
    CHECK(run.code == 4 && cli_has(run.talk, "nor in its archive"), "one that never was");

    (void)snprintf(key, sizeof(key), "%s/1", id);
    (void)snprintf(command, sizeof(command), "for f in %s; do echo '{}' | zstd -qc > $f; done",
                   pattern);
    (void)RUN("/bin/sh", "-c", command);
    run = RUN("patra", "batch", "show", key, "--store", store);
    CHECK(run.code == 4 && cli_has(run.talk, "is not as it was written"),
          "a file that was changed");
    (void)snprintf(command, sizeof(command), "rm %s", pattern);
    (void)RUN("/bin/sh", "-c", command);
    run = RUN("patra", "batch", "show", key, "--store", store);
    CHECK_EQ(run.code, 4, "the file is away");
    CHECK(cli_has(run.talk, "No such file") && cli_has(run.talk, "/batches-") &&
              cli_has(run.talk, "batchNumber == 1)'"),
          "which file, why not, and how to read it");
    CHECK(cli_has(RUN("patra", "trace", "batch", key, "--store", store).talk, "were archived at"),
          "trace says it, too");
    CHECK(cli_has(RUN("patra", "batch", "replay", key, "--store", store).talk, "were archived at"),
          "replay as well");
}

static void retain(const char *store, const char *age_sql)
{
    struct sim sim = harvested(store);
    const int64_t again = tasks_of_another(store);
    const int64_t versions = sql_number(store, "SELECT sum(version) FROM ing_record");
    char folder[512], pattern[640], id[64];
    const int64_t before = sql_number(store, "SELECT count(*) FROM ing_task_run_batch");
    const int64_t tasks =
        sql_number(store, "SELECT count(DISTINCT task_id) FROM ing_task_run_batch");
    const int64_t run_id = sql_number(store, "SELECT run_id FROM ing_task_run_batch GROUP BY run_id"
                                             " ORDER BY count(*) DESC, run_id LIMIT 1");
    struct str shown;
    struct run run;

    REQUIRE(before > tasks, "some tasks have several batches");
    (void)snprintf(folder, sizeof(folder), "%s/old-%d", test_folder(), (int)run_id);
    run = RUN("patra", "retention", folder, "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "batches"), 0, "all of it is young");
    sql_run(store, age_sql);
    (void)snprintf(id, sizeof(id), "%" PRId64 "/1", run_id);
    shown = RUN("patra", "batch", "show", id, "--json", "--store", store).out;
    run = RUN("patra", "retention", folder, "--json", "--store", store);
    CHECK_EQ(run.code, 0, "it runs");
    CHECK_EQ(cli_number(run.out, "batches"), before - tasks, "all but the last of each task");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"), tasks, "these are left");
    (void)snprintf(pattern, sizeof(pattern), "%s/batches-*", folder);
    CHECK_EQ(lines_of(pattern), before - tasks, "and the others are in the file");
    (void)snprintf(id, sizeof(id), "%" PRId64, run_id);
    run = RUN("patra", "trace", "run", id, "--store", store);
    CHECK(cli_has(run.out, "batches that are not here are in") && cli_has(run.out, folder),
          "trace says where");
    show_archived(store, id, shown, pattern);
    CHECK_EQ(RUN("patra", "cursor", "verify", "--store", store).code, 0, "cursors are as before");
    CHECK(RUN("patra", "why", SIM_SOURCE_NAME, "nobody", "--store", store).code == 1,
          "why answers");
    CHECK_EQ(tasks_of_another(store), again, "no more is fetched again than before");
    CHECK_EQ(sql_number(store, "SELECT sum(version) FROM ing_record"), versions, "and no version");
    sim_stop(&sim);
}

TEST(old_batches_become_files_on_sqlite)
{
    retain(cli_sqlite("retention"),
           "UPDATE ing_task_run_batch SET created_at = created_at - 8640000000000");
}

TEST(old_batches_become_files_on_postgres)
{
    retain(cli_postgres(),
           "UPDATE ing_task_run_batch SET created_at = created_at - interval '100 days'");
}

TEST(evidence_is_a_folder_of_files_with_hashes_and_an_audit_row)
{
    const char *store = cli_sqlite("evidence");
    struct sim sim = harvested(store);
    char folder[512], command[1200];
    struct str digest;
    struct run run;

    (void)snprintf(folder, sizeof(folder), "%s/pack", test_folder());
    CHECK_EQ(RUN("patra", "blackbox", "export", "run", "1", folder, "--store", store).code, 2,
             "not without a reason");
    run = RUN("patra", "blackbox", "export", "run", "1", folder, "--reason", "a case", "--store",
              store);
    CHECK_EQ(run.code, 0, "exported");
    (void)snprintf(
        command, sizeof(command),
        "cd %s && python3 -c 'import json,hashlib; m=json.load(open(\"manifest.json\")); "
        "print(len(m[\"files\"]), all(hashlib.sha256(open(f[\"name\"],\"rb\").read())."
        "hexdigest()==f[\"sha256\"] for f in m[\"files\"]), m[\"reason\"])'",
        folder);
    CHECK(cli_has(RUN("/bin/sh", "-c", command).out, "True a case"), "each file has its hash");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch WHERE run_id = 1") + 1,
             atoll(RUN("/bin/sh", "-c", command).out.data), "a trace, and every batch");
    (void)snprintf(command, sizeof(command), "sha256sum < %s/manifest.json | cut -c1-64", folder);
    digest = str_trim(RUN("/bin/sh", "-c", command).out);
    run = RUN("patra", "blackbox", "list", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "0.sha256"), digest, "the manifest's is in the audit row");
    CHECK_STR(cli_value(run.out, "0.subject"), STR("run 1"), "of what");
    CHECK_STR(cli_value(run.out, "0.reason"), STR("a case"), "why");
    CHECK_EQ(sql_number(store, "SELECT (expires_at - created_at) / 86400000000 FROM"
                               " ing_evidence_pack"),
             7, "for a week");
    CHECK_EQ(
        RUN("patra", "blackbox", "export", "run", "1", folder, "--reason", "x", "--store", store)
            .code,
        4, "not over another pack");
    sim_stop(&sim);
}
