/* Pub/Sub beyond the promises of every bus: Google's rules as the fake has them, credentials, TLS.
 */
#include <dirent.h>
#include <grpc/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/pubsub/pubsub.h"
#include "adapter/system/system.h"
#include "base/instant.h"
#include "certificate.h"
#include "fixed_secret.h"
#include "planted.h"
#include "pubsub_fake.h"
#include "scripted_http.h"
#include "test.h"
#include "virtual_clock.h"

enum { MESSAGES_MAX = 1500 };
#define WAIT_US (20 * US_PER_SECOND)
#define SHORT_US (US_PER_SECOND / 4)

static struct {
    struct pubsub_fake *fake;
    char address[64];
    struct str addresses[1];
    struct bus_spec spec;
    struct virtual_clock clock;
    struct fixed_secrets secrets;
    struct scripted_http http;
    struct bus *bus;
    struct arena arena;
    struct error err;
    struct bus_message messages[MESSAGES_MAX];
    struct bus_receipt receipts[MESSAGES_MAX];
    size_t count;
    struct bus_delivery seen[MESSAGES_MAX];
    size_t seen_count;
} rig;

static bool open_scripted(struct http **http, struct error *err)
{
    (void)err;
    *http = &rig.http.http;
    return true;
}

static struct bus *open_bus(void)
{
    struct bus *bus;

    REQUIRE_OK(pubsub_open(&(struct bus_parts){ .spec = &rig.spec,
                                                .secrets = &rig.secrets.source,
                                                .clock = &rig.clock.clock },
                           open_scripted, &bus, &rig.err),
               rig.err);
    return bus;
}

static void begin_with(const struct pubsub_fake_options *options,
                       const struct fixed_secret *secrets, size_t secret_count)
{
    memset(&rig, 0, sizeof(rig));
    arena_init(&rig.arena, (size_t)256 << 20);
    virtual_clock_init(&rig.clock, INT64_C(1790000000) * US_PER_SECOND);
    fixed_secrets_init(&rig.secrets, secrets, secret_count);
    scripted_http_init(&rig.http, &rig.clock.clock);
    rig.fake = pubsub_fake_start_with(options);
    (void)snprintf(rig.address, sizeof(rig.address), "127.0.0.1:%d", pubsub_fake_port(rig.fake));
    rig.addresses[0] = str_of(rig.address);
    rig.spec = (struct bus_spec){ .name = STR("bus"),
                                  .type = BUS_TYPE_PUBSUB,
                                  .addresses = rig.addresses,
                                  .address_count = 1,
                                  .project = STR("patra-test"),
                                  .topic = STR("works.events"),
                                  .subscription = STR("works.events.reader"),
                                  .allow_plain = options->key == NULL,
                                  .read = { .hold_us = 10 * US_PER_SECOND } };
}

static void begin(void)
{
    bool made;

    begin_with(&(struct pubsub_fake_options){ 0 }, NULL, 0);
    rig.bus = open_bus();
    REQUIRE_OK(bus_create(rig.bus, WAIT_US, &made, &rig.err), rig.err);
}

static void end(void)
{
    bus_close(rig.bus);
    pubsub_fake_stop(rig.fake);
    scripted_http_release(&rig.http);
    arena_release(&rig.arena);
}

static void add(const char *key, int64_t lane, int64_t version)
{
    rig.messages[rig.count++] = (struct bus_message){
        .event_id = STR("00000003-0000-7000-8000-000000000007"),
        .key = arena_copy(&rig.arena, str_of(key)),
        .lane = lane,
        .version = version,
        .body = STR("{}"),
    };
}

static bool publish(void)
{
    const bool ok = bus_publish(
        rig.bus, &rig.arena,
        &(struct bus_publish){
            .messages = rig.messages, .count = rig.count, .timeout_us = WAIT_US, .wake_fd = -1 },
        rig.receipts, &rig.err);

    rig.count = 0;
    return ok;
}

static void publish_versions(const char *key, int64_t from, int64_t to)
{
    for (int64_t version = from; version <= to; version++) {
        add(key, 1, version);
        REQUIRE_OK(publish(), rig.err);
    }
}

static void subscribe(struct bus *bus)
{
    REQUIRE_OK(bus_subscribe(bus, STR("reader"), &(struct bus_flow){ 1000, 1 << 20 }, &rig.err),
               rig.err);
}

/* Until so many are there, or nothing has come for a while. */
static void read_from(struct bus *bus, size_t count, int64_t within_us)
{
    const int64_t until_us = rpc_now_us() + within_us;
    struct bus_delivery_list list;

    for (rig.seen_count = 0; rig.seen_count < count && rpc_now_us() < until_us;) {
        REQUIRE_OK(bus_poll(bus, &rig.arena,
                            &(struct bus_poll){ .messages_max = count - rig.seen_count,
                                                .bytes_max = 1 << 20,
                                                .timeout_us = until_us - rpc_now_us(),
                                                .wake_fd = -1 },
                            &list, &rig.err),
                   rig.err);
        for (size_t i = 0; i < list.count; i++)
            rig.seen[rig.seen_count++] = list.items[i];
    }
}

static void read_some(size_t count, int64_t within_us)
{
    read_from(rig.bus, count, within_us);
}

static void settle(size_t at, enum bus_verdict verdict)
{
    const struct bus_settlement settlement = { rig.seen[at].handle, verdict };

    REQUIRE_OK(bus_settle(rig.bus, &settlement, 1, &rig.err), rig.err);
}

static void check_versions(const char *versions, const char *label)
{
    char text[256] = "";

    for (size_t i = 0; i < rig.seen_count; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%" PRId64,
                       i > 0 ? " " : "", rig.seen[i].message.version);
    CHECK_STR(str_of(text), str_of(versions), label);
}

/* ---- order ---- */

TEST(after_a_message_that_is_given_back_its_key_comes_again)
{
    begin();
    publish_versions("a", 1, 4);
    subscribe(rig.bus);
    read_some(4, WAIT_US);
    check_versions("1 2 3 4", "in order");
    settle(0, BUS_ACK);
    settle(2, BUS_ACK);
    settle(1, BUS_NACK);
    read_some(3, WAIT_US);
    check_versions("2 3 4", "again from there, even what was acknowledged");
    end();
}

TEST(what_waits_of_a_key_is_not_delivered_before_what_was_given_back)
{
    begin();
    publish_versions("a", 1, 3);
    subscribe(rig.bus);
    read_some(1, WAIT_US);
    check_versions("1", "one is handed out, two may wait");
    settle(0, BUS_NACK);
    read_some(3, WAIT_US);
    check_versions("1 2 3", "in order");
    end();
}

TEST(a_message_whose_lease_ends_comes_again)
{
    begin();
    publish_versions("a", 1, 1);
    subscribe(rig.bus);
    read_some(1, WAIT_US);
    pubsub_fake_advance(rig.fake, 11 * US_PER_SECOND);
    read_some(1, WAIT_US);
    check_versions("1", "again");
    settle(0, BUS_ACK);
    read_some(1, SHORT_US);
    CHECK_EQ(rig.seen_count, 0, "and no more");
    end();
}

TEST(what_waits_keeps_its_lease)
{
    begin();
    publish_versions("a", 1, 3);
    subscribe(rig.bus);
    read_some(1, WAIT_US);
    settle(0, BUS_ACK);
    virtual_clock_advance(&rig.clock, 6 * US_PER_SECOND); /* over half of it */
    pubsub_fake_advance(rig.fake, 6 * US_PER_SECOND);
    read_some(1, WAIT_US); /* 3 waits still, and is extended */
    check_versions("2", "the next");
    settle(0, BUS_ACK);
    pubsub_fake_advance(rig.fake, 6 * US_PER_SECOND);
    read_some(2, 2 * SHORT_US);
    check_versions("3", "once: its lease did not end");
    settle(0, BUS_ACK);
    read_some(1, SHORT_US);
    CHECK_EQ(rig.seen_count, 0, "nothing more");
    end();
}

TEST(a_stream_that_the_server_ends_is_opened_again)
{
    begin();
    publish_versions("a", 1, 1);
    subscribe(rig.bus);
    read_some(1, WAIT_US);
    settle(0, BUS_ACK);
    pubsub_fake_cut(rig.fake, GRPC_STATUS_UNAVAILABLE);
    publish_versions("a", 2, 2);
    read_some(1, WAIT_US);
    check_versions("2", "it goes on");
    end();
}

/* ---- dead letters ---- */

static void make_dead_letters(void)
{
    Wire__Topic topic = WIRE__TOPIC__INIT;
    Wire__Subscription subscription = WIRE__SUBSCRIPTION__INIT;
    Wire__DeadLetterPolicy policy = WIRE__DEAD_LETTER_POLICY__INIT;
    struct pubsub *pubsub = (struct pubsub *)rig.bus;

    topic.name = pubsub_bytes(STR("projects/patra-test/topics/dead"));
    REQUIRE_OK(pubsub_call(pubsub, PUBSUB_CREATE_TOPIC, &topic.base, rpc_until(WAIT_US, -1), NULL,
                           &rig.err),
               rig.err);
    subscription.name = pubsub_bytes(STR("projects/patra-test/subscriptions/dead"));
    subscription.topic = topic.name;
    subscription.ack_deadline_seconds = 10;
    subscription.enable_message_ordering = true;
    REQUIRE_OK(pubsub_call(pubsub, PUBSUB_CREATE_SUBSCRIPTION, &subscription.base,
                           rpc_until(WAIT_US, -1), NULL, &rig.err),
               rig.err);
    policy.dead_letter_topic = topic.name;
    policy.max_delivery_attempts = 5;
    subscription.name = pubsub_bytes(STR("projects/patra-test/subscriptions/strict"));
    subscription.topic = pubsub_bytes(pubsub->topic);
    subscription.dead_letter_policy = &policy;
    REQUIRE_OK(pubsub_call(pubsub, PUBSUB_CREATE_SUBSCRIPTION, &subscription.base,
                           rpc_until(WAIT_US, -1), NULL, &rig.err),
               rig.err);
}

static bool has_attribute(const struct bus_delivery *delivery, const char *name, const char *value)
{
    for (size_t i = 0; i < delivery->message.attribute_count; i++) {
        if (str_eq(delivery->message.attributes[i].name, str_of(name)))
            return str_eq(delivery->message.attributes[i].value, str_of(value));
    }
    return false;
}

TEST(after_five_attempts_a_message_goes_to_the_dead_letters_and_its_key_goes_on)
{
    struct bus_spec spec;
    struct bus *dead;

    begin();
    make_dead_letters();
    publish_versions("a", 1, 2);
    rig.spec.subscription = STR("strict");
    bus_close(rig.bus);
    rig.bus = open_bus();
    subscribe(rig.bus);
    for (int attempt = 1; attempt <= 5; attempt++) {
        read_some(1, WAIT_US);
        check_versions("1", "the first of the key, each time");
        CHECK_EQ(rig.seen[0].attempt, attempt, "and which time it is");
        settle(0, BUS_NACK);
    }
    read_some(1, WAIT_US);
    check_versions("2", "the next of the key");
    settle(0, BUS_ACK);
    spec = rig.spec;
    rig.spec.subscription = STR("dead");
    dead = open_bus();
    subscribe(dead);
    read_from(dead, 1, WAIT_US);
    check_versions("1", "the dead letter");
    CHECK(has_attribute(&rig.seen[0], "CloudPubSubDeadLetterSourceDeliveryCount", "5"),
          "how often");
    CHECK(has_attribute(&rig.seen[0], "CloudPubSubDeadLetterSourceSubscription", "strict"),
          "where from");
    bus_close(dead);
    rig.spec = spec;
    end();
}

/* ---- publishing ---- */

TEST(a_request_has_one_ordering_key)
{
    Wire__PublishRequest request = WIRE__PUBLISH_REQUEST__INIT;
    Wire__PubsubMessage one = WIRE__PUBSUB_MESSAGE__INIT, other = WIRE__PUBSUB_MESSAGE__INIT;
    Wire__PubsubMessage *messages[] = { &one, &other };

    begin();
    one.data = other.data = pubsub_bytes(STR("{}"));
    one.ordering_key = pubsub_bytes(STR("a"));
    other.ordering_key = pubsub_bytes(STR("b"));
    request.topic = pubsub_bytes(((struct pubsub *)rig.bus)->topic);
    request.n_messages = 2;
    request.messages = messages;
    CHECK(!pubsub_call((struct pubsub *)rig.bus, PUBSUB_PUBLISH, &request.base,
                       rpc_until(WAIT_US, -1), NULL, &rig.err),
          "Google refuses two keys in a request");
    CHECK_STR(str_of(rig.err.code), STR("bus.refused"), rig.err.text);
    for (int i = 0; i < 50; i++) {
        char key[16];

        (void)snprintf(key, sizeof(key), "k%d", i);
        add(key, i % 3, 1);
    }
    rig.spec.order = BUS_ORDER_LANE;
    REQUIRE_OK(publish(), rig.err);
    CHECK_EQ(pubsub_fake_publishes(rig.fake), 1 + 3, "a request per lane");
    end();
}

TEST(after_a_request_that_failed_its_lane_waits_for_the_next_call)
{
    char key[16];
    size_t tried = 0;

    begin();
    rig.spec.order = BUS_ORDER_LANE;
    pubsub_fake_fail(rig.fake, GRPC_STATUS_UNAVAILABLE, 1, false);
    for (int i = 0; i < 1200; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        add(key, 1, i + 1);
    }
    CHECK(!publish(), "it failed");
    CHECK_STR(str_of(rig.err.code), STR("bus.lost"), rig.err.text);
    for (size_t i = 0; i < 1200; i++) {
        CHECK(rig.receipts[i].outcome == (i < 1000 ? BUS_RETRY : BUS_NOT_TRIED),
              "nothing after it");
        tried += rig.receipts[i].outcome != BUS_NOT_TRIED;
    }
    CHECK_EQ(tried, 1000, "as many as one request has");
    CHECK_EQ(pubsub_fake_publishes(rig.fake), 1, "one request");
    for (int i = 0; i < 1200; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        add(key, 1, i + 1);
    }
    REQUIRE_OK(publish(), rig.err);
    subscribe(rig.bus);
    rig.spec.subscription = STR("works.events.reader");
    read_some(1000, WAIT_US);
    for (size_t i = 0; i < 1000; i++)
        CHECK_EQ(rig.seen[i].message.version, i + 1, "in the order of the lane");
    end();
}

/* The answer was lost: the message is there twice, and that is all. */
TEST(a_message_that_was_kept_without_an_answer_may_come_twice)
{
    begin();
    pubsub_fake_fail(rig.fake, GRPC_STATUS_UNAVAILABLE, 1, true);
    add("a", 1, 1);
    CHECK(!publish(), "no answer");
    CHECK_EQ(rig.receipts[0].outcome, BUS_RETRY, "it may have succeeded");
    publish_versions("a", 1, 2);
    subscribe(rig.bus);
    read_some(3, WAIT_US);
    check_versions("1 1 2", "in order");
    end();
}

/* A refusal that our own checks do not foresee is found by sending one by one. */
TEST(a_request_that_is_refused_is_sent_in_pieces)
{
    begin();
    rig.spec.order = BUS_ORDER_LANE;
    pubsub_fake_fail(rig.fake, GRPC_STATUS_INVALID_ARGUMENT, 2, false); /* all, then the first */
    add("a", 1, 1);
    add("b", 1, 1);
    add("c", 1, 1);
    REQUIRE_OK(publish(), rig.err);
    CHECK_EQ(rig.receipts[0].outcome, BUS_REFUSED, "this one");
    CHECK(rig.receipts[0].reason.len > 0, "and why");
    CHECK_EQ(rig.receipts[1].outcome, BUS_ACKED, "not that one");
    CHECK_EQ(rig.receipts[2].outcome, BUS_ACKED, "nor that one");
    end();
}

TEST(what_google_does_not_take_is_refused_alone)
{
    static char long_text[1100];
    static const struct bus_attribute bad_name = { STR_INIT("google.x"), STR_INIT("1") };
    const struct bus_attribute bad_value = { STR("x"), { long_text, 1025 } };

    begin();
    memset(long_text, 'x', sizeof(long_text));
    add("a", 1, 1);
    add("b", 1, 1);
    add("c", 1, 1);
    add("\xff", 1, 1);
    add("e", 1, 1);
    rig.messages[0].attributes = &bad_name;
    rig.messages[0].attribute_count = 1;
    rig.messages[1].attributes = &bad_value;
    rig.messages[1].attribute_count = 1;
    rig.messages[2].key = (struct str){ long_text, 1025 };
    REQUIRE_OK(publish(), rig.err);
    for (size_t i = 0; i < 5; i++)
        CHECK_EQ(rig.receipts[i].outcome, i < 4 ? BUS_REFUSED : BUS_ACKED, "each by itself");
    CHECK_EQ(pubsub_fake_publishes(rig.fake), 1, "they were not sent");
    end();
}

TEST(a_topic_or_subscription_that_is_missing_is_an_error_of_a_person)
{
    struct bus_delivery_list list;

    begin();
    bus_close(rig.bus);
    rig.spec.topic = STR("nowhere");
    rig.spec.subscription = STR("nowhere");
    rig.bus = open_bus();
    CHECK(!bus_check(rig.bus, WAIT_US, &rig.err), "the check says so");
    CHECK_STR(str_of(rig.err.code), STR("bus.missing"), rig.err.text);
    add("a", 1, 1);
    CHECK(!publish(), "nothing to publish to");
    CHECK_STR(str_of(rig.err.code), STR("bus.missing"), rig.err.text);
    CHECK_EQ(rig.err.level, ERROR_FATAL, "L4");
    CHECK_EQ(rig.receipts[0].outcome, BUS_RETRY, "it is not the message");
    subscribe(rig.bus);
    CHECK(!bus_poll(rig.bus, &rig.arena, &(struct bus_poll){ 1, 1, WAIT_US, -1 }, &list, &rig.err),
          "nothing to read");
    CHECK_STR(str_of(rig.err.code), STR("bus.missing"), rig.err.text);
    end();
}

/* ---- credentials ---- */

/* Memory is bounded whatever a server sends: what is not asked for stays in the network. */
TEST(a_server_that_ignores_the_flow_does_not_fill_the_memory)
{
    const struct pubsub_reader *reader;
    size_t most = 0, got = 0;

    begin();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 400; i++)
            add(arena_printf(&rig.arena, "k%d", round * 400 + i).data, i % 64, 1);
        REQUIRE_OK(publish(), rig.err);
    }
    pubsub_fake_flood(rig.fake);
    REQUIRE_OK(bus_subscribe(rig.bus, STR("reader"), &(struct bus_flow){ 10, 1 << 20 }, &rig.err),
               rig.err);
    reader = &((struct pubsub *)rig.bus)->reader;
    while (got < 1200) {
        struct bus_settlement settlements[10];

        read_from(rig.bus, 10, WAIT_US);
        REQUIRE(rig.seen_count > 0, "delivered");
        for (int i = 0; i < 20; i++) { /* more polls than are needed */
            struct bus_delivery_list none;

            REQUIRE_OK(
                bus_poll(rig.bus, &rig.arena,
                         &(struct bus_poll){ .messages_max = 10, .bytes_max = 1, .wake_fd = -1 },
                         &none, &rig.err),
                rig.err);
            CHECK_EQ(none.count, 0, "ten are out");
        }
        most = reader->held_count > most ? reader->held_count : most;
        for (size_t i = 0; i < rig.seen_count; i++)
            settlements[i] = (struct bus_settlement){ rig.seen[i].handle, BUS_ACK };
        REQUIRE_OK(bus_settle(rig.bus, settlements, rig.seen_count, &rig.err), rig.err);
        got += rig.seen_count;
    }
    CHECK_EQ(got, 1200, "all of them");
    CHECK(most <= 300, "some pages, and not all there is");
    end();
}

static struct certificate certificate;
static char ca_path[300];
static char key_file[CERTIFICATE_PEM_MAX * 2];

/* A key file with the certificate's key in it. */
static void write_key_file(void)
{
    size_t len = (size_t)snprintf(key_file, sizeof(key_file),
                                  "{\"type\":\"service_account\",\"client_email\":\"a@b.example\","
                                  "\"private_key_id\":\"k1\",\"token_uri\":"
                                  "\"https://tokens.example/token\",\"private_key\":\"");

    for (const char *c = certificate.key; *c != '\0'; c++) {
        if (*c == '\n')
            key_file[len++] = '\\';
        key_file[len++] = *c == '\n' ? 'n' : *c;
    }
    (void)snprintf(key_file + len, sizeof(key_file) - len, "\"}");
}

static const struct fixed_secret *key_secrets(void)
{
    static struct fixed_secret secrets[1];

    secrets[0] = (struct fixed_secret){ "file:key.json", key_file };
    return secrets;
}

/* A server with TLS, a CA file, a key file. */
static void begin_secure(const char *name)
{
    FILE *file;

    REQUIRE(certificate_make(&certificate, name), "a certificate");
    write_key_file();
    begin_with(&(struct pubsub_fake_options){ certificate.pem, certificate.key }, key_secrets(), 1);
    (void)snprintf(ca_path, sizeof(ca_path), "%s/ca.pem", test_folder());
    file = fopen(ca_path, "w");
    REQUIRE(file != NULL, "a file");
    (void)fputs(certificate.pem, file);
    (void)fclose(file);
    rig.spec.tls.ca = str_of(ca_path);
    rig.spec.auth.credentials = STR("file:key.json");
}

static void tokens(const char *first, const char *second)
{
    static char bodies[2][128];
    const char *const values[] = { first, second };

    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(bodies[i], sizeof(bodies[i]),
                       "{\"access_token\":\"%s\",\"token_type\":\"Bearer\",\"expires_in\":3600}",
                       values[i]);
        scripted_http_reply(&rig.http, &(struct scripted_reply){
                                           .url_part = STR("https://tokens.example/token"),
                                           .method = STR("POST"),
                                           .body_part = STR("grant-type%3Ajwt-bearer&assertion=ey"),
                                           .status = 200,
                                           .body = str_of(bodies[i]) });
    }
}

TEST(a_service_account_gets_a_token_and_another_when_that_is_refused)
{
    bool made;

    begin_secure("IP:127.0.0.1");
    tokens("first-token", "second-token");
    pubsub_fake_demand(rig.fake, "first-token");
    rig.bus = open_bus();
    REQUIRE_OK(bus_create(rig.bus, WAIT_US, &made, &rig.err), rig.err);
    publish_versions("a", 1, 1);
    CHECK_EQ(rig.http.sent.count, 1, "one token for all calls");
    pubsub_fake_demand(rig.fake, "second-token");
    publish_versions("a", 2, 2);
    CHECK_EQ(rig.http.sent.count, 2, "another one");
    pubsub_fake_demand(rig.fake, "third-token");
    scripted_http_reply(&rig.http, &(struct scripted_reply){ .times = -1,
                                                             .status = 400,
                                                             .body = STR("{\"error\":"
                                                                         "\"invalid_grant\"}") });
    add("a", 1, 3);
    CHECK(!publish(), "refused");
    CHECK_EQ(rig.err.level, ERROR_FATAL, "L4");
    CHECK(strstr(rig.err.text, "-token") == NULL, rig.err.text);
    CHECK(strstr(rig.err.text, "invalid_grant") != NULL, rig.err.text);
    end();
}

/* Of four ways of writing a token (planted.h) nothing is left, but for the end of a base64. */
static void require_unsaid(const char *label)
{
    static const char STATUS[] = "PERMISSION_DENIED: key ***";
    const char *said = strstr(rig.err.text, STATUS);

    REQUIRE(said != NULL, rig.err.text);
    said += sizeof(STATUS) - 1;
    CHECK(strspn(said, "*=, end") == strlen(said), label);
}

/* Also when it was replaced meanwhile: whoever was shown the old one may be late. */
TEST(a_token_that_the_server_repeats_is_not_in_its_errors)
{
    static const char *const texts[] = { PLANTED_ONE, PLANTED_TWO, PLANTED_THREE };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        bool made;

        begin_secure("IP:127.0.0.1");
        tokens(PLANTED, "second-token");
        rig.bus = open_bus();
        REQUIRE_OK(bus_create(rig.bus, WAIT_US, &made, &rig.err), rig.err);
        pubsub_fake_say(rig.fake, texts[i]);
        pubsub_fake_fail(rig.fake, GRPC_STATUS_PERMISSION_DENIED, 1, false);
        add("a", 1, 1);
        CHECK(!publish(), "refused");
        require_unsaid("the token");
        pubsub_fake_demand(rig.fake, "second-token");
        pubsub_fake_fail(rig.fake, GRPC_STATUS_PERMISSION_DENIED, 1, false);
        add("a", 1, 1);
        CHECK(!publish(), "refused, with another token");
        CHECK_EQ(rig.http.sent.count, 2, "which was asked for");
        require_unsaid("the token before");
        end();
    }
}

/* Requests with the old token are still under way when the first ones have got the new one. */
TEST(a_token_that_is_refused_is_replaced_once_for_all_requests)
{
    char key[32];
    bool made;

    begin_secure("IP:127.0.0.1");
    tokens("first-token", "second-token");
    pubsub_fake_demand(rig.fake, "first-token");
    rig.bus = open_bus();
    REQUIRE_OK(bus_create(rig.bus, WAIT_US, &made, &rig.err), rig.err);
    pubsub_fake_demand(rig.fake, "second-token");
    for (int i = 0; i < 400; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        add(key, i % 64, 1);
    }
    REQUIRE_OK(publish(), rig.err);
    CHECK_EQ(rig.http.sent.count, 2, "one more token");
    end();
}

TEST(a_token_is_replaced_before_its_end)
{
    bool made;

    begin_secure("IP:127.0.0.1");
    tokens("first-token", "second-token");
    rig.bus = open_bus();
    REQUIRE_OK(bus_create(rig.bus, WAIT_US, &made, &rig.err), rig.err);
    virtual_clock_advance(&rig.clock, 58 * US_PER_MINUTE);
    publish_versions("a", 1, 1);
    CHECK_EQ(rig.http.sent.count, 1, "it is good still");
    virtual_clock_advance(&rig.clock, 90 * US_PER_SECOND);
    pubsub_fake_demand(rig.fake, "second-token");
    publish_versions("a", 2, 2);
    CHECK_EQ(rig.http.sent.count, 2, "a new one");
    end();
}

TEST(without_a_key_file_the_metadata_server_is_asked)
{
    static const struct fixed_secret secrets[] = { { "env:GCE_METADATA_HOST", "127.0.0.9:1" } };
    static const struct http_header flavor = { STR_INIT("Metadata-Flavor"), STR_INIT("Google") };
    const struct str url =
        STR("http://127.0.0.9:1/computeMetadata/v1/instance/service-accounts/default/token");

    begin_secure("IP:127.0.0.1");
    fixed_secrets_init(&rig.secrets, secrets, 1);
    rig.spec.auth.credentials = (struct str){ 0 };
    pubsub_fake_demand(rig.fake, "of-the-machine");
    scripted_http_reply(&rig.http,
                        &(struct scripted_reply){
                            .url_part = url,
                            .status = 200,
                            .headers = &flavor,
                            .header_count = 1,
                            .body = STR("{\"access_token\":\"of-the-machine\",\"expires_in\":3599,"
                                        "\"token_type\":\"Bearer\"}") });
    rig.bus = open_bus();
    CHECK(!bus_check(rig.bus, WAIT_US, &rig.err), "no topic");
    CHECK_STR(str_of(rig.err.code), STR("bus.missing"), rig.err.text);
    REQUIRE(rig.http.sent.count == 1, "a request");
    CHECK_STR(http_header_value(rig.http.sent.items[0].headers, STR("Metadata-Flavor")),
              STR("Google"), "the header it wants");
    end();
}

TEST(what_is_not_a_metadata_server_gets_no_trust)
{
    begin_secure("IP:127.0.0.1");
    rig.spec.auth.credentials = (struct str){ 0 };
    scripted_http_reply(&rig.http,
                        &(struct scripted_reply){
                            .url_part = STR("http://metadata.google.internal/"),
                            .status = 200,
                            .body = STR("{\"access_token\":\"x\",\"token_type\":\"Bearer\"}") });
    rig.bus = open_bus();
    CHECK(!bus_check(rig.bus, WAIT_US, &rig.err), "refused");
    CHECK_STR(str_of(rig.err.code), STR("auth.token"), rig.err.text);
    end();
}

TEST(the_emulator_variable_wins_and_gets_no_credential)
{
    static struct fixed_secret secrets[1];
    bool made;

    begin_with(&(struct pubsub_fake_options){ 0 }, NULL, 0);
    secrets[0] = (struct fixed_secret){ "env:PUBSUB_EMULATOR_HOST", rig.address };
    fixed_secrets_init(&rig.secrets, secrets, 1);
    rig.spec.allow_plain = false;
    rig.spec.address_count = 0;
    rig.bus = open_bus();
    REQUIRE_OK(bus_create(rig.bus, WAIT_US, &made, &rig.err), rig.err);
    CHECK_EQ(rig.http.sent.count, 0, "no token");
    end();
}

static void check_tls(const char *label)
{
    tokens("first-token", "second-token");
    rig.bus = open_bus();
    CHECK(!bus_check(rig.bus, WAIT_US, &rig.err), label);
    CHECK_STR(str_of(rig.err.code), STR("bus.tls"), rig.err.text);
    CHECK_EQ(rig.err.level, ERROR_FATAL, label);
    end();
}

TEST(a_server_of_an_unknown_authority_is_refused)
{
    begin_secure("IP:127.0.0.1");
    rig.spec.tls.ca = (struct str){ 0 };
    check_tls("an authority that the system does not know");
}

TEST(a_server_with_another_name_is_refused)
{
    begin_secure("DNS:elsewhere.example");
    check_tls("another name");
}

/* ---- threads ---- */

static size_t thread_count(void)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    size_t count = 0;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        count += entry->d_name[0] != '.';
    if (folder != NULL)
        (void)closedir(folder);
    return count;
}

/* gRPC's own threads end a moment after its last user has closed. */
TEST(closing_leaves_no_thread_behind)
{
    const int64_t until_us = rpc_now_us() + 3 * WAIT_US;

    for (int i = 0; i < 5; i++) {
        begin();
        publish_versions("a", 1, 2);
        subscribe(rig.bus);
        read_some(1, WAIT_US); /* and closes with an open stream and a message that is out */
        end();
    }
    while (thread_count() > 1 && rpc_now_us() < until_us)
        (void)usleep(1000);
    CHECK_EQ(thread_count(), 1, "this one alone");
}
