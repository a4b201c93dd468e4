/* What only NATS has: TLS, the ways to authenticate, permissions, streams that are missing, a
 * server that hangs. */
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapter/bus_open.h"
#include "adapter/system/system.h"
#include "base/instant.h"
#include "child.h"
#include "fixed_secret.h"
#include "nats_server.h"
#include "spec/bus.h"
#include "test.h"

#define NKEY "UDHFPWR5PO4Y4ZZWEQLFQTRQEVK3G3LGDOQUDA7ZCT7U2CSPEAZP7U4U"
#define SEED "SUAPGEHZCYH2V764JZHYD2BO6EW6HTWEU2NY5673CDC7M7HKAWMGJ3B7ZM"

enum { CONFIG_MAX = 8192 };

static struct fixed_secret secrets[] = {
    { "env:PASSWORD", NATS_PASSWORD },
    { "env:WRONG", "wr0ng-secret" },
    { "env:TOKEN", "t0ken-secret" },
    { "env:SEED", SEED },
    { "env:CREDS", NULL },
};

static struct {
    struct nats_servers servers;
    struct fixed_secrets source;
    struct clock clock;
    struct arena arena;
    struct bus_spec spec;
    struct bus *bus;
    struct bus_receipt receipt;
    struct error err;
} rig;

static void begin(const char *more)
{
    if (!nats_servers_installed())
        TEST_SKIP("nats-server is not installed");
    memset(&rig, 0, sizeof(rig));
    arena_init(&rig.arena, (size_t)64 << 20);
    rig.clock = system_clock();
    secrets[4].value = test_read("test/data/nats/user.creds").data;
    fixed_secrets_init(&rig.source, secrets, ARRAY_LEN(secrets));
    nats_servers_start(&rig.servers, 1, more);
}

static void end(void)
{
    bus_close(rig.bus);
    nats_servers_stop(&rig.servers);
    arena_release(&rig.arena);
}

/* Opens a bus of this scheme, host and settings, and makes its stream. The error's code, "" when
 * there is none. No secret may be in the error. */
static const char *dial(const char *place, const char *settings)
{
    struct fault_list faults;
    const struct str text =
        arena_printf(&rig.arena,
                     "bus: x\ntype: nats\naddress: %s:%d\nstream: S\nsubject: s.${lane}\n"
                     "allow_plain: true\ntimeout: { publish: 2s }\n%s",
                     place, rig.servers.nodes[0].port, settings);
    bool made, ok;

    bus_close(rig.bus);
    rig.bus = NULL;
    rig.err = (struct error){ 0 };
    fault_list_init(&faults, &rig.arena);
    if (!bus_read(&rig.arena, text, &faults, &rig.spec))
        test_fail(__FILE__, __LINE__, "%.*s", STR_ARG(faults.items[0].message));
    REQUIRE_OK(bus_open(&(struct bus_parts){ &rig.spec, &rig.source.source, &rig.clock }, &rig.bus,
                        &rig.err),
               rig.err);
    ok = bus_create(rig.bus, 5 * US_PER_SECOND, &made, &rig.err) &&
         bus_check(rig.bus, 5 * US_PER_SECOND, &rig.err);
    CHECK(strstr(rig.err.text, "secret") == NULL && strstr(rig.err.text, SEED) == NULL &&
              strstr(rig.err.text, "eyJ") == NULL,
          "no secret in an error");
    return ok ? "" : rig.err.code;
}

static const char *publish(int64_t timeout_us, int wake_fd)
{
    const struct bus_message message = { .event_id = STR("e"), .key = STR("k"), .body = STR("b") };

    rig.err = (struct error){ 0 };
    return bus_publish(
               rig.bus, &rig.arena,
               &(struct bus_publish){
                   .messages = &message, .count = 1, .timeout_us = timeout_us, .wake_fd = wake_fd },
               &rig.receipt, &rig.err)
               ? ""
               : rig.err.code;
}

#define CHECK_CODE(got, wanted, label) CHECK_STR(str_of(got), STR(wanted), label)

TEST(each_way_to_authenticate_is_let_in)
{
    char creds[CONFIG_MAX];
    const struct str operator_text = test_read("test/data/nats/operator.conf");

    begin(NULL);
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { user: patra, password: env:PASSWORD }\n"), "",
               "user and password");
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { user: patra, password: env:WRONG }\n"), "bus.auth",
               "a wrong password");
    CHECK_EQ(rig.err.level, ERROR_FATAL, "a person must look");
    CHECK_CODE(dial("nats://127.0.0.1", ""), "bus.auth", "no password");
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { user: patra, password: env:NONE }\n"),
               "secret.missing", "a reference to nothing");
    end();
    begin("authorization { token: \"t0ken-secret\" }");
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { token: env:TOKEN }\n"), "", "a token");
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { token: env:WRONG }\n"), "bus.auth", "another one");
    end();
    begin("authorization { users: [ { nkey: " NKEY " } ] }");
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { user: " NKEY ", nkey: env:SEED }\n"), "",
               "an NKey");
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { user: " NKEY ", nkey: env:WRONG }\n"), "bus.auth",
               "a seed that is none");
    end();
    (void)snprintf(creds, sizeof(creds), "%.*s", STR_ARG(operator_text));
    begin(creds);
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { credentials: env:CREDS }\n"), "", "a creds file");
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { credentials: env:WRONG }\n"), "bus.auth",
               "something else");
    end();
}

TEST(tls_is_verified)
{
    char folder[256], more[1024], settings[600];
    const char *const options[] = { "--tls", folder, NULL };
    struct sim sim; /* it makes certificates */

    (void)snprintf(folder, sizeof(folder), "%s/tls", test_folder());
    REQUIRE(sim_start(&sim, options), "patra-sim starts");
    sim_stop(&sim);
    (void)snprintf(
        more, sizeof(more),
        "host: 0.0.0.0\ntls { cert_file: \"%s/server.pem\", key_file: \"%s/server.key\" }", folder,
        folder);
    (void)snprintf(settings, sizeof(settings),
                   "tls: { ca: %s/ca.pem }\nauth: { user: patra, password: env:PASSWORD }\n",
                   folder);
    begin(more);
    CHECK_CODE(dial("tls://127.0.0.1", settings), "", "the right authority");
    CHECK_CODE(publish(5 * US_PER_SECOND, -1), "", "and it works");
    CHECK_CODE(dial("tls://127.0.0.2", settings), "bus.tls", "the certificate names another host");
    CHECK_EQ(rig.err.level, ERROR_FATAL, "a person must look");
    CHECK_CODE(dial("tls://127.0.0.1", "auth: { user: patra, password: env:PASSWORD }\n"),
               "bus.tls", "an authority that is not trusted");
    CHECK_CODE(dial("nats://127.0.0.1", settings), "bus.tls", "the server wants TLS");
    (void)snprintf(settings, sizeof(settings), "tls: { ca: %s/none.pem }\n", folder);
    CHECK_CODE(dial("tls://127.0.0.1", settings), "bus.tls", "a file that is not there");
    end();
    begin(NULL);
    CHECK_CODE(dial("tls://127.0.0.1", "auth: { user: patra, password: env:PASSWORD }\n"),
               "bus.tls", "the server has none: nothing is sent in the clear");
    end();
}

TEST(what_a_user_may_not_do_is_told)
{
    begin("authorization { users: [ { user: patra, password: \"" NATS_PASSWORD
          "\", permissions: { publish: [\"$JS.API.>\"] } } ] }");
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { user: patra, password: env:PASSWORD }\n"), "",
               "it may make the stream");
    CHECK_CODE(publish(5 * US_PER_SECOND, -1), "bus.auth", "and not publish to it");
    CHECK_EQ(rig.err.level, ERROR_FATAL, "a person must look");
    CHECK_EQ(rig.receipt.outcome, BUS_RETRY, "it may have arrived");
    end();
}

TEST(a_stream_that_is_missing_or_another_is_told)
{
    begin(NULL);
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { user: patra, password: env:PASSWORD }\n"), "",
               "there");
    rig.spec.subject = STR("t.${lane}");
    CHECK(!bus_check(rig.bus, 5 * US_PER_SECOND, &rig.err), "it does not take the subject");
    CHECK_CODE(rig.err.code, "bus.missing", "why");
    CHECK_CODE(publish(5 * US_PER_SECOND, -1), "bus.lost", "nobody answers for it");
    rig.spec.subject = STR("s.${lane}");
    rig.spec.stream = STR("OTHER");
    CHECK(!bus_check(rig.bus, 5 * US_PER_SECOND, &rig.err), "there is no such stream");
    CHECK_CODE(rig.err.code, "bus.missing", "why");
    CHECK_CODE(publish(5 * US_PER_SECOND, -1), "bus.missing", "the subject is another stream's");
    CHECK(rig.receipt.outcome != BUS_ACKED, "which does not keep it");
    end();
}

static int64_t now_us(void)
{
    return clock_monotonic_us(&rig.clock);
}

TEST(a_server_that_hangs_is_waited_for_no_longer_than_asked)
{
    const int wake_fd = eventfd(1, EFD_CLOEXEC);
    int64_t since_us;

    begin(NULL);
    CHECK_CODE(dial("nats://127.0.0.1", "auth: { user: patra, password: env:PASSWORD }\n"), "",
               "up");
    CHECK_CODE(publish(5 * US_PER_SECOND, -1), "", "it works");
    nats_node_freeze(&rig.servers, 0, true);
    since_us = now_us();
    CHECK_CODE(publish(US_PER_SECOND, -1), "bus.timeout", "it hangs");
    CHECK(now_us() - since_us < 3 * US_PER_SECOND, "in time");
    CHECK_EQ(rig.receipt.outcome, BUS_RETRY, "it may have arrived");
    since_us = now_us();
    CHECK_CODE(publish(30 * US_PER_SECOND, wake_fd), "bus.timeout", "the process must stop");
    CHECK(now_us() - since_us < 2 * US_PER_SECOND, "at once");
    nats_node_freeze(&rig.servers, 0, false);
    CHECK_CODE(publish(10 * US_PER_SECOND, -1), "", "it goes on");
    (void)close(wake_fd);
    end();
}
