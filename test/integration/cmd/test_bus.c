/* patra bus, and events on their way from a harvest to a real NATS server and to a webhook: each
 * once per id, those of a record in order. The server's content is read by libnats itself. */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "cli.h"
#include "hook_server.h"
#include "nats_server.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define EVENTS "SELECT count(*) FROM ing_outbox"
enum { MESSAGES_MAX = 4000, TEXT_MAX = 2048 };

/* What arrived, in the order of arrival. */
struct arrived {
    char id[64];
    char key[256];
    int64_t version;
};
static struct arrived arrived[MESSAGES_MAX];
static size_t arrived_count;

static const char *file_of(const char *name, const char *text)
{
    static char paths[8][300];
    static int used;
    char *path = paths[used++ % 8];
    FILE *file;

    (void)snprintf(path, 300, "%s/%s.yaml", test_folder(), name);
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    (void)fputs(text, file);
    (void)fclose(file);
    return path;
}

static const char *nats_file(const char *name, int port, const char *more)
{
    char text[TEXT_MAX];

    (void)snprintf(text, sizeof(text),
                   "bus: %s\ntype: nats\naddress: nats://127.0.0.1:%d\nstream: S-%s\n"
                   "subject: %s.${lane}\nallow_plain: true\n"
                   "auth: { user: " NATS_USER ", password: env:TEST_NATS_PASSWORD }\n"
                   "timeout: { connect: 2s, publish: 5s }\n%s",
                   name, port, name, name, more);
    return file_of(name, text);
}

/* ---- what is there ---- */

static void take(const char *id, const char *key, const char *version)
{
    struct arrived *message = &arrived[arrived_count++];

    REQUIRE(arrived_count <= MESSAGES_MAX, "messages");
    (void)snprintf(message->id, sizeof(message->id), "%s", id);
    (void)snprintf(message->key, sizeof(message->key), "%s", key);
    message->version = strtoll(version, NULL, 10);
}

static const char *header(natsMsg *msg, const char *name)
{
    const char *value = "";

    (void)natsMsgHeader_Get(msg, name, &value);
    return value;
}

/* All messages of the stream, by sequence, probes left out. */
static void read_nats(int port, const char *stream)
{
    natsOptions *options = NULL;
    natsConnection *nc = NULL;
    jsStreamInfo *info = NULL;
    jsCtx *js = NULL;
    char url[64];

    arrived_count = 0;
    (void)snprintf(url, sizeof(url), "nats://127.0.0.1:%d", port);
    REQUIRE(natsOptions_Create(&options) == NATS_OK &&
                natsOptions_SetURL(options, url) == NATS_OK &&
                natsOptions_SetUserInfo(options, NATS_USER, NATS_PASSWORD) == NATS_OK &&
                natsConnection_Connect(&nc, options) == NATS_OK &&
                natsConnection_JetStream(&js, nc, NULL) == NATS_OK &&
                js_GetStreamInfo(&info, js, stream, NULL, NULL) == NATS_OK,
            "NATS");
    for (uint64_t seq = 1; seq <= info->State.LastSeq; seq++) {
        natsMsg *msg = NULL;

        REQUIRE(js_GetMsg(&msg, js, stream, seq, NULL, NULL) == NATS_OK, "a message");
        if (strcmp(header(msg, "event_type"), "PatraProbe") != 0)
            take(header(msg, "Nats-Msg-Id"), header(msg, "Patra-Key"),
                 header(msg, "Patra-Version"));
        natsMsg_Destroy(msg);
    }
    jsStreamInfo_Destroy(info);
    jsCtx_Destroy(js);
    natsConnection_Destroy(nc);
    natsOptions_Destroy(options);
}

static void read_hook(struct hook_server *server)
{
    arrived_count = 0;
    for (size_t i = 0; i < hook_server_count(server); i++) {
        const struct hook_request request = hook_server_request(server, i);
        char texts[3][256];
        const char *const names[] = { "webhook-id", "patra-key", "patra-version" };

        for (int k = 0; k < 3; k++)
            (void)snprintf(texts[k], sizeof(texts[k]), "%.*s",
                           STR_ARG(hook_header(&request, names[k])));
        take(texts[0], texts[1], texts[2]);
    }
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct arrived *)a)->id, ((const struct arrived *)b)->id);
}

/* Every event of the store once, and those of a record in the order of their versions. */
static void check_arrived(const char *store, const char *label)
{
    const int64_t events = sql_number(store, EVENTS);
    size_t different = arrived_count > 0;

    CHECK_EQ(arrived_count, events, label);
    for (size_t i = 0; i < arrived_count; i++) {
        for (size_t j = 0; arrived[i].version > 1 && j <= i; j++) {
            if (j == i)
                test_fail(__FILE__, __LINE__, "%s: version %lld of %s comes first", label,
                          (long long)arrived[i].version, arrived[i].key);
            if (strcmp(arrived[j].key, arrived[i].key) == 0 &&
                arrived[j].version == arrived[i].version - 1)
                break;
        }
    }
    qsort(arrived, arrived_count, sizeof(arrived[0]), by_id);
    for (size_t i = 1; i < arrived_count; i++)
        different += strcmp(arrived[i].id, arrived[i - 1].id) != 0;
    CHECK_EQ(different, events, "each id once");
    for (size_t i = 0; i < arrived_count && i < 50; i++) {
        char sql[200];

        (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM ing_outbox WHERE event_id = '%.60s'",
                       arrived[i].id);
        CHECK_EQ(sql_number(store, sql), 1, "an event of the store");
    }
}

/* ---- the way ---- */

static struct nats_servers servers;

static void need_nats(void)
{
    if (!nats_servers_installed())
        TEST_SKIP("nats-server is not installed");
    (void)setenv("TEST_NATS_PASSWORD", NATS_PASSWORD, 1);
    (void)setenv("TEST_HOOK_KEY", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1);
    if (servers.count == 0)
        nats_servers_start(&servers, 1, NULL);
}

static void done(struct run run, int code)
{
    if (run.code != code)
        test_fail(__FILE__, __LINE__, "exit code %d: %.*s%.*s", run.code, STR_ARG(run.out),
                  STR_ARG(run.talk));
    CHECK(!cli_has(run.talk, NATS_PASSWORD) && !cli_has(run.out, NATS_PASSWORD), "no credential");
}

static void relay_all(const char *store, const char *name)
{
    struct sim sim = SIM_SOURCE_START("--records", "6000");
    struct hook_server *server = hook_server_start(NULL, NULL);
    const int port = servers.nodes[0].port;
    char text[TEXT_MAX], stream[64], waiting[32];
    const char *hook;
    int64_t before;

    (void)snprintf(text, sizeof(text),
                   "bus: hook-%s\ntype: webhook\nurl: http://127.0.0.1:%d/x\nallow_plain: true\n"
                   "auth: { signing: env:TEST_HOOK_KEY }\ncloudevents: binary\n",
                   name, hook_server_port(server));
    hook = file_of("hook", text);
    (void)snprintf(stream, sizeof(stream), "S-%s", name);
    sim_source_apply(store, &sim, "rate.burst=100");
    done(
        RUN("patra", "bus", "apply", "--create", nats_file(name, port, ""), hook, "--store", store),
        0);
    done(RUN("patra", "bus", "test", name, "--store", store), 0);
    done(RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-05",
             "--store", store),
         0);
    before = sql_number(store, EVENTS);
    CHECK(before > 100, "there is something");
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    read_nats(port, stream);
    check_arrived(store, "the harvest at NATS");
    read_hook(server);
    check_arrived(store, "the harvest at the webhook");

    nats_node_kill(&servers, 0); /* the bus is down while the records are deleted */
    done(
        RUN("patra", "source", "remove", SIM_SOURCE_NAME, "--with-data", "--yes", "--store", store),
        0);
    done(RUN("patra", "publish", "--once", "--store", store), 3);
    read_hook(server);
    check_arrived(store, "one bus that is down holds up no other");
    (void)snprintf(waiting, sizeof(waiting), "%lld in the stream",
                   (long long)(sql_number(store, EVENTS) - before));
    CHECK(cli_has(RUN("patra", "bus", "remove", name, "--store", store).talk, waiting),
          "what waits is printed, and nothing is removed without a yes");
    nats_node_start(&servers, 0);
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    read_nats(port, stream);
    check_arrived(store, "all versions at NATS");
    CHECK(sql_number(store, EVENTS) > before + 100, "records with two versions");
    hook_server_end(server);
    sim_stop(&sim);
}

TEST(events_reach_nats_and_a_webhook_from_sqlite)
{
    need_nats();
    relay_all(cli_sqlite("relay"), "lite");
}

TEST(events_reach_nats_and_a_webhook_from_postgres)
{
    need_nats();
    relay_all(cli_postgres(), "pg");
}

TEST(a_bus_takes_only_the_events_that_it_asks_for)
{
    const char *store = cli_sqlite("some");
    struct sim sim;

    need_nats();
    sim = SIM_SOURCE_START("--records", "6000");
    sim_source_apply(store, &sim, "rate.burst=100");
    done(RUN("patra", "bus", "apply", "--create",
             nats_file("other", servers.nodes[0].port, "events: { sources: [other] }\n"),
             nats_file("own", servers.nodes[0].port,
                       "events: { sources: [" SIM_SOURCE_NAME "], types: [RecordCreated] }\n"
                       "format: protobuf\ncloudevents: structured\n"),
             "--store", store),
         0);
    done(RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
             "--store", store),
         0);
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    read_nats(servers.nodes[0].port, "S-own");
    check_arrived(store, "its own");
    read_nats(servers.nodes[0].port, "S-other");
    CHECK_EQ(arrived_count, 0, "none of another source");
    sim_stop(&sim);
}

/* ---- the commands ---- */

TEST(commands_say_what_they_do)
{
    const char *store = cli_sqlite("commands");
    const char *file;
    struct run run;

    need_nats();
    file = nats_file("cmd", servers.nodes[0].port, "");
    done(RUN("patra", "init", "--store", store), 0);
    run = RUN("patra", "bus", "lint", file);
    done(run, 0);
    CHECK(cli_has(run.out, ": ok"), run.out.data);
    run = RUN("patra", "bus", "lint", "--json", file_of("bad", "bus: x\ntype: nats\nsubject: a\n"));
    done(run, 1);
    CHECK(cli_has(run.out,
                  "\"line\":3,\"column\":10,\"severity\":\"error\",\"code\":\"bus.subject\""),
          run.out.data);
    done(RUN("patra", "bus", "apply", file_of("bad", "bus: x\n"), file, "--store", store), 1);
    run = RUN("patra", "bus", "list", "--json", "--store", store);
    CHECK_STR(run.out, STR("[]\n"), "nothing was applied");

    run = RUN("patra", "bus", "test", file);
    done(run, 1);
    CHECK(cli_has(run.out, "bus.missing"), run.out.data);
    run = RUN("patra", "bus", "test", "--create", "--json", file);
    done(run, 0);
    CHECK_STR(cli_value(run.out, "steps.4.step"), STR("read"), "read back");
    CHECK_STR(cli_value(run.out, "steps.4.ok"), STR("true"), "and found");

    run = RUN("patra", "bus", "diff", file, "--store", store);
    done(run, 1);
    CHECK(cli_has(run.out, "+ stream: S-cmd\n"), run.out.data);
    run = RUN("patra", "bus", "apply", file, "--store", store);
    CHECK_STR(run.out, STR("cmd: new; it begins with the oldest event\n"), "new");
    done(RUN("patra", "bus", "diff", file, "--store", store), 0);
    file = nats_file("cmd", servers.nodes[0].port, "batch: { events: 7 }\n");
    run = RUN("patra", "bus", "diff", file, "--store", store);
    done(run, 1);
    CHECK_STR(run.out, STR("~ batch.events: 4000 -> 7\n"), "one");
    run = RUN("patra", "bus", "apply", file, "--store", store);
    CHECK_STR(run.out, STR("cmd: changed; it goes on where it was\n"), "changed");
    run = RUN("patra", "bus", "show", "cmd", "--store", store);
    CHECK(cli_has(run.out, "  events: 7\n") && cli_has(run.out, "env:TEST_NATS_PASSWORD"),
          run.out.data);
    CHECK(cli_width(RUN("patra", "bus", "list", "--store", store).out) <= 80, "it fits");
    done(RUN("patra", "bus", "remove", "cmd", "--yes", "--store", store), 0);
    done(RUN("patra", "bus", "show", "cmd", "--store", store), 4);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_offset"), 0, "nothing is left of it");
}

TEST(a_bus_that_is_not_there_is_told)
{
    struct run run;

    need_nats();
    run = RUN("patra", "bus", "test", nats_file("nowhere", 1, ""));
    done(run, 3);
    CHECK(cli_has(run.out, "FAIL  check") && cli_has(run.out, "bus.lost"), run.out.data);
    (void)setenv("TEST_NATS_PASSWORD", "wrong-password", 1);
    run = RUN("patra", "bus", "test", nats_file("refused", servers.nodes[0].port, ""));
    done(run, 1);
    CHECK(cli_has(run.out, "bus.auth") && !cli_has(run.out, "wrong-password"), run.out.data);
    (void)setenv("TEST_NATS_PASSWORD", NATS_PASSWORD, 1);
}
