/* patra outbox import: what psql writes into a foreign table arrives at NATS and at a webhook,
 * without code. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "hook_server.h"
#include "nats_server.h"
#include "postgres.h"
#include "run.h"
#include "sql.h"
#include "test.h"

enum { WAIT_MS_MAX = 60000 };

static const char TABLE[] =
    "CREATE TABLE app_outbox (id uuid PRIMARY KEY, aggregate_type text NOT NULL,"
    " aggregate_id text NOT NULL, event_type text NOT NULL, version bigint NOT NULL,"
    " schema_version int NOT NULL DEFAULT 1, payload bytea NOT NULL,"
    " occurred_at timestamptz NOT NULL DEFAULT now(), published_at timestamptz,"
    " publish_attempts int NOT NULL DEFAULT 0, next_retry_at timestamptz, lock_token text,"
    " locked_at timestamptz)";

static const char ROWS[] =
    "INSERT INTO app_outbox (id, aggregate_type, aggregate_id, event_type, version, payload)"
    " SELECT gen_random_uuid(), 'video', 'v_' || n % 5, 'VideoPublished', n / 5 + 1,"
    " convert_to(json_build_object('video', 'v_' || n % 5, 'n', n)::text, 'UTF8')"
    " FROM generate_series(0, 49) AS n";

/* The path is valid for some more calls. */
static const char *written(const char *name, const char *text)
{
    static char paths[4][512];
    static size_t next;
    char *path = paths[next++ % ARRAY_LEN(paths)];
    FILE *file;

    (void)snprintf(path, sizeof(paths[0]), "%s/%s", test_folder(), name);
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    (void)fputs(text, file);
    (void)fclose(file);
    return path;
}

static void psql(const char *dsn, const char *sql)
{
    const struct run run =
        RUN("/usr/bin/psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-c", sql);

    CHECK_EQ(run.code, 0, run.talk.data);
}

static void ok(struct run run)
{
    CHECK_EQ(run.code, 0, run.talk.data);
}

static const char *service(void)
{
    struct error err = { 0 };
    const char *dsn = postgres_new_database(&err);

    if (dsn == NULL || access("/usr/bin/psql", X_OK) != 0)
        TEST_SKIP("no PostgreSQL, or no psql");
    psql(dsn, TABLE);
    (void)setenv("APP_DSN", dsn, 1);
    return dsn;
}

/* ---- what arrived: every version of every video, in order ---- */

struct seen {
    int64_t version[5];
    int count;
};

static void see(struct seen *seen, struct str key, struct str version, struct str body)
{
    char wanted[64];
    int64_t number, v;

    REQUIRE(key.len == 3 && str_to_i64(str_slice(key, 2, 3), &number) && number >= 0 && number < 5,
            key.data != NULL ? key.data : "no key");
    REQUIRE(str_to_i64(version, &v), "a version");
    CHECK_EQ(v, seen->version[number] + 1, "in order, none left out, none twice");
    seen->version[number] = v;
    (void)snprintf(wanted, sizeof(wanted), "{\"video\" : \"v_%d\", \"n\" : %d}", (int)number,
                   (int)(5 * (v - 1) + number));
    CHECK_STR(body, str_of(wanted), "the payload as it was written");
    seen->count++;
}

static void check_hook(struct hook_server *hook)
{
    struct seen seen = { 0 };

    for (size_t i = 0; i < hook_server_count(hook); i++) {
        const struct hook_request request = hook_server_request(hook, i);

        see(&seen, hook_header(&request, "aggregate_id"), hook_header(&request, "version"),
            request.body);
    }
    CHECK_EQ(seen.count, 50, "all at the webhook");
}

static void check_nats(const struct nats_servers *servers)
{
    struct seen seen = { 0 };
    char port[16];
    struct run run;
    struct str rest;

    (void)snprintf(port, sizeof(port), "%d", servers->nodes[0].port);
    run = RUN("/usr/bin/python3", "test/integration/cmd/nats_read.py", port, NATS_USER,
              NATS_PASSWORD, "APP");
    ok(run);
    for (rest = run.out; rest.len > 0;) {
        struct str line = str_cut(&rest, '\n');
        const struct str key = str_cut(&line, '\t');
        const struct str version = str_cut(&line, '\t');

        see(&seen, key, version, line);
    }
    CHECK_EQ(seen.count, 50, "all at NATS");
}

TEST(what_psql_writes_arrives_at_nats_and_at_a_webhook)
{
    const char *store = cli_postgres();
    const char *foreign = service();
    struct nats_servers servers = { 0 };
    struct hook_server *hook;
    char text[1024];

    if (!nats_servers_installed())
        TEST_SKIP("no nats-server");
    nats_servers_start(&servers, 1, NULL);
    hook = hook_server_start(NULL, NULL);
    (void)setenv("NATS_PASSWORD", NATS_PASSWORD, 1);
    ok(RUN("patra", "init", "--store", store));
    ok(RUN("patra", "outbox", "import", "apply", "--store", store,
           written("app.yaml", "outbox: app\ndatabase: env:APP_DSN\n")));
    (void)snprintf(text, sizeof(text),
                   "bus: app-nats\ntype: nats\naddress: nats://127.0.0.1:%d\nstream: APP\n"
                   "subject: app.${lane}\nallow_plain: true\n"
                   "auth: { user: " NATS_USER ", password: env:NATS_PASSWORD }\n"
                   "create: { replicas: 1 }\n",
                   servers.nodes[0].port);
    ok(RUN("patra", "bus", "apply", "--create", "--store", store, written("nats.yaml", text)));
    (void)snprintf(text, sizeof(text),
                   "bus: app-hook\ntype: webhook\nurl: http://127.0.0.1:%d/in\nallow_plain: true\n",
                   hook_server_port(hook));
    ok(RUN("patra", "bus", "apply", "--store", store, written("hook.yaml", text)));
    psql(foreign, ROWS);
    ok(RUN("patra", "publish", "--once", "--store", store));
    CHECK_EQ(sql_number(foreign, "SELECT count(*) FROM app_outbox WHERE published_at IS NULL"), 0,
             "the service sees that they are published");
    check_nats(&servers);
    check_hook(hook);
    hook_server_end(hook);
    nats_servers_stop(&servers);
}

/* A process that runs hears of an import that is applied, and of rows that are written, by itself.
 */
static void import_while_serving(const char *store)
{
    const char *foreign = service();
    struct running running;
    struct run run;

    ok(RUN("patra", "init", "--store", store));
    running = RUN_BEGIN("patra", "serve", "--role", "publisher", "--store", store);
    ok(RUN("patra", "outbox", "import", "apply", "--store", store,
           written("app.yaml", "outbox: app\ndatabase: env:APP_DSN\n")));
    psql(foreign, ROWS);
    for (int ms = 0;
         ms < WAIT_MS_MAX && sql_number(store, "SELECT sum(last_pos) FROM ing_stream_lane") < 50;
         ms += 20)
        (void)usleep(20000);
    CHECK_EQ(sql_number(store, "SELECT sum(last_pos) FROM ing_stream_lane"), 50, "in the stream");
    run = RUN("patra", "outbox", "import", "list", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "0.name"), STR("app"), run.out.data);
    CHECK_EQ(cli_number(run.out, "0.importers"), 1, "one is alive");
    psql(foreign, "INSERT INTO app_outbox (id, aggregate_type, aggregate_id, event_type, version,"
                  " payload) VALUES (gen_random_uuid(), 'video', 'bad', 'T', 0, '{}')");
    for (int ms = 0; ms < WAIT_MS_MAX && cli_number(run.out, "0.refused") < 1; ms += 100) {
        (void)usleep(100000);
        run = RUN("patra", "outbox", "import", "list", "--json", "--store", store);
    }
    CHECK_STR(cli_value(run.out, "0.refusedRows.0.error"), STR("the version is not 1 or higher"),
              run.out.data);
    CHECK(kill(running.pid, SIGTERM) == 0, "stop it");
    run = run_end(&running);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(!cli_has(run.talk, foreign), "the address is in no log line");
    ok(RUN("patra", "outbox", "import", "remove", "app", "--store", store));
    run = RUN("patra", "outbox", "import", "remove", "app", "--store", store);
    CHECK_EQ(run.code, 4, "there is none any more");
}

TEST(a_running_publisher_imports_what_is_applied)
{
    import_while_serving(cli_sqlite("store.db"));
    import_while_serving(cli_postgres());
}

TEST(a_database_that_is_down_is_reported_and_others_go_on)
{
    const char *store = cli_sqlite("down.db");
    const char *foreign = service();
    struct run run;

    (void)setenv("DOWN_DSN", "postgresql://nobody@127.0.0.1:1/none", 1);
    ok(RUN("patra", "init", "--store", store));
    run = RUN("patra", "outbox", "import", "apply", "--store", store,
              written("down.yaml", "outbox: a-down\ndatabase: env:DOWN_DSN\n"),
              written("app.yaml", "outbox: app\ndatabase: env:APP_DSN\n"));
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.talk, "a-down: warning: cannot be imported at present"), run.talk.data);
    psql(foreign, ROWS);
    run = RUN("patra", "publish", "--once", "--store", store);
    CHECK_EQ(run.code, 3, "may succeed later");
    CHECK_EQ(sql_number(store, "SELECT sum(last_pos) FROM ing_stream_lane"), 50,
             "the other one is published");
}

TEST(faults_of_a_file_are_found_and_nothing_is_applied)
{
    const char *store = cli_sqlite("faults.db");
    const char *path =
        written("bad.yaml", "outbox: app\ndatabase: postgresql://u:pw@h/d\npag: 1\n");
    struct run run;

    run = RUN("patra", "outbox", "import", "lint", path);
    CHECK_EQ(run.code, 1, "faults");
    CHECK(cli_has(run.talk, "bad.yaml:2:11: error: database contains a user or password"),
          run.talk.data);
    CHECK(cli_has(run.talk, "did you mean page?"), run.talk.data);
    CHECK(!cli_has(run.talk, "u:pw"), "without the password");
    ok(RUN("patra", "init", "--store", store));
    run = RUN("patra", "outbox", "import", "apply", path, "--store", store);
    CHECK_EQ(run.code, 1, "faults");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_subscription"), 0, "nothing");
}
