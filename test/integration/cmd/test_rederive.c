/* patra rederive, as a user runs it: the simulator is stopped before, so that no request can be
 * made; what must be in the events is computed by SQL from the stored payloads. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define STORED "SELECT count(*) FROM ing_record WHERE NOT deleted"
#define EVENTS "SELECT count(*) FROM ing_outbox"

static bool is_postgres(const char *store)
{
    return strncmp(store, "postgresql:", 11) == 0;
}

/* Records whose last event has another `kind` than their payload's created_at. */
static int64_t wrong_kinds(const char *store)
{
    return sql_number(
        store, is_postgres(store)
                   ? "SELECT count(*) FROM ing_record r JOIN ing_record_content c"
                     " ON c.record_id = r.id JOIN ing_outbox o"
                     " ON o.record_id = r.id AND o.version = r.version"
                     " WHERE NOT r.deleted AND"
                     " convert_from(o.body, 'UTF8')::json->'fields'->>'kind' IS DISTINCT FROM"
                     " convert_from(c.payload, 'UTF8')::json->>'created_at'"
                   : "SELECT count(*) FROM ing_record r JOIN ing_record_content c"
                     " ON c.record_id = r.id JOIN ing_outbox o"
                     " ON o.record_id = r.id AND o.version = r.version"
                     " WHERE NOT r.deleted AND"
                     " json_extract(CAST(o.body AS TEXT), '$.fields.kind') IS NOT"
                     " json_extract(CAST(c.payload AS TEXT), '$.created_at')");
}

static void check_diff(const char *store, int64_t stored, int64_t events)
{
    char line[64];
    struct run run =
        RUN("patra", "rederive", SIM_SOURCE_NAME, "--diff", "--json", "--store", store);

    CHECK_EQ(run.code, 1, "there is a difference");
    CHECK_EQ(cli_number(run.out, "changed"), stored, "all of them would change");
    CHECK_EQ(cli_number(run.out, "fields.kind.changed"), stored, "in the new field");
    CHECK_EQ(cli_number(run.out, "fields.title.changed"), -1, "in no other");
    CHECK(cli_value(run.out, "fields.kind.examples.0.id").len > 0, "an example");
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--diff", "--store", store);
    (void)snprintf(line, sizeof(line), "kind: differs in %lld records\n", (long long)stored);
    CHECK(cli_has(run.out, line), run.out.data);
    CHECK(cli_has(run.out, ": (none) -> "), "from what to what");
    CHECK_EQ(sql_number(store, EVENTS), events, "nothing is written");
}

static void rederive_fields(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    int64_t stored, events;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    stored = sql_number(store, STORED);
    events = sql_number(store, EVENTS);
    CHECK(stored > 100, "there is something");
    sim_source_apply(store, &sim, "endpoints.records.fields.kind=$.created_at");
    sim_stop(&sim);

    check_diff(store, stored, events);
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "records", "--json", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(cli_number(run.out, "read"), stored, "all of the old mapping");
    CHECK_EQ(cli_number(run.out, "changed"), stored, "all have a new field");
    CHECK_EQ(sql_number(store, EVENTS), events + stored, "an event each");
    CHECK_EQ(wrong_kinds(store), 0, "as their payloads say");
    CHECK_EQ(sql_number(store, is_postgres(store)
                                   ? "SELECT count(*) FROM ing_outbox WHERE"
                                     " convert_from(body, 'UTF8')::jsonb->>'rederived' = 'true'"
                                   : "SELECT count(*) FROM ing_outbox WHERE json_extract("
                                     "CAST(body AS TEXT), '$.rederived') = 1"),
             stored, "and consumers can tell them from changes of the source");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record r WHERE r.version <> (SELECT"
                               " max(version) FROM ing_outbox o WHERE o.record_id ="
                               " r.id)"),
             0, "no version is without its event");
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "read"), 0, "done");
}

TEST(a_new_field_reaches_every_record_without_a_request_on_sqlite)
{
    rederive_fields(cli_sqlite("fields"));
}

TEST(a_new_field_reaches_every_record_without_a_request_on_postgres)
{
    rederive_fields(cli_postgres());
}

/* Another path to the same value; then a field that no record has; then back. */
static void rederive_others(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    int64_t stored, events;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    stored = sql_number(store, STORED);
    events = sql_number(store, EVENTS);
    sim_source_apply(store, &sim, "endpoints.records.fields.title=$['title']");
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(cli_number(run.out, "unchanged"), stored, "read again, and the same");
    CHECK_EQ(sql_number(store, EVENTS), events, "no event");
    sim_source_apply(store, &sim, "endpoints.records.fields.none={ path: $.none, required: true }");
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(run.code, 1, "it says so");
    CHECK_EQ(cli_number(run.out, "bad"), stored, "none has the field");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_quarantine WHERE resolved_at IS NULL"),
             stored, "in quarantine");
    CHECK_EQ(sql_number(store, STORED), stored, "and still there");
    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_quarantine WHERE resolved_at IS NULL"), 0,
             "corrected");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "the harvest goes on");
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "the simulator finds nothing wrong");
    sim_stop(&sim);
}

TEST(equal_fields_send_no_event_and_bad_ones_are_quarantined_on_sqlite)
{
    rederive_others(cli_sqlite("others"));
}

TEST(equal_fields_send_no_event_and_bad_ones_are_quarantined_on_postgres)
{
    rederive_others(cli_postgres());
}

/* A replay finds every record unchanged. It must not hide from rederive that their fields are old.
 */
TEST(a_harvest_that_confirms_a_record_does_not_hide_its_old_mapping)
{
    const char *store = cli_sqlite("confirmed");
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    int64_t stored;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    stored = sql_number(store, STORED);
    sim_source_apply(store, &sim, "endpoints.records.fields.kind=$.created_at");
    run = RUN("patra", "replay", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "changed"), stored, "their events have the old fields");
    CHECK_EQ(wrong_kinds(store), 0, "and have the new ones now");
    sim_stop(&sim);
}

static bool has_ended(const struct running *running)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)running->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

/* Killed at any moment, and run again: every record once. */
TEST(a_run_that_was_killed_is_continued)
{
    const char *store = cli_sqlite("killed");
    struct sim sim = SIM_SOURCE_START("--records", "6000");
    int64_t stored, events;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    stored = sql_number(store, STORED);
    events = sql_number(store, EVENTS);
    sim_source_apply(store, &sim, "endpoints.records.fields.kind=$.created_at");
    sim_stop(&sim);
    for (int i = 0; i < 5; i++) {
        struct running one = RUN_BEGIN("patra", "rederive", SIM_SOURCE_NAME, "--store", store);
        struct running two = RUN_BEGIN("patra", "rederive", SIM_SOURCE_NAME, "--store", store);

        while (sql_number(store, EVENTS) < events + stored * (i + 1) / 10 &&
               !(has_ended(&one) && has_ended(&two)))
            continue;
        (void)kill(one.pid, SIGKILL);
        (void)kill(two.pid, SIGKILL);
        (void)run_end(&one);
        (void)run_end(&two);
    }
    CHECK_EQ(RUN("patra", "rederive", SIM_SOURCE_NAME, "--store", store).code, 0, "to the end");
    CHECK_EQ(sql_number(store, EVENTS), events + stored, "an event each, none twice");
    CHECK_EQ(wrong_kinds(store), 0, "as their payloads say");
}

/* Two phases, XML, and an update that reads the same endpoint by id. */
TEST(fields_of_pubmed_are_read_again_from_stored_xml)
{
    const char *store = cli_sqlite("pubmed");
    struct sim sim = SIM_SOURCE_START("--records", "3000");
    int64_t stored, events;
    struct run run;

    sim_source_pubmed_apply(store, &sim);
    run = RUN("patra", "harvest", "pubmed", "--from", "2026-01-10", "--to", "2026-01-11", "--store",
              store);
    CHECK_EQ(run.code, 0, run.talk.data);
    stored = sql_number(store, STORED);
    events = sql_number(store, EVENTS);
    CHECK(stored > 10, "there is something");
    run = RUN("patra", "rederive", "pubmed", "--diff", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "read"), 0, "the mapping is in force");
    run = RUN("patra", "source", "apply", "sources/pubmed.yaml", "--store", store, "--set",
              "endpoints.fetch.fields.title.path=MedlineCitation/PMID");
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.talk, "the mapping changed"), run.talk.data);
    sim_stop(&sim);
    run = RUN("patra", "rederive", "pubmed", "--json", "--store", store);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK_EQ(cli_number(run.out, "read"), stored, "all");
    CHECK_EQ(cli_number(run.out, "changed"), stored, "all have another title");
    CHECK_EQ(cli_number(run.out, "fields.title.changed"), stored, "in that field");
    CHECK_EQ(cli_number(run.out, "fields.journal.changed"), -1, "in no other");
    CHECK_EQ(sql_number(store, EVENTS), events + stored, "an event each");
}

/* An update reads records of an old mapping again before it looks for ids. */
TEST(an_update_says_what_it_rederived)
{
    const char *store = cli_sqlite("update");
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    char line[128];
    int64_t stored, events;
    struct run run;

    sim_source_apply_file(store, &sim, "test/data/sim-sources/generic-details.yaml",
                          "rate.burst=100");
    run = RUN("patra", "harvest", "generic-details", "--from", "2026-02-01", "--to", "2026-02-02",
              "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    stored = sql_number(store, STORED);
    events = sql_number(store, EVENTS);
    CHECK(stored > 10, "there is something");
    sim_source_apply_file(store, &sim, "test/data/sim-sources/generic-details.yaml",
                          "endpoints.record.fields.title=$.id");
    run = RUN("patra", "update", "generic-details", "--quiet", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    REQUIRE(sql_number(store, EVENTS) == events + stored, "an event for each record");
    (void)snprintf(line, sizeof(line),
                   "  rederived   %lld records by the changed mapping: %lld changed, 0 unchanged\n",
                   (long long)stored, (long long)stored);
    CHECK(cli_has(run.out, line), run.out.data);
    run = RUN("patra", "update", "generic-details", "--quiet", "--store", store);
    CHECK(!cli_has(run.out, "rederived"), "nothing is left to read again");
    sim_source_apply_file(store, &sim, "test/data/sim-sources/generic-details.yaml",
                          "endpoints.record.fields.title=$.type");
    run = RUN("patra", "trigger", "generic-details", "update", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    (void)snprintf(line, sizeof(line),
                   "%lld records rederived by the changed mapping, %lld changed; nothing to do",
                   (long long)stored, (long long)stored);
    CHECK(cli_has(run.out, line) || cli_has(run.talk, line), run.out.data);
    sim_stop(&sim);
}

/* Records of a list, and an update that requests them at another endpoint, whose mapping is its
 * own. */
TEST(an_update_after_a_changed_query_requests_each_record_once)
{
    const char *file = "test/data/sim-sources/generic-sync.yaml";
    const char *store = cli_sqlite("once");
    struct sim sim = SIM_SOURCE_START("--records", "60");
    char line[64];
    int64_t stored;
    struct run run;

    sim_source_apply_file(store, &sim, file, "rate.burst=1000");
    run = RUN("patra", "harvest", "generic-sync", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    stored = sql_number(store, STORED);
    CHECK(stored > 10, "there is something");
    sim_source_apply_file(store, &sim, file, "endpoints.records.query.view=full");
    run = RUN("patra", "update", "generic-sync", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    (void)snprintf(line, sizeof(line), "0 new, 0 changed, %lld unchanged", (long long)stored);
    CHECK(cli_has(run.out, line), run.out.data);
    run = RUN("patra", "update", "generic-sync", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "nothing: no record needs to be looked at again"), run.out.data);
    sim_source_apply_file(store, &sim, file, "endpoints.records.fields.title=$.id");
    sim_stop(&sim);
    run = RUN("patra", "rederive", "generic-sync", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "changed"), stored,
             "a new mapping of the list still reaches them");
}
