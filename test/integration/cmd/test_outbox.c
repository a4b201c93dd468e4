/* patra outbox: subscriptions, parked keys, and what people do with them; and publish --once to a
 * webhook that is not there. */
#include <stdio.h>

#include "cli.h"
#include "run.h"
#include "sql.h"
#include "test.h"

static const char BUS[] = "bus: hook\n"
                          "type: webhook\n"
                          "url: http://127.0.0.1:9/in\n" /* nobody listens there */
                          "allow_plain: true\n";

static bool sql_is_sqlite(const char *store)
{
    return !str_starts(str_of(store), STR("postgresql:"));
}

static void add_bus(const char *store)
{
    char path[4096];
    struct run run;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/hook.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(BUS, file) >= 0 && fclose(file) == 0, "a file");
    run = RUN("patra", "bus", "apply", path, "--store", store);
    REQUIRE(run.code == 0, run.talk.data);
}

/* Four events of a foreign aggregate. */
static void add_events(const char *store, const char *body)
{
    char text[1024];

    for (int i = 1; i <= 4; i++) {
        (void)snprintf(text, sizeof(text),
                       "INSERT INTO ing_outbox (version, occurred_at, event_id, lane,"
                       " schema_version, event_type, aggregate_type, aggregate_id, body) VALUES"
                       " (%d, %s, '01890000-0000-7000-8000-00000000000%d', 5, 1, 'Placed', 'order',"
                       " 'o-1', %s)",
                       i, sql_is_sqlite(store) ? "1767225600000000" : "now()", i, body);
        sql_run(store, text);
    }
}

static void park(const char *store)
{
    char text[1024];

    (void)snprintf(
        text, sizeof(text),
        "INSERT INTO ing_parked (consumer_group, subscription, aggregate_type,"
        " aggregate_id, lane, head_version, seen_version, attempts_begun, attempts_ended,"
        " policy_code, next_retry_at, last_error, parked_at) VALUES ('patra', 'hook',"
        " 'order', 'o-1', 5, 2, 4, 3, 3, 'WAIT', %s, 'status 422', %s)",
        sql_is_sqlite(store) ? "4102444800000000" : "'2100-01-01'",
        sql_is_sqlite(store) ? "1767225600000000" : "now()");
    sql_run(store, text);
}

/* Versions 2 to 4 of o-1 were given up. */
static void dead_letters(const char *store)
{
    struct run run = RUN("patra", "outbox", "dead", "hook", "--store", store);

    CHECK(cli_has(run.out, "o-1  order  2"), run.out.data);
    CHECK(cli_has(run.out, ": old"), run.out.data);
    CHECK(cli_has(RUN("patra", "outbox", "status", "--json", "--store", store).out,
                  "\"deadLetters\":3"),
          "the status tells");
    CHECK_EQ(RUN("patra", "outbox", "redrive", "hook", "--store", store).code, 2, "which key?");
    CHECK_EQ(RUN("patra", "outbox", "redrive", "hook", "o-2", "--store", store).code, 4, "unknown");
    run = RUN("patra", "outbox", "redrive", "hook", "o-1", "--store", store);
    CHECK_STR(run.out, STR("3 events will be delivered now\n"), "redrive");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_parked WHERE aggregate_id = 'o-1'"
                               " AND head_version = 2 AND seen_version = 4"),
             1, "the key reaches back to them");
    CHECK_STR(RUN("patra", "outbox", "dead", "hook", "--store", store).out, STR("(none)\n"),
              "nothing is left");
    run = RUN("patra", "outbox", "dead", "hook", "--all", "--json", "--store", store);
    CHECK(cli_has(run.out, "\"redrivenBy\""), run.out.data);
    CHECK_EQ(RUN("patra", "outbox", "skip", "hook", "o-1", "--store", store).code, 0, "again");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_dead_letter WHERE redriven_at IS NULL"), 3,
             "dead again");
}

/* Of four events, none of which was delivered. */
static void offsets(const char *store)
{
    struct run run;

    CHECK_EQ(RUN("patra", "offset", "reset", "hook", "--store", store).code, 2, "where to?");
    CHECK_EQ(RUN("patra", "offset", "reset", "hook", "--to", "latest", "--store", store).code, 2,
             "why?");
    run = RUN("patra", "offset", "reset", "hook", "--to", "latest", "--reason", "new", "--store",
              store);
    CHECK_EQ(run.code, 2, "without a terminal it needs --yes");
    CHECK(cli_has(run.talk, "4 events will not be delivered"), run.talk.data);
    run = RUN("patra", "offset", "reset", "hook", "--to", "latest", "--reason", "new", "--yes",
              "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "0 events again, 4 left out"), run.out.data);
    CHECK_EQ(sql_number(store, "SELECT sum(stream_pos) FROM ing_offset"), 4, "at the end");
    CHECK(cli_has(RUN("patra", "offset", "show", "hook", "--json", "--store", store).out,
                  "\"offset\":4,\"end\":4"),
          "shown");
    run = RUN("patra", "offset", "reset", "hook", "--to", "01890000-0000-7000-8000-000000000003",
              "--reason", "one", "--yes", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(sql_number(store, "SELECT sum(stream_pos) FROM ing_offset"), 2, "version 3 is next");
    CHECK_EQ(RUN("patra", "offset", "reset", "hook", "--to", "2", "--reason", "x", "--yes",
                 "--store", store)
                 .code,
             2, "of which lane?");
    run = RUN("patra", "offset", "reset", "hook", "--to", "1h", "--reason", "again", "--yes",
              "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(sql_number(store, "SELECT sum(stream_pos) FROM ing_offset"), 0, "an hour ago");
    CHECK(cli_has(RUN("patra", "offset", "reset", "hook", "--to", "earliest", "--reason", "x",
                      "--yes", "--store", store)
                      .out,
                  "is there already"),
          "nothing to do");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_offset_reset WHERE reason = 'again'"
                               " AND old_pos = 2 AND new_pos = 0 AND reset_by <> ''"),
             1, "written down");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_offset_reset"), 3, "a row per move");
}

static void outbox(const char *store, const char *body)
{
    struct run run;

    CHECK_EQ(RUN("patra", "init", "--store", store).code, 0, "init");
    add_bus(store);
    add_events(store, body);
    run = RUN("patra", "publish", "--once", "--store", store);
    CHECK_EQ(run.code, 3, "the bus is not there: may be tried again");
    CHECK(cli_has(run.out, "4 events published"), run.out.data);
    CHECK(cli_has(run.talk, "hook"), run.talk.data);
    run = RUN("patra", "publish", "--once", "--only", "other", "--store", store);
    CHECK_EQ(run.code, 4, "no such bus");
    run = RUN("patra", "outbox", "status", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "hook          RELAY  ACTIVE  4"), run.out.data);
    CHECK(cli_has(run.out, "nobody reads it"), run.out.data);
    run = RUN("patra", "outbox", "status", "--json", "--store", store);
    CHECK(cli_has(run.out, "\"state\":\"ACTIVE\""), run.out.data);
    CHECK(cli_has(run.out, "\"parkedKeys\":0"), run.out.data);
    CHECK_STR(RUN("patra", "outbox", "parked", "--store", store).out, STR("(none)\n"), "none");
    park(store);
    run = RUN("patra", "outbox", "parked", "hook", "--store", store);
    CHECK(cli_has(run.out, "o-1  order  2-4"), run.out.data);
    CHECK(cli_has(run.out, "status 422"), run.out.data);
    run = RUN("patra", "outbox", "parked", "hook", "--json", "--store", store);
    CHECK(cli_has(run.out, "\"headVersion\":2"), run.out.data);
    CHECK(cli_has(run.out, "\"seenVersion\":4"), run.out.data);
    CHECK_EQ(RUN("patra", "outbox", "parked", "other", "--store", store).code, 4, "unknown");
    CHECK_EQ(RUN("patra", "outbox", "retry", "hook", "--store", store).code, 2, "which key?");
    CHECK_EQ(RUN("patra", "outbox", "retry", "hook", "o-2", "--store", store).code, 4,
             "not parked");
    run = RUN("patra", "outbox", "retry", "hook", "o-1", "--store", store);
    CHECK_STR(run.out, STR("1 key will be tried now\n"), "retry");
    run = RUN("patra", "outbox", "skip", "hook", "o-1", "--reason", "old", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "3 events given up"), run.out.data);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_dead_letter WHERE aggregate_id = 'o-1'"
                               " AND reason LIKE 'skipped by %: old' AND attempts = 3"),
             3, "kept");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_parked"), 0, "not parked any more");
    CHECK_EQ(RUN("patra", "outbox", "skip", "hook", "o-1", "--store", store).code, 4, "once");
    dead_letters(store);
    run = RUN("patra", "outbox", "pause", "hook", "--reason", "lunch", "--store", store);
    CHECK_STR(run.out, STR("hook: paused\n"), "pause");
    run = RUN("patra", "outbox", "status", "--store", store);
    CHECK(cli_has(run.out, "PAUSED"), run.out.data);
    CHECK(cli_has(run.out, ": lunch"), run.out.data);
    CHECK_EQ(RUN("patra", "publish", "--once", "--store", store).code, 0, "nothing to do for it");
    CHECK_STR(RUN("patra", "outbox", "resume", "hook", "--store", store).out,
              STR("hook: resumed\n"), "resume");
    CHECK_STR(RUN("patra", "outbox", "resume", "hook", "--store", store).out,
              STR("hook: was not paused\n"), "it was not");
    offsets(store);
}

TEST(subscriptions_are_shown_and_attended_to_on_sqlite)
{
    outbox(cli_sqlite("outbox"), "CAST('{\"n\":1}' AS BLOB)");
}

TEST(subscriptions_are_shown_and_attended_to_on_postgres)
{
    outbox(cli_postgres(), "'{\"n\":1}'");
}
