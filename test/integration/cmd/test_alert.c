/* Two serving processes, a source that is stopped, and a receiver that is notified. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "hook_server.h"
#include "run.h"
#include "sql.h"
#include "test.h"

enum { WAITS_MAX = 600, WAIT_US = 100000 };

static const char *file_of(const char *text)
{
    static char path[512];
    FILE *out;

    (void)snprintf(path, sizeof(path), "%s/receiver.yaml", test_folder());
    out = fopen(path, "w");
    REQUIRE(out != NULL, path);
    fputs(text, out);
    (void)fclose(out);
    return path;
}

static void await(struct hook_server *server, size_t count, const char *what)
{
    for (int i = 0; i < WAITS_MAX && hook_server_count(server) < count; i++)
        (void)usleep(WAIT_US);
    REQUIRE(hook_server_count(server) >= count, what);
}

static void end(struct running *running)
{
    (void)kill(running->pid, SIGTERM);
    CHECK_EQ(run_end(running).code, 0, "it served");
}

static void tell_of_a_stop(const char *store)
{
    struct hook_server *server = hook_server_start(NULL, NULL);
    struct running one, two;
    struct run run;
    char text[256];

    (void)snprintf(
        text, sizeof(text),
        "receiver: oncall\nform: webhook\nurl: http://127.0.0.1:%d/x\nallow_plain: true\n",
        hook_server_port(server));
    CHECK_EQ(RUN("patra", "alert", "apply", file_of(text), "--store", store).code, 0, "applied");
    CHECK_EQ(RUN("patra", "alert", "test", "oncall", "--store", store).code, 0, "it arrives");
    CHECK_EQ(RUN("patra", "alert", "list", "--store", store).code, 0, "nothing is wrong");
    CHECK_EQ(RUN("patra", "pause", "daily", "--reason", "status 401", "--store", store).code, 0,
             "a pause");
    sql_run(store, "UPDATE ing_pause SET kind_code = 'STOPPED'"); /* as a fatal error makes it */
    one = RUN_BEGIN("patra", "serve", "--role", "planner", "--alerts", "1s", "--store", store);
    two = RUN_BEGIN("patra", "serve", "--role", "planner", "--alerts", "1s", "--store", store);
    await(server, 2, "the test and the stop");
    CHECK(cli_has(hook_server_request(server, 1).body, "\"rule\":\"source-stopped\""), "what");
    run = RUN("patra", "alert", "list", "--json", "--store", store);
    CHECK_EQ(run.code, 1, "something is wrong");
    CHECK_STR(cli_value(run.out, "alerts.0.subject"), STR("daily"), "what");
    CHECK_STR(cli_value(run.out, "alerts.0.runbook"), STR("docs/runbooks/source-stopped.md"),
              "what to do");
    CHECK_EQ(RUN("patra", "resume", "daily", "--store", store).code, 0, "a person mends it");
    await(server, 3, "it is over");
    CHECK(cli_has(hook_server_request(server, 2).body, "\"kind\":\"RESOLVED\""), "notified so");
    end(&one);
    end(&two);
    CHECK_EQ(hook_server_count(server), 3, "each once, by whichever process");
    CHECK_EQ(RUN("patra", "alert", "list", "--store", store).code, 0, "nothing is wrong");
    run = RUN("patra", "alert", "list", "--all", "--store", store);
    CHECK(cli_has(run.out, "resolved"), "it was");
    hook_server_end(server);
}

TEST(two_processes_tell_once_on_sqlite)
{
    tell_of_a_stop(cli_with_daily(cli_sqlite("alert")));
}

TEST(two_processes_tell_once_on_postgres)
{
    tell_of_a_stop(cli_with_daily(cli_postgres()));
}

TEST(limits_are_set_and_mistakes_refused)
{
    const char *store = cli_with_daily(cli_sqlite("limits"));
    struct run run;

    CHECK_EQ(RUN("patra", "alert", "set", "cursor-behind", "--limit", "2h", "--store", store).code,
             0, "set");
    run = RUN("patra", "alert", "rules", "--json", "--store", store);
    CHECK(cli_has(run.out, "\"rule\":\"cursor-behind\",\"severity\":\"WARNING\",\"off\":false,"
                           "\"limit\":\"2h\",\"for\":\"2m\",\"default\":false"),
          "it is");
    CHECK_EQ(RUN("patra", "alert", "set", "cursor-behind", "--limit", "20", "--store", store).code,
             2, "no unit");
    CHECK_EQ(RUN("patra", "alert", "set", "cursor-behnd", "--off", "--store", store).code, 4,
             "no such rule");
    CHECK_EQ(RUN("patra", "alert", "silence", "--for", "2h", "--store", store).code, 2, "of what?");
    CHECK_EQ(
        RUN("patra", "alert", "silence", "--rule", "queue-long", "--for", "2h", "--store", store)
            .code,
        0, "silenced");
    CHECK_EQ(RUN("patra", "alert", "silence", "--end", "1", "--store", store).code, 0, "and not");
    CHECK_EQ(RUN("patra", "alert", "silence", "--end", "1", "--store", store).code, 1, "once");
    CHECK_EQ(RUN("patra", "alert", "test", "nobody", "--store", store).code, 4, "no receiver");
    CHECK_EQ(RUN("patra", "alert", "show", "7", "--store", store).code, 4, "no alert");
}
