/* patra quarantine, as a user runs it, on SQLite and on PostgreSQL: a harvest from a simulator that
 * spoils a record of every page, then the source is mended. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "test.h"

/* `dates` is where dates are looked for. */
static void apply(const char *store, const struct sim *sim, const char *dates)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "endpoints.records.response.updated_at=%s", dates);
    sim_source_apply(store, sim, path);
}

static int lines_of(struct str text)
{
    int lines = 0;

    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    return lines;
}

static void settle(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "3000", "--fault", "kind=record_no_date rate=1");
    struct run run;
    char id[32], raw_id[64];
    int open;

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    CHECK(cli_has(RUN("patra", "quarantine", "list", "--store", store).out, "(none)"), "empty");
    apply(store, &sim, "$.updated_at");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-04",
              "--store", store);
    CHECK(cli_has(run.out, "quarantine"), "the summary says so");
    /* Listed, and counted by reason. */
    run = RUN("patra", "quarantine", "list", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 0, "list");
    CHECK(cli_has(run.out, "OPEN") && cli_has(run.out, "date.missing"), "by reason");
    run = RUN("patra", "quarantine", "list", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "0.state"), STR("OPEN"), "open");
    CHECK_STR(cli_value(run.out, "0.reason"), STR("date.missing"), "why");
    (void)snprintf(id, sizeof(id), "%.*s", STR_ARG(cli_value(run.out, "0.id")));
    (void)snprintf(raw_id, sizeof(raw_id), "\"id\":\"%.*s\"",
                   STR_ARG(cli_value(run.out, "0.recordId")));
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(cli_has(run.out, "in quarantine. See patra quarantine list"), "and is told what to do");
    /* Its bytes, and what was wrong. */
    run = RUN("patra", "quarantine", "show", id, "--store", store);
    CHECK(cli_has(run.out, "date.missing: ") && cli_has(run.out, raw_id), "show");
    run = RUN("patra", "quarantine", "show", id, "--raw", "--store", store);
    CHECK(run.out.len > 0 && run.out.data[0] == '{' && run.out.data[run.out.len - 1] == '}', "raw");
    CHECK_EQ(RUN("patra", "quarantine", "show", "x", "--store", store).code, 2, "no number");
    CHECK_EQ(RUN("patra", "quarantine", "show", "4711", "--store", store).code, 4, "not there");
    /* Nothing has been corrected yet. */
    run = RUN("patra", "quarantine", "retry", SIM_SOURCE_NAME, "--json", "--store", store);
    open = lines_of(run.out);
    CHECK(open >= 3, "one of every page");
    CHECK_EQ(run.code, 1, "still bad");
    CHECK(cli_has(run.out, "\"outcome\":\"still bad\""), "and so it says");
    apply(store, &sim, "$.created_at");
    run = RUN("patra", "quarantine", "retry", SIM_SOURCE_NAME, "--dry-run", "--store", store);
    CHECK_EQ(run.code, 0, "would do");
    CHECK(cli_has(run.talk, "nothing was written"), "and did not");
    run = RUN("patra", "quarantine", "retry", id, "--note", "dates moved", "--store", store);
    CHECK_EQ(run.code, 0, "one");
    CHECK(cli_has(run.out, ": stored, new"), "stored");
    run = RUN("patra", "quarantine", "retry", id, "--store", store);
    CHECK(cli_has(run.out, ": settled before"), "once");
    run = RUN("patra", "quarantine", "list", "--all", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "0.state"), STR("RETRIED"), "the trail");
    CHECK_STR(cli_value(run.out, "0.note"), STR("dates moved"), "why");
    /* The second is dropped, the others come in. */
    (void)snprintf(id, sizeof(id), "%.*s", STR_ARG(cli_value(run.out, "1.id")));
    CHECK_EQ(RUN("patra", "quarantine", "drop", id, "--store", store).code, 2, "asks");
    run = RUN("patra", "quarantine", "drop", id, "--yes", "--note", "a test record", "--store",
              store);
    CHECK_EQ(run.code, 0, "drop");
    CHECK_STR(run.out, STR("1 dropped\n"), "dropped");
    CHECK_EQ(RUN("patra", "quarantine", "drop", id, "--yes", "--store", store).code, 1, "once");
    run = RUN("patra", "quarantine", "retry", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(run.code, 0, "all that is left");
    CHECK_EQ(lines_of(run.out), open - 2, "without those two");
    CHECK(cli_has(RUN("patra", "quarantine", "list", "--store", store).out, "(none)"), "empty");
    CHECK_EQ(
        lines_of(
            RUN("patra", "quarantine", "retry", SIM_SOURCE_NAME, "--json", "--store", store).out),
        0, "nothing is left to do");
    sim_stop(&sim);
}

TEST(quarantined_records_are_listed_and_settled_on_sqlite)
{
    settle(cli_sqlite("quarantine"));
}

TEST(quarantined_records_are_listed_and_settled_on_postgres)
{
    settle(cli_postgres());
}

/* ---- bad for a while ---- */

/* The words of a command that a text names, to its end. */
static void split(struct str text, const char *begin, char *words[8])
{
    static char copy[512];
    const size_t at = str_find(text, str_of(begin));
    const struct str rest = str_slice(text, at, text.len);
    struct str line = rest, command;

    REQUIRE(at < text.len, "the command is named");
    command = str_cut(&line, '\n');
    (void)snprintf(copy, sizeof(copy), "%.*s", STR_ARG(command));
    words[0] = strtok(copy, " ");
    for (int i = 1; i < 8; i++)
        words[i] = words[i - 1] != NULL ? strtok(NULL, " ") : NULL;
}

/* The windows are covered, so another harvest does not request them again; status names what does,
 * and that is enough. */
static void heal(const char *store)
{ /* one worker: which responses are bad does not depend on who is faster */
    struct sim sim =
        SIM_SOURCE_START("--records", "3000", "--fault", "kind=record_bad_date rate=1 times=4");
    struct run run;
    char *words[8];

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    apply(store, &sim, "$.updated_at");
    (void)RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-04",
              "--workers", "1", "--store", store);
    (void)RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-04",
              "--workers", "1", "--store", store);
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    split(run.out, "patra replay", words);
    CHECK(words[7] == NULL && words[6] != NULL, "patra replay SOURCE --from A --to B");
    run =
        RUN(words[0], words[1], words[2], words[3], words[4], words[5], words[6], "--store", store);
    CHECK_EQ(run.code, 0, "that command");
    CHECK(cli_has(RUN("patra", "quarantine", "list", "--store", store).out, "(none)"), "settled");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 0, "nobody is needed any more");
    sim_stop(&sim);
}

TEST(records_that_were_bad_for_a_while_are_requested_again_on_sqlite)
{
    heal(cli_sqlite("heal"));
}

TEST(records_that_were_bad_for_a_while_are_requested_again_on_postgres)
{
    heal(cli_postgres());
}
