/* The black box, as a person on call uses it, on SQLite and on PostgreSQL: an incident of each
 * level is provoked in the simulator; trace marks the failing point, batch show has the failing
 * request, and batch replay reproduces it. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "test.h"

static struct run harvest(const char *store)
{
    return RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
               "--workers", "1", "--wait", "1s", "--store", store);
}

static void set_faults(const struct sim *sim, const char *rule)
{
    char url[128];

    (void)snprintf(url, sizeof(url), "%s/_sim/faults", sim->base);
    REQUIRE(RUN("/usr/bin/curl", "-s", "-X", "DELETE", url).code == 0, "no faults");
    if (rule != NULL)
        REQUIRE(RUN("/usr/bin/curl", "-s", "--data-binary", rule, url).code == 0, "faults");
}

struct incident {
    const char *fault;
    const char *level;
    const char *code; /* of the failing request's error; NULL: its batch was received */
    const char *mark;
    const char *status; /* HTTP, of the failing batch */
};

/* trace → the failing batch, as RUN/NUMBER in `batch`. */
static void find_failing(const char *store, const struct incident *incident, char batch[64])
{
    struct run run = RUN("patra", "trace", "plan", "1", "--json", "--store", store);

    CHECK_EQ(run.code, 1, "something failed");
    CHECK_STR(cli_value(run.out, "failingPoint.kind"), STR("BATCH"), incident->fault);
    (void)snprintf(batch, 64, "%.*s/%.*s", STR_ARG(cli_value(run.out, "failingPoint.run")),
                   STR_ARG(cli_value(run.out, "failingPoint.batch")));
    CHECK(cli_has(cli_value(run.out, "nextSteps.0"), batch), "the next step names it");
    run = RUN("patra", "trace", "plan", "1", "--store", store);
    CHECK(cli_has(run.out, "=>      batch "), "it is marked for people");
    CHECK(cli_has(run.out, batch), "by its name");
    run = RUN("patra", "trace", "batch", batch, "--store", store);
    CHECK(cli_has(run.out, "=>      batch "), "and from below");
}

static void check_shown(const char *store, const struct incident *incident, const char *batch)
{
    struct run run = RUN("patra", "batch", "show", batch, "--json", "--store", store);

    CHECK_EQ(run.code, 0, "show");
    CHECK_STR(cli_value(run.out, "mark"), str_of(incident->mark), incident->fault);
    CHECK(cli_has(cli_value(run.out, "request.urlTemplate"), "/generic/offset"), "the request");
    CHECK_STR(cli_value(run.out, "request.query.offset"), STR("0"), "with its parameters");
    if (incident->code != NULL) {
        CHECK_STR(cli_value(run.out, "stats.error.level"), str_of(incident->level), "level");
        CHECK_STR(cli_value(run.out, "stats.error.code"), str_of(incident->code), "code");
        CHECK_STR(cli_value(run.out, "response.status"), str_of(incident->status), "status");
    }
    run = RUN("patra", "batch", "show", batch, "--store", store);
    CHECK(cli_has(run.out, "request") && cli_has(run.out, "query"), "for people");
}

/* The fault is still there: the same happens again. Then it is mended: that is a difference. */
static void check_replayed(const char *store, const struct sim *sim, const char *batch)
{
    struct run run = RUN("patra", "batch", "replay", batch, "--json", "--store", store);

    CHECK_EQ(run.code, 0, "reproduced");
    CHECK_STR(cli_value(run.out, "same"), STR("true"), "the same");
    CHECK_STR(cli_value(run.out, "requestSame"), STR("true"), "the very same request");
    CHECK_STR(cli_value(run.out, "sourceChanged"), STR("false"), "of the same source");
    set_faults(sim, NULL);
    run = RUN("patra", "batch", "replay", batch, "--json", "--store", store);
    CHECK_EQ(run.code, 1, "mended");
    CHECK_STR(cli_value(run.out, "same"), STR("false"), "not the same");
    CHECK_STR(cli_value(run.out, "now.status"), STR("200"), "a page now");
}

static void check_incident(const char *store, const struct incident *incident)
{
    struct sim sim = SIM_SOURCE_START("--records", "3000");
    char batch[64];

    set_faults(&sim, incident->fault);
    sim_source_apply(store, &sim, "retry.max_attempts=2");
    CHECK((harvest(store).code != 0) == (incident->code != NULL), incident->fault);
    find_failing(store, incident, batch);
    check_shown(store, incident, batch);
    check_replayed(store, &sim, batch);
    sim_stop(&sim);
}

static const struct incident TRANSIENT = { "path=/generic kind=status code=503 body=html", "L1",
                                           "answer.status", "failed", "503" };
static const struct incident REQUEST = { "path=/generic kind=status code=400 body=html", "L2",
                                         "answer.status", "failed", "400" };
static const struct incident DATA = { "path=/generic kind=reshape member=updated_at as=nothing",
                                      "L3", NULL, "quarantined", "200" };
static const struct incident FATAL = { "path=/generic kind=status code=401", "L4", "answer.status",
                                       "failed", "401" };

TEST(an_L1_incident_is_found_and_reproduced_on_sqlite)
{
    check_incident(cli_sqlite("l1"), &TRANSIENT);
}

TEST(an_L2_incident_is_found_and_reproduced_on_sqlite)
{
    check_incident(cli_sqlite("l2"), &REQUEST);
}

TEST(an_L3_incident_is_found_and_reproduced_on_sqlite)
{
    check_incident(cli_sqlite("l3"), &DATA);
}

TEST(an_L4_incident_is_found_and_reproduced_on_sqlite)
{
    check_incident(cli_sqlite("l4"), &FATAL);
}

TEST(an_L1_incident_is_found_and_reproduced_on_postgres)
{
    check_incident(cli_postgres(), &TRANSIENT);
}

TEST(an_L3_incident_is_found_and_reproduced_on_postgres)
{
    check_incident(cli_postgres(), &DATA);
}

/* ---- attempts that were made good ---- */

TEST(every_attempt_is_kept_with_what_came_and_why_it_was_sent_again)
{
    const char *store = cli_sqlite("attempts");
    struct sim sim = SIM_SOURCE_START("--records", "3000", "--fault",
                                      "path=/generic nth=1 kind=status code=503 body=html");
    struct run run;

    sim_source_apply(store, &sim, "retry.min_delay=10ms");
    CHECK_EQ(harvest(store).code, 0, "made good");
    run = RUN("patra", "trace", "task", "1", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "tasks.0.runs.0.batches.0.mark"), STR("retried"), "marked");
    run = RUN("patra", "batch", "show", "1/1", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "response.attempts.0.status"), STR("503"), "what came");
    CHECK_STR(cli_value(run.out, "response.attempts.0.then"), STR("BACKOFF"), "why again");
    CHECK(cli_number(run.out, "response.attempts.0.bytes") > 0, "how much");
    CHECK(cli_number(run.out, "response.attempts.0.tookMs") >= 0, "how long");
    CHECK_STR(cli_value(run.out, "items.0.became"), STR("NEW"), "what became of an item");
    CHECK(cli_value(run.out, "items.0.hash").len == 16, "its content");
    run = RUN("patra", "batch", "show", "1/1", "--store", store);
    CHECK(cli_has(run.out, "HTTP 503") && cli_has(run.out, "sent again after a wait"), "shown");
    sim_stop(&sim);
}

/* ---- what has changed since ---- */

TEST(a_replay_tells_record_by_record_what_has_changed)
{
    const char *store = cli_sqlite("changed");
    struct sim sim = SIM_SOURCE_START("--records", "3000", "--now", "2026-02-10T00:00:00Z");
    char url[128];
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    CHECK_EQ(harvest(store).code, 0, "harvest");
    run = RUN("patra", "batch", "replay", "1/1", "--json", "--store", store);
    CHECK_EQ(run.code, 0, "nothing has changed");
    CHECK_STR(cli_value(run.out, "identical"), STR("true"), "byte by byte");
    CHECK(cli_number(run.out, "counts.SAME") > 0, "records are compared");
    CHECK_EQ(cli_number(run.out, "counts.SAME"), cli_number(run.out, "then.items"), "all of them");
    /* Records are updated, and leave the window for the day of their update. */
    (void)snprintf(url, sizeof(url), "%s/_sim/clock?set=2026-04-01T00:00:00Z", sim.base);
    REQUIRE(RUN("/usr/bin/curl", "-s", "-X", "POST", url).code == 0, "time");
    sim_source_apply(store, &sim, "http.user_agent=another");
    run = RUN("patra", "batch", "replay", "1/1", "--json", "--store", store);
    CHECK_EQ(run.code, 1, "it has changed");
    CHECK_STR(cli_value(run.out, "sourceChanged"), STR("true"), "so has the source");
    CHECK(cli_number(run.out, "counts.GONE") > 0, "gone");
    CHECK(cli_has(RUN("patra", "batch", "replay", "1/1", "--store", store).out,
                  "the source has changed since"),
          "for people");
    CHECK(cli_has(RUN("patra", "batch", "replay", "1/1", "--store", store).out, "GONE"), "each");
    sim_stop(&sim);
}

TEST(what_does_not_exist_is_refused)
{
    const char *store = cli_sqlite("refused");

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    CHECK_EQ(RUN("patra", "trace", "run", "1", "--store", store).code, 4, "no run");
    CHECK_EQ(RUN("patra", "trace", "moon", "1", "--store", store).code, 2, "no such kind");
    CHECK_EQ(RUN("patra", "trace", "batch", "1", "--store", store).code, 2, "no number");
    CHECK_EQ(RUN("patra", "batch", "show", "1/1", "--store", store).code, 4, "no batch");
    CHECK_EQ(RUN("patra", "batch", "show", "x", "--store", store).code, 2, "no name");
    CHECK_EQ(RUN("patra", "batch", "replay", "7", "--store", store).code, 4, "no run to replay");
}
