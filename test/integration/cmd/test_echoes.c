/* A secret that a proxy, a bus or a database is shown and repeats, in twelve ways of writing
 * (planted.h), is in no column of the store, no line of the log and no text that patra prints. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "kafka_refuser.h"
#include "nats_server.h"
#include "planted.h"
#include "raw_server.h"
#include "rude_server.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

static const char *const texts[] = { PLANTED_ONE, PLANTED_TWO, PLANTED_THREE };

static void look_everywhere(const char *store)
{
    static const char *const commands[][2] = { { "status", NULL },       { "bus", "list" },
                                               { "outbox", "status" },   { "task", "list" },
                                               { "quarantine", "list" }, { "plan", "list" },
                                               { "offset", "show" } };

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        const char *name = commands[i][0], *second = commands[i][1];

        if (second == NULL) {
            planted_check_run(RUN("patra", name, "--store", store), name);
            planted_check_run(RUN("patra", name, "--json", "--store", store), name);
        } else {
            planted_check_run(RUN("patra", name, second, "--store", store), name);
            planted_check_run(RUN("patra", name, second, "--json", "--store", store), name);
        }
    }
    for (int task = 1; task <= 3; task++) {
        char number[16];

        (void)snprintf(number, sizeof(number), "%d", task);
        planted_check_run(RUN("patra", "task", "show", number, "--store", store), "task");
        planted_check_run(RUN("patra", "trace", number, "--store", store), "trace");
    }
}

/* ---- a proxy ---- */

static struct str reply_of(struct arena *arena, const char *status, const char *text)
{
    return arena_printf(arena,
                        "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nX-Seen: %s\r\n"
                        "Content-Length: %zu\r\n\r\n%s",
                        status, text, strlen(text), text);
}

TEST(a_password_that_a_proxy_repeats_is_kept_nowhere)
{
    static const char *const statuses[] = { "400 Bad Request", "407 Proxy Authentication Required",
                                            "502 Bad Gateway" };
    const char *store = cli_sqlite("proxy");
    struct sim sim = SIM_SOURCE_START("--records", "500");
    struct raw_server *proxy = raw_server_start();
    struct arena arena;
    struct run run;
    bool is_said = false;

    arena_init(&arena, 1 << 20);
    REQUIRE(setenv("PATRA_TEST_PROXY",
                   arena_printf(&arena, "http://op:%s@127.0.0.1:%d", PLANTED_ENCODED,
                                raw_server_port(proxy))
                       .data,
                   1) == 0,
            "environment");
    sim_source_apply(store, &sim, "http.proxy=env:PATRA_TEST_PROXY");
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        for (size_t k = 0; k < 8 * ARRAY_LEN(texts); k++)
            raw_server_reply(proxy, reply_of(&arena, statuses[i], texts[k % 3]), RAW_KEEP);
        run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "1",
                  "--store", store);
        planted_check_run(run, statuses[i]);
        is_said = is_said || cli_has(run.out, "key ***") || cli_has(run.talk, "key ***");
        (void)RUN("patra", "resume", SIM_SOURCE_NAME, "--store", store);
    }
    CHECK(is_said, "the rest of what it says is shown");
    look_everywhere(store);
    planted_check_store(store);
    planted_check_run(RUN("patra", "source", "test", SIM_SOURCE_NAME, "--live", "--store", store),
                      "a test of the source");
    raw_server_stop(proxy);
    sim_stop(&sim);
    arena_release(&arena);
}

/* ---- a bus ---- */

static const char *bus_file(const char *text)
{
    static char path[300];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/bus.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, path);
    return path;
}

/* With events for it. */
static const char *store_with_bus(const char *name, const char *bus)
{
    const char *store = cli_sqlite(name);
    struct sim sim = SIM_SOURCE_START("--records", "300");
    struct run run;

    REQUIRE(setenv("PATRA_TEST_BUS_KEY", PLANTED, 1) == 0, "environment");
    sim_source_apply(store, &sim, "http.redirects=0");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
              "--store", store);
    REQUIRE(run.code == 0, run.talk.data);
    run = RUN("patra", "bus", "apply", bus_file(bus), "--store", store);
    REQUIRE(run.code == 0, run.talk.data);
    planted_check_run(run, "bus apply");
    sim_stop(&sim);
    return store;
}

enum { WAITS_MAX = 1000, WAITS_MORE = 100 }; /* of ten milliseconds, as run_said() takes */

static void relay_and_look(const char *store)
{
    struct running relay = RUN_BEGIN("patra", "publish", "--log-format", "json", "--log-level",
                                     "debug", "--store", store);

    for (int i = 0; i < WAITS_MAX && !cli_has(run_said(&relay), "\"warn\""); i++)
        continue; /* it goes on trying: a few failures are enough */
    for (int i = 0; i < WAITS_MORE; i++)
        (void)run_said(&relay);
    (void)kill(relay.pid, SIGTERM);
    planted_check_run(run_end(&relay), "publish");
    planted_check_run(RUN("patra", "bus", "test", "echo", "--store", store), "bus test");
    planted_check_run(RUN("patra", "bus", "test", "echo", "--json", "--store", store),
                      "bus test, JSON");
    look_everywhere(store);
    planted_check_store(store);
}

TEST(a_token_that_a_webhook_repeats_is_kept_nowhere)
{
    static const char *const statuses[] = { "400 Bad Request", "401 Unauthorized",
                                            "500 Internal Server Error" };
    struct raw_server *hook = raw_server_start();
    struct arena arena;
    const char *store;

    arena_init(&arena, 4 << 20);
    for (size_t i = 0; i < 240; i++)
        raw_server_reply(hook, reply_of(&arena, statuses[i / 3 % 3], texts[i % 3]), RAW_CLOSE);
    store = store_with_bus("webhook", arena_printf(&arena,
                                                   "bus: echo\ntype: webhook\nallow_plain: true\n"
                                                   "url: http://127.0.0.1:%d/\n"
                                                   "auth: { token: env:PATRA_TEST_BUS_KEY }\n",
                                                   raw_server_port(hook))
                                          .data);
    relay_and_look(store);
    CHECK(raw_server_requests(hook) > 2, "it was shown the token");
    raw_server_stop(hook);
    arena_release(&arena);
}

/* NATS sends its refusals as a line, and says who it is before anything else. */
TEST(a_token_that_nats_repeats_is_kept_nowhere)
{
    static const char LINES[] =
        "INFO {\"server_id\":\"x\",\"server_name\":\"" PLANTED
        "\",\"version\":\"2.9.10\",\"max_payload\":1048576,\"auth_required\":true}\r\n"
        "-ERR '" PLANTED_ONE "'\r\n-ERR '" PLANTED_TWO "'\r\n-ERR '" PLANTED_THREE "'\r\n";
    struct rude_server *server = rude_server_start(RUDE_SAYS, str_of(LINES));
    struct arena arena;

    arena_init(&arena, 1 << 20);
    relay_and_look(store_with_bus(
        "nats", arena_printf(&arena,
                             "bus: echo\ntype: nats\naddress: nats://127.0.0.1:%d\nstream: S\n"
                             "subject: s.${lane}\nallow_plain: true\n"
                             "timeout: { connect: 1s, publish: 1s }\n"
                             "auth: { token: env:PATRA_TEST_BUS_KEY }\n",
                             rude_server_port(server))
                    .data));
    rude_server_stop(server);
    arena_release(&arena);
}

/* A real one, which refuses the password. */
TEST(a_password_that_a_real_nats_refuses_is_kept_nowhere)
{
    struct nats_servers servers = { 0 };
    struct arena arena;

    if (!nats_servers_installed())
        test_skip("nats-server is not installed");
    arena_init(&arena, 1 << 20);
    nats_servers_start(&servers, 1, NULL);
    relay_and_look(store_with_bus(
        "nats-real",
        arena_printf(
            &arena,
            "bus: echo\ntype: nats\naddress: nats://127.0.0.1:%d\nstream: S\n"
            "subject: s.${lane}\nallow_plain: true\ntimeout: { connect: 2s, publish: 5s }\n"
            "auth: { user: " NATS_USER ", password: env:PATRA_TEST_BUS_KEY }\n",
            servers.nodes[0].port)
            .data));
    nats_servers_stop(&servers);
    arena_release(&arena);
}

/* Kafka says why it refuses a password. */
TEST(a_password_that_kafka_repeats_is_kept_nowhere)
{
#ifdef HAS_KAFKA
    struct kafka_refuser *broker = kafka_refuser_start(texts, ARRAY_LEN(texts));
    struct arena arena;
    const char *store;
    struct run run;

    arena_init(&arena, 1 << 20);
    store = store_with_bus("kafka",
                           arena_printf(&arena,
                                        "bus: echo\ntype: kafka\naddress: 127.0.0.1:%d\ntopic: t\n"
                                        "allow_plain: true\ntimeout: { connect: 2s, publish: 2s }\n"
                                        "auth: { user: op, password: env:PATRA_TEST_BUS_KEY }\n",
                                        kafka_refuser_port(broker))
                               .data);
    relay_and_look(store);
    run = RUN("patra", "bus", "test", "echo", "--store", store);
    CHECK(cli_has(run.out, "key ***") || cli_has(run.talk, "key ***"), "the rest is shown");
    CHECK(kafka_refuser_refusals(broker) > 2, "it has refused");
    kafka_refuser_stop(broker);
    arena_release(&arena);
#else
    test_skip("patra is built without Kafka");
#endif
}

/* ---- databases ---- */

/* "E", its length, severity, SQLSTATE and message: how PostgreSQL refuses. */
static struct str refusal_of(struct arena *arena, const char *text)
{
    const size_t len = strlen(text);
    char *bytes = arena_alloc(arena, len + 64);
    size_t at = 5;

    at += (size_t)sprintf(bytes + at, "SFATAL") + 1;
    at += (size_t)sprintf(bytes + at, "C28P01") + 1;
    at += (size_t)sprintf(bytes + at, "M%s", text) + 1;
    bytes[at++] = '\0';
    bytes[0] = 'E';
    for (int i = 0; i < 4; i++)
        bytes[1 + i] = (char)((at - 1) >> (24 - 8 * i));
    return (struct str){ bytes, at };
}

TEST(a_password_that_a_database_refuses_and_repeats_is_not_shown)
{
    struct arena arena;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct rude_server *server = rude_server_start(RUDE_SAYS, refusal_of(&arena, texts[i]));
        const char *dsn =
            arena_printf(&arena,
                         "postgresql://op:%s@127.0.0.1:%d/db?sslmode=disable&gssencmode=disable",
                         PLANTED_ENCODED, rude_server_port(server))
                .data;
        struct run run = RUN("patra", "status", "--store", dsn);

        CHECK(run.code != 0 && cli_has(run.talk, "key ***"), run.talk.data);
        planted_check_run(run, "status");
        planted_check_run(RUN("patra", "status", "--json", "--store", dsn), "status, JSON");
        planted_check_run(RUN("patra", "serve", "--log-format", "json", "--store", dsn), "serve");
        planted_check_run(RUN("patra", "init", "--store", dsn), "init");
        rude_server_stop(server);
    }
    arena_release(&arena);
}

/* A rule of the database's own, which says what it likes. */
static void plant_trigger(const char *dsn, const char *text)
{
    struct arena arena;

    arena_init(&arena, 1 << 20);
    sql_run(dsn, arena_printf(&arena,
                              "CREATE OR REPLACE FUNCTION echo() RETURNS trigger LANGUAGE plpgsql"
                              " AS $f$ BEGIN RAISE EXCEPTION USING MESSAGE = $t$%s$t$,"
                              " DETAIL = $t$%s$t$, HINT = $t$%s$t$; END $f$",
                              text, text, text)
                     .data);
    sql_run(dsn, "DROP TRIGGER IF EXISTS echo ON ing_task_run_batch");
    sql_run(dsn, "CREATE TRIGGER echo BEFORE INSERT ON ing_task_run_batch FOR EACH ROW"
                 " EXECUTE FUNCTION echo()");
    arena_release(&arena);
}

TEST(a_password_that_a_database_repeats_in_an_error_is_kept_nowhere)
{
    const char *dsn = cli_postgres();
    struct sim sim = SIM_SOURCE_START("--records", "300");
    struct arena arena;
    const char *shown;

    arena_init(&arena, 1 << 20);
    shown = arena_printf(&arena, "%s&password=%s", dsn, PLANTED_ENCODED).data;
    sim_source_apply(shown, &sim, "http.redirects=0");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct run run;

        plant_trigger(dsn, texts[i]);
        run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "1",
                  "--store", shown);
        CHECK(run.code != 0, "it fails");
        CHECK(cli_has(run.out, "key ***") || cli_has(run.talk, "key ***"), run.talk.data);
        planted_check_run(run, "harvest");
        look_everywhere(shown);
    }
    planted_check_database(dsn);
    sim_stop(&sim);
    arena_release(&arena);
}
