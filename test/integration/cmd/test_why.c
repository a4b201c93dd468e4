/* patra why, as a user runs it, on SQLite and on PostgreSQL: a record is missing, and the commands
 * that why names, one after the other, bring it to where it should be. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "hook_server.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define SOURCE "generic-details"
#define FILE_PATH "test/data/sim-sources/generic-details.yaml"
#define WINDOW "--from", "2026-02-01", "--to", "2026-02-02"

enum { TEXT = 4096, COMMANDS_MAX = 6 };

struct site {
    const char *store;
    struct sim *sim;
    struct hook_server *hook;
    atomic_int *status; /* what the hook answers */
    char id[64];        /* of a record of the window */
    char date[64];
};

static struct run why(const struct site *site)
{
    return RUN("patra", "why", SOURCE, site->id, "--date", site->date, "--json", "--store",
               site->store);
}

/* A command as it is printed, in a shell whose folder has sources/. */
static struct run run_command(const struct site *site, struct str command)
{
    static char script[2 * TEXT];
    const char *build = getenv("PATRA_BUILD");
    char *root = realpath(build != NULL ? build : "build", NULL);
    struct run run;

    REQUIRE(root != NULL, "the build folder");
    (void)snprintf(script, sizeof(script),
                   "PATH='%s':$PATH; PATRA_STORE='%s'; export PATH PATRA_STORE; cd '%s'; %.*s",
                   root, site->store, test_folder(), STR_ARG(command));
    free(root);
    run = RUN("/bin/sh", "-c", script);
    return run;
}

/* Without the escapes of JSON: commands have no others than those of quotation marks. */
static struct str command_of(struct str json)
{
    return cli_value(json, "missing.0.command");
}

/* Follows why's commands until nothing is missing. Returns how many there were. */
static int heal(const struct site *site, const char *first, const char *label)
{
    struct run run = why(site);
    int count = 0;

    CHECK_STR(cli_value(run.out, "missing.0.reason"), str_of(first), label);
    while (run.code == 1 && count < COMMANDS_MAX) {
        const struct run healing = run_command(site, command_of(run.out));

        CHECK(healing.code == 0, healing.talk.data);
        count++;
        run = why(site);
    }
    CHECK_EQ(run.code, 0, label);
    CHECK_STR(cli_value(run.out, "isThere"), STR("true"), label);
    CHECK_EQ(cli_number(run.out, "record.version") >= 1, 1, label);
    return count;
}

/* ---- situations ---- */

static void run_ok(struct run run)
{
    REQUIRE(run.code == 0, run.talk.len > 0 ? run.talk.data : "a command");
}

static void apply(const struct site *site)
{
    sim_source_apply_file(site->store, site->sim, FILE_PATH, "rate.burst=100");
}

static void fetch(const struct site *site)
{
    apply(site);
    run_ok(RUN("patra", "backfill", SOURCE, WINDOW, "--quiet", "--store", site->store));
}

/* The file is where the command looks for it. */
static void not_applied(const struct site *site)
{
    static char script[TEXT];

    (void)snprintf(script, sizeof(script),
                   "mkdir -p '%s/sources' && sed 's|http://127.0.0.1:8080|%s|' " FILE_PATH
                   " >'%s/sources/" SOURCE ".yaml'",
                   test_folder(), site->sim->base, test_folder());
    run_ok(RUN("/bin/sh", "-c", script));
    run_ok(RUN("patra", "init", "--store", site->store));
}

static void not_planned(const struct site *site)
{
    apply(site);
}

static void queued(const struct site *site)
{
    apply(site);
    run_ok(RUN("patra", "trigger", SOURCE, "backfill", WINDOW, "--store", site->store));
}

static void paused(const struct site *site)
{
    queued(site);
    run_ok(RUN("patra", "pause", SOURCE, "--reason", "a test", "--store", site->store));
}

static void cancelled(const struct site *site)
{
    queued(site);
    run_ok(RUN("patra", "plan", "cancel", "1", "--store", site->store));
}

static void failed(const struct site *site)
{
    queued(site);
    sql_run(site->store, "UPDATE ing_task SET status_code = 'FAILED', last_error = 'a test'");
}

/* The source has it, and patra has not: as if it had been added late. */
static void not_listed(const struct site *site)
{
    char sql[TEXT];

    fetch(site);
    (void)snprintf(sql, sizeof(sql),
                   "DELETE FROM ing_outbox WHERE record_id ="
                   " (SELECT id FROM ing_record WHERE provider_id = '%s')",
                   site->id);
    sql_run(site->store, sql);
    (void)snprintf(sql, sizeof(sql), "DELETE FROM ing_record_state WHERE provider_id = '%s'",
                   site->id);
    sql_run(site->store, sql);
    (void)snprintf(sql, sizeof(sql), "DELETE FROM ing_listed_id WHERE provider_id = '%s'",
                   site->id);
    sql_run(site->store, sql);
}

static void wrong_file(const struct site *site)
{
    sim_source_apply_file(site->store, site->sim, FILE_PATH,
                          "endpoints.record.response.updated_at=$.nowhere");
    (void)RUN("patra", "backfill", SOURCE, WINDOW, "--quiet", "--store", site->store);
    apply(site); /* corrected */
}

static void refused(const struct site *site)
{
    static char rule[TEXT];
    struct sim refusing;

    (void)snprintf(rule, sizeof(rule), "path=/generic/records/%s kind=status code=400 body=text",
                   site->id);
    refusing = SIM_SOURCE_START("--records", "600", "--fault", rule);
    sim_source_apply_file(site->store, &refusing, FILE_PATH, "rate.burst=100");
    (void)RUN("patra", "backfill", SOURCE, WINDOW, "--quiet", "--store", site->store);
    sim_stop(&refusing);
    apply(site); /* it does not refuse any more */
}

static void signal_dropped(const struct site *site)
{
    refused(site);
    run_ok(RUN("patra", "signal", "drop", SOURCE, "--yes", "--store", site->store));
}

static void not_sequenced(const struct site *site)
{
    fetch(site);
}

static void add_bus(const struct site *site, const char *more)
{
    char path[TEXT];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/hook.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    fprintf(file, "bus: hook\ntype: webhook\nurl: http://127.0.0.1:%d/in\nallow_plain: true\n%s",
            hook_server_port(site->hook), more);
    REQUIRE(fclose(file) == 0, path);
    run_ok(RUN("patra", "bus", "apply", path, "--store", site->store));
}

static void not_relayed(const struct site *site)
{
    fetch(site);
    add_bus(site, "");
}

static void relay_paused(const struct site *site)
{
    not_relayed(site);
    run_ok(RUN("patra", "outbox", "pause", "hook", "--reason", "a test", "--store", site->store));
    run_ok(RUN("patra", "publish", "--once", "--store", site->store));
}

static void parked(const struct site *site)
{
    not_relayed(site);
    atomic_store(site->status, 422);
    (void)RUN("patra", "publish", "--once", "--store", site->store);
    atomic_store(site->status, 200);
}

static void given_up(const struct site *site)
{
    parked(site);
    run_ok(RUN("patra", "outbox", "skip", "hook", site->id, "--store", site->store));
}

static void begins_later(const struct site *site)
{
    fetch(site);
    run_ok(RUN("patra", "publish", "--once", "--store", site->store));
    add_bus(site, "start: latest\n");
}

static void moved_past(const struct site *site)
{
    not_relayed(site);
    run_ok(RUN("patra", "outbox", "pause", "hook", "--reason", "a test", "--store", site->store));
    run_ok(RUN("patra", "publish", "--once", "--store", site->store));
    run_ok(RUN("patra", "offset", "reset", "hook", "--to", "latest", "--reason", "a test", "--yes",
               "--store", site->store));
    run_ok(RUN("patra", "outbox", "resume", "hook", "--store", site->store));
}

static const char SHELF[] = "projection: shelf\n"
                            "tables:\n"
                            "  shelf:\n"
                            "    key: { type: none, id: id }\n"
                            "    columns: { title: { path: $.fields.title } }\n"
                            "    from: [{ aggregates: [" SOURCE "/list] }]\n";

/* `more` are lines of its file. */
static void add_projection(const struct site *site, const char *more)
{
    char path[TEXT];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/shelf.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(SHELF, file) >= 0 && fputs(more, file) >= 0, path);
    REQUIRE(fclose(file) == 0, path);
    run_ok(RUN("patra", "projection", "apply", path, "--store", site->store));
}

static void not_applied_yet(const struct site *site)
{
    fetch(site);
    add_projection(site, "");
    run_ok(RUN("patra", "publish", "--once", "--store", site->store));
}

static void row_lost(const struct site *site)
{
    char sql[TEXT];

    not_applied_yet(site);
    run_ok(RUN("patra", "consume", "shelf", "--once", "--store", site->store));
    (void)snprintf(sql, sizeof(sql), "DELETE FROM shelf WHERE id = '%s'", site->id);
    sql_run(site->store, sql);
}

static const struct {
    const char *label;
    void (*plant)(const struct site *site);
    const char *reason;
} cases[] = {
    { "not applied", not_applied, "source.unknown" },
    { "no plan", not_planned, "plan.none" },
    { "queued", queued, "window.waiting" },
    { "paused", paused, "source.paused" },
    { "cancelled", cancelled, "window.cancelled" },
    { "failed", failed, "window.failed" },
    { "not listed", not_listed, "source.silent" },
    { "quarantined", wrong_file, "quarantine.open" },
    { "refused", refused, "signal.refused" },
    { "signal dropped", signal_dropped, "signal.dropped" },
    { "not in the stream", not_sequenced, "stream.idle" },
    { "not relayed", not_relayed, "stream.idle" },
    { "relay paused", relay_paused, "subscription.paused" },
    { "parked", parked, "subscription.parked" },
    { "given up", given_up, "subscription.dead" },
    { "relay begins later", begins_later, "subscription.earlier" },
    { "moved past it", moved_past, "subscription.skipped" },
    { "not applied to a table", not_applied_yet, "subscription.idle" },
    { "its row was lost", row_lost, "projection.absent" },
};

static int answer(void *context, const struct hook_request *request, const char **headers)
{
    (void)request;
    (void)headers;
    return atomic_load((atomic_int *)context);
}

/* Whether the hook has got the record, since so many requests. */
static bool has_received(const struct site *site, size_t since)
{
    for (size_t i = since; i < hook_server_count(site->hook); i++) {
        const struct hook_request request = hook_server_request(site->hook, i);

        if (str_eq(hook_header(&request, "aggregate_id"), str_of(site->id)))
            return true;
    }
    return false;
}

/* A record of the window that is there, as another store has it. */
static void choose(struct site *site, const char *store)
{
    struct site other = *site;
    struct run run;

    other.store = store;
    fetch(&other);
    run = RUN("patra", "record", "list", SOURCE, "--limit", "1", "--json", "--store", store);
    (void)snprintf(site->id, sizeof(site->id), "%.*s", STR_ARG(cli_value(run.out, "records.0.id")));
    (void)snprintf(site->date, sizeof(site->date), "%.*s",
                   STR_ARG(cli_value(run.out, "records.0.updatedAt")));
    REQUIRE(site->id[0] != '\0' && site->date[0] != '\0', "a record with a date");
}

static void heal_all(const char *(*new_store)(void))
{
    struct sim sim = SIM_SOURCE_START("--records", "600");
    atomic_int status = 200;
    struct site site = { .sim = &sim, .status = &status };

    site.hook = hook_server_start(answer, &status);
    choose(&site, new_store());
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const size_t before = hook_server_count(site.hook);
        bool has_relay;

        site.store = new_store();
        cases[i].plant(&site);
        (void)heal(&site, cases[i].reason, cases[i].label);
        has_relay =
            sql_number(site.store,
                       "SELECT count(*) FROM ing_subscription WHERE kind_code = 'RELAY'") > 0;
        CHECK(!has_relay || has_received(&site, before), cases[i].label);
    }
    hook_server_end(site.hook);
    sim_stop(&sim);
}

static const char *new_sqlite(void)
{
    static char name[32];
    static int count;

    (void)snprintf(name, sizeof(name), "why%d", count++);
    return cli_sqlite(name);
}

TEST(the_commands_of_why_heal_what_is_missing_on_sqlite)
{
    heal_all(new_sqlite);
}

TEST(the_commands_of_why_heal_what_is_missing_on_postgres)
{
    heal_all(cli_postgres);
}

TEST(why_shows_the_way_of_a_record)
{
    struct sim sim = SIM_SOURCE_START("--records", "600");
    struct site site = { .sim = &sim, .store = cli_sqlite("page") };
    struct run run;

    choose(&site, site.store);
    run_ok(RUN("patra", "publish", "--once", "--store", site.store));
    run = RUN("patra", "why", SOURCE, site.id, "--store", site.store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, " of " SOURCE "/list is there, version "), run.out.data);
    CHECK(cli_has(run.out, "BACKFILL   2026-02-01  2026-02-02  SUCCEEDED  1     1"), run.out.data);
    CHECK(cli_has(run.out, "listed by task 1 of plan 1, SUCCEEDED"), run.out.data);
    CHECK(cli_has(run.out, "received in batch "), run.out.data);
    CHECK(cli_has(run.out, "/generic/records/"), run.out.data);
    CHECK(cli_has(run.out, ", position "), run.out.data);
    run = RUN("patra", "why", SOURCE, "r'; x", "--store", site.store);
    CHECK_EQ(run.code, 1, "not there");
    CHECK(cli_has(run.out, "echo 'r'\\''; x' | patra update " SOURCE " --ids -"), run.out.data);
    CHECK_EQ(
        RUN("patra", "why", SOURCE, site.id, "--endpoint", "other", "--store", site.store).code, 4,
        "no such endpoint");
    CHECK_EQ(RUN("patra", "why", SOURCE, site.id, "--date", "soon", "--store", site.store).code, 2,
             "no date");
    sim_stop(&sim);
}

/* The tables are in another database than the store. */
TEST(audit_names_and_repairs_what_differs_in_another_database)
{
    struct sim sim = SIM_SOURCE_START("--records", "600");
    struct site site = { .sim = &sim, .store = cli_sqlite("audited") };
    char other[TEXT], line[2 * TEXT], sql[TEXT];
    struct run run;

    (void)snprintf(other, sizeof(other), "%s/other.db", test_folder());
    (void)snprintf(line, sizeof(line), "database: %s\n", other);
    choose(&site, site.store);
    add_projection(&site, line);
    run_ok(RUN("patra", "publish", "--once", "--store", site.store));
    run = RUN("patra", "audit", "--json", "--store", site.store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_number(run.out, "0.keys") > 0, "all records");
    CHECK_EQ(cli_number(run.out, "0.behind"), cli_number(run.out, "0.keys"), "none is applied");
    run_ok(RUN("patra", "consume", "shelf", "--once", "--store", site.store));
    run = RUN("patra", "audit", "shelf", "--store", site.store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, " keys, 0 differ, 0 not applied yet\n"), run.out.data);
    (void)snprintf(sql, sizeof(sql), "DELETE FROM shelf WHERE id = '%s'", site.id);
    sql_run(other, sql);
    sql_run(other, "INSERT INTO shelf (id, version, deleted) VALUES ('nobody', 1, 0)");
    run = RUN("patra", "why", SOURCE, site.id, "--json", "--store", site.store);
    CHECK_STR(cli_value(run.out, "missing.0.reason"), STR("projection.absent"), "why says so");
    run = RUN("patra", "audit", "shelf", "--store", site.store);
    CHECK_EQ(run.code, 1, "something differs");
    CHECK(cli_has(run.out, " keys, 2 differ, "), run.out.data);
    CHECK(cli_has(run.out, "missing") && cli_has(run.out, site.id), run.out.data);
    CHECK(cli_has(run.out, "extra") && cli_has(run.out, "nobody"), run.out.data);
    run = RUN("patra", "audit", "shelf", "--repair", "--json", "--store", site.store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(cli_number(run.out, "0.repaired"), 2, "both");
    CHECK_EQ(sql_number(other, "SELECT count(*) FROM shelf WHERE id = 'nobody'"), 0, "removed");
    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM shelf WHERE id = '%s'", site.id);
    CHECK_EQ(sql_number(other, sql), 1, "there again");
    CHECK_EQ(RUN("patra", "audit", "--store", site.store).code, 0, "nothing differs");
    CHECK_EQ(RUN("patra", "why", SOURCE, site.id, "--store", site.store).code, 0, "it is there");
    CHECK_EQ(RUN("patra", "audit", "nothing", "--store", site.store).code, 4, "no such projection");
    sim_stop(&sim);
}
