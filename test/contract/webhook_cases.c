/* What only a webhook has: statuses, signatures, Retry-After, URLs that are secrets. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/bus_open.h"
#include "bus_rig.h"
#include "fixed_secret.h"
#include "hook_server.h"
#include "run.h"
#include "spec/bus.h"
#include "virtual_clock.h"

static const struct fixed_secret SECRETS[] = { { "env:KEY",
                                                 "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
                                               { "env:SHORT", "whsec_MfKQ" },
                                               { "env:URL", "http://127.0.0.1:9/s3cret" } };

static struct {
    struct hook_server *server;
    struct fixed_secrets secrets;
    struct virtual_clock clock;
    struct arena arena;
    struct bus_spec spec;
    struct bus *bus;
    struct bus_receipt receipts[16];
    struct error err;
    int status; /* of the answers */
    const char *headers;
} rig;

static int answer(void *context, const struct hook_request *request, const char **headers)
{
    (void)context;
    *headers = rig.headers;
    /* The first message of a call gets the status, the others are taken. */
    return str_eq(hook_header(request, "patra-version"), STR("1")) ? rig.status : 204;
}

static void begin(const char *settings)
{
    struct fault_list faults;
    struct str text;

    memset(&rig, 0, sizeof(rig));
    rig.status = 200;
    rig.headers = "";
    arena_init(&rig.arena, (size_t)64 << 20);
    virtual_clock_init(&rig.clock, INT64_C(1790000000000000));
    fixed_secrets_init(&rig.secrets, SECRETS, ARRAY_LEN(SECRETS));
    rig.server = hook_server_start(answer, NULL);
    text = arena_printf(&rig.arena, "bus: hook\ntype: webhook\nallow_plain: true\n%s", settings);
    if (strstr(settings, "url:") == NULL)
        text = arena_printf(&rig.arena, "%.*surl: http://127.0.0.1:%d/hook\n", STR_ARG(text),
                            hook_server_port(rig.server));
    fault_list_init(&faults, &rig.arena);
    REQUIRE(bus_read(&rig.arena, text, &faults, &rig.spec), "the file is right");
    REQUIRE_OK(bus_open(&(struct bus_parts){ &rig.spec, &rig.secrets.source, &rig.clock.clock },
                        &rig.bus, &rig.err),
               rig.err);
}

static void end(void)
{
    bus_close(rig.bus);
    hook_server_end(rig.server);
    arena_release(&rig.arena);
}

static bool publish(size_t count)
{
    struct bus_message messages[16];

    for (size_t i = 0; i < count; i++)
        messages[i] = (struct bus_message){ .event_id = arena_printf(&rig.arena, "id-%zu", i),
                                            .key = arena_printf(&rig.arena, "k/%zu", i),
                                            .version = (int64_t)i + 1,
                                            .content_type = STR("application/json"),
                                            .body = STR("{\"test\": 2432232314}") };
    rig.err = (struct error){ 0 };
    return bus_publish(
        rig.bus, &rig.arena,
        &(struct bus_publish){
            .messages = messages, .count = count, .timeout_us = 20 * US_PER_SECOND, .wake_fd = -1 },
        rig.receipts, &rig.err);
}

static const struct {
    int status;
    enum bus_outcome outcome;
    const char *code; /* of the call; "": it succeeds */
    enum error_level level;
} statuses[] = {
    { 200, BUS_ACKED, "", ERROR_NONE },
    { 202, BUS_ACKED, "", ERROR_NONE },
    { 204, BUS_ACKED, "", ERROR_NONE },
    { 301, BUS_RETRY, "bus.missing", ERROR_FATAL },
    { 307, BUS_RETRY, "bus.missing", ERROR_FATAL },
    { 400, BUS_REFUSED, "", ERROR_NONE },
    { 401, BUS_RETRY, "bus.auth", ERROR_FATAL },
    { 403, BUS_RETRY, "bus.auth", ERROR_FATAL },
    { 404, BUS_REFUSED, "", ERROR_NONE },
    { 408, BUS_RETRY, "bus.busy", ERROR_TRANSIENT },
    { 409, BUS_REFUSED, "", ERROR_NONE },
    { 410, BUS_RETRY, "bus.missing", ERROR_FATAL },
    { 413, BUS_REFUSED, "", ERROR_NONE },
    { 422, BUS_REFUSED, "", ERROR_NONE },
    { 425, BUS_RETRY, "bus.busy", ERROR_TRANSIENT },
    { 429, BUS_RETRY, "bus.busy", ERROR_TRANSIENT },
    { 500, BUS_RETRY, "", ERROR_NONE },
    { 502, BUS_RETRY, "bus.busy", ERROR_TRANSIENT },
    { 503, BUS_RETRY, "bus.busy", ERROR_TRANSIENT },
    { 504, BUS_RETRY, "bus.busy", ERROR_TRANSIENT },
};

TEST(each_status_means_what_the_manual_says)
{
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        char label[32];
        bool ok;

        begin("auth: { signing: env:KEY }\n");
        (void)snprintf(label, sizeof(label), "%d", statuses[i].status);
        rig.status = statuses[i].status;
        ok = publish(2);
        CHECK_EQ(ok, statuses[i].code[0] == '\0', label);
        CHECK_EQ(rig.receipts[0].outcome, statuses[i].outcome, label);
        if (ok)
            CHECK_EQ(rig.receipts[1].outcome, BUS_ACKED, label);
        else {
            CHECK_STR(str_of(rig.err.code), str_of(statuses[i].code), label);
            CHECK_EQ(rig.err.level, statuses[i].level, label);
        }
        end();
    }
}

TEST(a_receiver_that_asks_for_time_gets_it)
{
    begin("auth: { signing: env:KEY }\n");
    rig.status = 429;
    rig.headers = "Retry-After: 7\r\n";
    CHECK(!publish(1), "busy");
    CHECK_EQ(hook_server_posts(rig.server), 1, "sent");
    rig.status = 200;
    virtual_clock_advance(&rig.clock, 6 * US_PER_SECOND);
    CHECK(!publish(1), "not yet");
    CHECK_STR(str_of(rig.err.code), STR("bus.busy"), "why");
    CHECK_EQ(hook_server_posts(rig.server), 1, "and nothing was sent");
    virtual_clock_advance(&rig.clock, 2 * US_PER_SECOND);
    REQUIRE_OK(publish(1), rig.err);
    CHECK_EQ(hook_server_posts(rig.server), 2, "now");
    end();
}

/* ---- signatures ---- */

/* The example of docs/buses.md, as a program. */
static const char *example(void)
{
    static char path[300];
    const struct str manual = test_read("docs/buses.md");
    const size_t begin_at = str_find(manual, STR("```python\n")) + 10;
    struct str code = str_slice(manual, begin_at, manual.len);
    FILE *file;

    code = str_slice(code, 0, str_find(code, STR("```")));
    REQUIRE(code.len > 100, "the manual has it");
    (void)snprintf(path, sizeof(path), "%s/verify.py", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    (void)fprintf(file,
                  "%.*s\nimport sys\n"
                  "headers = {'webhook-id': sys.argv[2], 'webhook-timestamp': sys.argv[3],\n"
                  "           'webhook-signature': sys.argv[4]}\n"
                  "time.time = lambda: float(sys.argv[6])\n"
                  "print(verify(sys.argv[1], headers, sys.argv[5].encode()))\n",
                  STR_ARG(code));
    (void)fclose(file);
    return path;
}

static bool verifies(const struct hook_request *request, const char *key, const char *body,
                     const char *now)
{
    const struct str id = arena_copy(&rig.arena, hook_header(request, "webhook-id"));
    const struct str at = arena_copy(&rig.arena, hook_header(request, "webhook-timestamp"));
    const struct str sum = arena_copy(&rig.arena, hook_header(request, "webhook-signature"));
    const struct run run =
        RUN("/usr/bin/python3", example(), key, id.data, at.data, sum.data, body, now);

    CHECK_EQ(run.code, 0, "the example runs");
    return str_starts(run.out, STR("True"));
}

TEST(the_example_of_the_manual_verifies_what_is_sent)
{
    const char *key = SECRETS[0].value;
    const char *body = "{\"test\": 2432232314}";
    struct hook_request request;

    begin("auth: { signing: env:KEY }\n");
    REQUIRE_OK(publish(1), rig.err);
    REQUIRE(hook_server_count(rig.server) == 1, "it came");
    request = hook_server_request(rig.server, 0);
    CHECK_STR(hook_header(&request, "webhook-timestamp"), STR("1790000000"), "the clock's time");
    CHECK(verifies(&request, key, body, "1790000100"), "as it was sent");
    CHECK(!verifies(&request, key, "{\"test\": 2432232315}", "1790000100"), "another body");
    CHECK(!verifies(&request, "whsec_AAAA", body, "1790000100"), "another key");
    CHECK(!verifies(&request, key, body, "1790000900"), "too late");
    end();
}

TEST(a_key_that_is_too_short_signs_nothing)
{
    begin("auth: { signing: env:SHORT }\n");
    CHECK(!publish(1), "refused");
    CHECK_STR(str_of(rig.err.code), STR("bus.auth"), "why");
    CHECK_EQ(rig.err.level, ERROR_FATAL, "a person must look");
    CHECK(strstr(rig.err.text, "MfKQ") == NULL, "the key is not shown");
    CHECK_EQ(hook_server_posts(rig.server), 0, "nothing was sent");
    end();
}

TEST(a_url_that_is_a_secret_is_not_shown)
{
    begin("url: env:URL\nauth: { signing: env:KEY }\n");
    CHECK(!publish(1), "nobody listens there");
    CHECK(strstr(rig.err.text, "s3cret") == NULL && strstr(rig.err.text, "127.0.0.1") == NULL,
          rig.err.text);
    CHECK(!bus_check(rig.bus, US_PER_SECOND, &rig.err), "nor for a check");
    CHECK(strstr(rig.err.text, "s3cret") == NULL && strstr(rig.err.text, "127.0.0.1") == NULL,
          rig.err.text);
    end();
}

TEST(an_attribute_that_is_no_header_refuses_its_message_alone)
{
    static const struct bus_attribute bad = { STR_INIT("a"), STR_INIT("x\r\nEvil: 1") };
    const struct bus_message messages[2] = {
        { .event_id = STR("1"), .key = STR("a"), .attributes = &bad, .attribute_count = 1 },
        { .event_id = STR("2"), .key = STR("b"), .version = 2, .body = STR("{}") },
    };

    begin("auth: { signing: env:KEY }\n");
    REQUIRE_OK(bus_publish(rig.bus, &rig.arena,
                           &(struct bus_publish){ .messages = messages,
                                                  .count = 2,
                                                  .timeout_us = 20 * US_PER_SECOND,
                                                  .wake_fd = -1 },
                           rig.receipts, &rig.err),
               rig.err);
    CHECK_EQ(rig.receipts[0].outcome, BUS_REFUSED, "the bad one");
    CHECK_EQ(rig.receipts[1].outcome, BUS_ACKED, "the other one");
    CHECK_EQ(hook_server_posts(rig.server), 1, "only that was sent");
    end();
}
