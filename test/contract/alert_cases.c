/* Alerts over every store: notified once that something is wrong and once that it is over, to real
 * receivers on loopback, in virtual time. */
#include <string.h>
#include <unistd.h>

#include "adapter/alert_open.h"
#include "contract.h"
#include "data/base64.h"
#include "data/hash.h"
#include "data/url.h"
#include "engine/alert/deliver.h"
#include "engine/alert/settle.h"
#include "fixed_secret.h"
#include "hook_server.h"
#include "smtp_server.h"
#include "spec/alert_file.h"
#include "virtual_clock.h"

#define MINUTE (60 * INT64_C(1000000))

static const struct fixed_secret SECRETS[] = {
    { "env:KEY", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
    { "env:ROBOT", "SEC0123456789abcdef" },
    { "env:TOKEN", "t0p-s3cret-token" },
};

static struct {
    struct store *store;
    struct hook_server *server;
    struct smtp_server *mails;
    struct fixed_secrets secrets;
    struct virtual_clock clock;
    struct alert_sender *sender;
    struct alert_limits limits;
    struct alert_finding found[4];
    struct alert_finding_list list;
    int status; /* of the answers */
} rig;

static int answer(void *context, const struct hook_request *request, const char **headers)
{
    (void)context;
    (void)request;
    (void)headers;
    return rig.status;
}

static void begin(void)
{
    struct error err = { 0 };

    memset(&rig, 0, sizeof(rig));
    rig.store = contract_store();
    rig.status = 200;
    rig.server = hook_server_start(answer, NULL);
    rig.mails = smtp_server_start(250);
    rig.limits = alert_limits_default();
    virtual_clock_init(&rig.clock, NOW_US);
    fixed_secrets_init(&rig.secrets, SECRETS, ARRAY_LEN(SECRETS));
    REQUIRE_OK(alert_sender_open(&rig.secrets.source, &rig.clock.clock, &rig.sender, &err), err);
}

static void end(void)
{
    alert_sender_close(rig.sender);
    hook_server_end(rig.server);
    smtp_server_end(rig.mails);
    contract_end();
}

static void apply(const char *name, const char *form, const char *more)
{
    const int port =
        strcmp(form, "email") == 0 ? smtp_server_port(rig.mails) : hook_server_port(rig.server);
    const struct str text = arena_printf(
        contract_arena(),
        "receiver: %s\nform: %s\nurl: %s://127.0.0.1:%d/%s\nallow_plain: true\ntimeout: 2s\n%s",
        name, form, strcmp(form, "email") == 0 ? "smtp" : "http", port,
        strcmp(form, "email") == 0 ? "" : "hook", more);
    struct alert_receiver_row row = { .name = str_of(name),
                                      .applied_by = STR("ada"),
                                      .updated_us = NOW_US };
    struct alert_receiver receiver;
    struct fault_list faults;
    struct error err = { 0 };
    bool changed;

    fault_list_init(&faults, contract_arena());
    if (!alert_file_read(contract_arena(), text, &faults, &receiver))
        test_fail(__FILE__, __LINE__, "%.*s", STR_ARG(faults.items[0].message));
    REQUIRE_OK(alert_file_compile(contract_arena(), &receiver, &row.spec, &err), err);
    REQUIRE_OK(store_alert_receiver_apply(rig.store, &row, &changed, &err), err);
}

static int64_t now(void)
{
    return clock_now_us(&rig.clock.clock);
}

/* What is found from now on. */
static void find(const char *rule, const char *subject)
{
    struct alert_finding *finding = &rig.found[rig.list.count++];

    REQUIRE(alert_rule_find(str_of(rule), &finding->rule), rule);
    finding->subject = str_of(subject);
    finding->source = STR("crossref");
    finding->text = STR("crossref was stopped: status 401, ask jane.doe@example.org");
    rig.list.items = rig.found;
}

/* A look, after which everything that is due is sent. */
static struct alert_settled look(void)
{
    const struct alert_round round = {
        .findings = &rig.list, .limits = &rig.limits, .now_us = now(), .clear_us = 2 * MINUTE
    };
    struct alert_delivery delivery = { .store = rig.store,
                                       .arena = contract_arena(),
                                       .sender = rig.sender,
                                       .now_us = now(),
                                       .stop_fd = CLOCK_NO_WAKE,
                                       .clock = &rig.clock.clock };
    struct alert_delivered delivered;
    struct alert_settled settled;
    struct error err = { 0 };

    REQUIRE_OK(alert_settle(rig.store, contract_arena(), &round, &settled, &err), err);
    do {
        REQUIRE_OK(alert_deliver(&delivery, &delivered, &err), err);
    } while (delivered.sent > 0);
    return settled;
}

static size_t notified(void)
{
    return hook_server_count(rig.server);
}

/* Of the first alert that is listed. */
static struct alert_notice_list notices_of_first(void)
{
    const struct alert_query all = { .with_pending = true, .with_resolved = true, .limit = 10 };
    struct alert_notice_list notices;
    struct alert_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_alert_list(rig.store, contract_arena(), &all, &list, &err), err);
    REQUIRE(list.count > 0, "there is one");
    REQUIRE_OK(store_alert_notices(rig.store, contract_arena(), list.items[0].id, &notices, &err),
               err);
    return notices;
}

static struct str body(size_t i)
{
    return hook_server_request(rig.server, i).body;
}

static bool has(struct str text, const char *needle)
{
    return str_find(text, str_of(needle)) < text.len;
}

TEST(an_alert_is_told_once_when_it_begins_and_once_when_it_is_over)
{
    begin();
    apply("oncall", "webhook", "");
    find("source-stopped", "crossref");
    CHECK_EQ(look().fired, 1, "it fires at once");
    CHECK_EQ(notified(), 1, "notified");
    for (int i = 0; i < 30; i++) {
        virtual_clock_advance(&rig.clock, MINUTE);
        (void)look();
    }
    CHECK_EQ(notified(), 1, "not again while it lasts");
    CHECK(has(body(0), "\"kind\":\"FIRED\"") && has(body(0), "\"rule\":\"source-stopped\""),
          "what");
    CHECK(has(body(0), "docs/runbooks/source-stopped.md"), "where the page is");
    CHECK(has(body(0), "j***@example.org") && !has(body(0), "jane.doe"), "nobody's address");
    rig.list.count = 0;
    (void)look();
    CHECK_EQ(notified(), 1, "it may come back within two looks");
    find("source-stopped", "crossref");
    virtual_clock_advance(&rig.clock, MINUTE);
    (void)look();
    rig.list.count = 0;
    virtual_clock_advance(&rig.clock, MINUTE);
    (void)look();
    CHECK_EQ(notified(), 1, "and did");
    virtual_clock_advance(&rig.clock, MINUTE);
    CHECK_EQ(look().resolved, 1, "gone for two minutes");
    REQUIRE(notified() == 2, "notified");
    CHECK(has(body(1), "\"kind\":\"RESOLVED\"") && has(body(1), "resolvedAt"), "that it is over");
    virtual_clock_advance(&rig.clock, 60 * MINUTE);
    (void)look();
    CHECK_EQ(notified(), 2, "and nothing more");
    find("source-stopped", "crossref");
    (void)look();
    CHECK_EQ(notified(), 3, "when it begins again, it is another alert");
    end();
}

TEST(what_does_not_hold_long_enough_is_told_to_nobody)
{
    struct alert_list list;
    struct error err = { 0 };

    begin();
    apply("oncall", "webhook", "");
    find("error-rate", "crossref"); /* must hold for ten minutes */
    CHECK_EQ(look().fired, 0, "not yet");
    virtual_clock_advance(&rig.clock, 9 * MINUTE);
    CHECK_EQ(look().fired, 0, "not yet");
    rig.list.count = 0;
    (void)look();
    REQUIRE_OK(store_alert_list(rig.store, contract_arena(),
                                &(struct alert_query){
                                    .with_pending = true, .with_resolved = true, .limit = 10 },
                                &list, &err),
               err);
    CHECK_EQ(list.count, 0, "forgotten");
    find("error-rate", "crossref");
    (void)look();
    virtual_clock_advance(&rig.clock, 10 * MINUTE);
    CHECK_EQ(look().fired, 1, "ten minutes, from the beginning again");
    CHECK_EQ(notified(), 1, "notified");
    end();
}

TEST(a_receiver_that_is_down_is_told_later_in_order_and_once)
{
    struct alert_notice_list notices;

    begin();
    apply("oncall", "webhook", "");
    rig.status = 503;
    find("source-stopped", "crossref");
    (void)look();
    rig.list.count = 0;
    for (int i = 0; i < 20; i++) {
        virtual_clock_advance(&rig.clock, MINUTE);
        (void)look();
    }
    CHECK_EQ(notified(), 0, "it was down");
    CHECK(hook_server_posts(rig.server) >= 4 && hook_server_posts(rig.server) <= 20,
          "it was asked, ever more rarely");
    notices = notices_of_first();
    REQUIRE(notices.count == 2, "fired and resolved");
    CHECK(has(notices.items[0].last_error, "503") && notices.items[1].attempts == 0,
          "the end waits for the beginning");
    rig.status = 200;
    for (int i = 0; i < 10; i++) {
        virtual_clock_advance(&rig.clock, MINUTE);
        (void)look();
    }
    REQUIRE(notified() == 2, "both, once");
    CHECK(has(body(0), "FIRED") && has(body(1), "RESOLVED"), "in order");
    hook_server_stop(rig.server);
    find("source-stopped", "other");
    (void)look();
    hook_server_resume(rig.server);
    virtual_clock_advance(&rig.clock, MINUTE);
    (void)look();
    CHECK_EQ(notified(), 3, "nothing listened for a while");
    end();
}

TEST(a_silence_keeps_it_quiet_and_ends)
{
    const struct alert_silence silence = { .rule = STR("source-stopped"),
                                           .until_us = NOW_US + 30 * MINUTE,
                                           .reason = STR("known"),
                                           .created_by = STR("ada"),
                                           .created_us = NOW_US };
    struct error err = { 0 };
    int64_t id = 0;
    bool ended;

    begin();
    apply("oncall", "webhook", "");
    REQUIRE_OK(store_alert_silence(rig.store, &silence, &id, &err), err);
    find("source-stopped", "crossref");
    find("subscription-stopped", "works");
    CHECK_EQ(look().fired, 2, "both fire");
    REQUIRE(notified() == 1, "the other rule is notified");
    CHECK(has(body(0), "subscription-stopped"), "which");
    virtual_clock_advance(&rig.clock, 31 * MINUTE);
    (void)look();
    REQUIRE(notified() == 2, "the silence is over, and it is still wrong");
    CHECK(has(body(1), "source-stopped"), "which");
    REQUIRE_OK(store_alert_silence_end(rig.store, id, now(), &ended, &err), err);
    CHECK(!ended, "it was over");
    end();
}

TEST(a_receiver_gets_what_it_wants)
{
    begin();
    apply("critical", "webhook", "severity: critical\n");
    apply("rules", "slack", "rules: [cursor-behind]\n");
    apply("elsewhere", "webhook", "sources: [pubmed]\n");
    rig.limits.of[ALERT_CURSOR_BEHIND].hold_us = 0;
    find("cursor-behind", "crossref harvest");
    find("source-stopped", "crossref");
    rig.limits.of[ALERT_QUEUE_LONG].is_off = true;
    find("queue-long", "crossref/works HARVEST");
    CHECK_EQ(look().fired, 2, "a rule that is off finds nothing");
    REQUIRE(notified() == 2, "one each");
    CHECK(has(body(0), "source-stopped") != has(body(1), "source-stopped"), "the critical one");
    CHECK(has(body(0), "cursor-behind") != has(body(1), "cursor-behind"), "the rule");
    end();
}

TEST(forms_are_as_their_receivers_want_them)
{
    struct hook_request request;
    char key[64], want[HASH_BYTES], got[64];
    struct str query, stamp, sign, id;
    int signed_ones = 0;
    struct hash_sum sum;
    struct error err = { 0 };
    size_t len = 0, sign_len = 0;

    begin();
    hook_server_say(rig.server, "{\"errcode\":0,\"errmsg\":\"ok\"}");
    apply("ding", "dingtalk", "signing: env:ROBOT\n");
    find("source-stopped", "crossref");
    (void)look();
    REQUIRE(notified() == 1, "notified");
    request = hook_server_request(rig.server, 0);
    CHECK(has(request.body, "{\"msgtype\":\"text\",\"text\":{\"content\":\"[patra critical]"),
          "form");
    query = request.head;
    (void)str_cut(&query, '?');
    query = str_cut(&query, ' ');
    REQUIRE(url_query_find(contract_arena(), query, STR("timestamp"), &stamp) &&
                url_query_find(contract_arena(), query, STR("sign"), &sign),
            "signed");
    REQUIRE_OK(
        hash_hmac(STR("SEC0123456789abcdef"),
                  arena_printf(contract_arena(), "%.*s\nSEC0123456789abcdef", STR_ARG(stamp)), &sum,
                  &err),
        err);
    REQUIRE(base64_decode(sign, got, sizeof(got), &sign_len), "base64");
    memcpy(want, sum.bytes, sizeof(want));
    CHECK(sign_len == sizeof(want) && memcmp(got, want, sizeof(want)) == 0, "by the robot's key");

    apply("ding", "dingtalk", "description: changed\n");
    rig.list.count = 0;
    apply("chat", "slack", "");
    apply("json", "webhook", "token: env:TOKEN\nsigning: env:KEY\n");
    find("source-stopped", "other");
    (void)look();
    REQUIRE(notified() == 6, "of the new one three, of the one that is open two");
    for (size_t i = 1; i < 6; i++) {
        request = hook_server_request(rig.server, i);
        if (hook_header(&request, "webhook-signature").len == 0)
            continue;
        CHECK_STR(hook_header(&request, "authorization"), STR("Bearer t0p-s3cret-token"), "token");
        id = hook_header(&request, "webhook-id");
        CHECK(str_starts(id, STR("alert-")) && str_ends(id, STR("-fired")), "id");
        signed_ones++;
        REQUIRE(base64_decode(STR("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), key, sizeof(key), &len),
                "key");
        REQUIRE_OK(hash_hmac((struct str){ key, len },
                             arena_printf(contract_arena(), "%.*s.%.*s.%.*s", STR_ARG(id),
                                          STR_ARG(hook_header(&request, "webhook-timestamp")),
                                          STR_ARG(request.body)),
                             &sum, &err),
                   err);
        sign = hook_header(&request, "webhook-signature");
        REQUIRE(base64_decode(str_slice(sign, 3, sign.len), got, sizeof(got), &sign_len), "base64");
        CHECK(memcmp(got, sum.bytes, HASH_BYTES) == 0, "as Standard Webhooks says");
    }
    CHECK_EQ(signed_ones, 2, "with a key and a token");
    end();
}

TEST(dingtalk_that_says_no_with_200_is_told_again)
{
    struct alert_notice_list notices;

    begin();
    hook_server_say(rig.server, "{\"errcode\":310000,\"errmsg\":\"keywords not in content\"}");
    apply("ding", "dingtalk", "");
    find("source-stopped", "crossref");
    (void)look();
    notices = notices_of_first();
    REQUIRE(notices.count == 1, "one");
    CHECK(notices.items[0].sent_us == 0 && has(notices.items[0].last_error, "310000"), "refused");
    end();
}

TEST(a_mail_is_taken_and_one_that_is_not_is_sent_again)
{
    struct smtp_mail mail;
    struct str lines, coded = { 0 };
    char text[4096];
    struct buf all;
    size_t len = 0;

    begin();
    smtp_server_answer(rig.mails, 451);
    apply("mail", "email", "from: patra@example.org\nto: [a@example.org, b@example.org]\n");
    find("source-stopped", "crossref");
    (void)look();
    CHECK_EQ(smtp_server_count(rig.mails), 0, "the server was busy");
    smtp_server_answer(rig.mails, 250);
    virtual_clock_advance(&rig.clock, MINUTE);
    (void)look();
    REQUIRE(smtp_server_count(rig.mails) == 1, "taken");
    mail = smtp_server_mail(rig.mails, 0);
    CHECK(has(mail.envelope, "<patra@example.org>") && has(mail.envelope, "<a@example.org>") &&
              has(mail.envelope, "<b@example.org>"),
          "from whom, to whom");
    CHECK(has(mail.data, "-fired@patra>\r\n"), "the same whenever sent");
    CHECK(has(mail.data, "Subject: =?UTF-8?B?W3BhdHJhIGNyaXRpY2Fs"), "[patra critical");
    lines = str_slice(mail.data, str_find(mail.data, STR("\r\n\r\n")) + 4, mail.data.len);
    buf_init(&all, contract_arena(), sizeof(text));
    while (lines.len > 0)
        buf_add(&all, str_trim(str_cut(&lines, '\n')));
    coded = buf_str(&all);
    REQUIRE(base64_decode(coded, text, sizeof(text), &len), "base64");
    CHECK(has((struct str){ text, len }, "crossref was stopped") &&
              has((struct str){ text, len }, "docs/runbooks/source-stopped.md"),
          "what, and where the page is");
    end();
}

TEST(no_text_has_a_secret)
{
    struct alert_notice_list notices;

    begin();
    rig.status = 401;
    apply("json", "webhook", "token: env:TOKEN\n");
    find("source-stopped", "crossref");
    (void)look();
    notices = notices_of_first();
    REQUIRE(notices.count == 1, "one");
    CHECK(has(notices.items[0].last_error, "401"), "why");
    CHECK(!has(notices.items[0].last_error, "t0p") && !has(notices.items[0].last_error, "hook"),
          "neither token nor URL");
    end();
}

/* ---- several processes ---- */

enum { PROCESSES = 6 };

/* Each looks and sends as if it had the turn. Returns how many it sent. */
static int look_and_send(int index, const char *dsn)
{
    const struct alert_round round = {
        .findings = &rig.list, .limits = &rig.limits, .now_us = NOW_US, .clear_us = 2 * MINUTE
    };
    struct alert_delivery delivery = { .arena = contract_arena(),
                                       .now_us = NOW_US,
                                       .stop_fd = CLOCK_NO_WAKE,
                                       .clock = &rig.clock.clock };
    struct alert_delivered delivered = { 0 };
    struct alert_settled settled;
    struct error err = { 0 };
    bool ok;

    (void)index;
    delivery.store = contract_open(dsn);
    ok = alert_sender_open(&rig.secrets.source, &rig.clock.clock, &delivery.sender, &err) &&
         alert_settle(delivery.store, contract_arena(), &round, &settled, &err) &&
         alert_deliver(&delivery, &delivered, &err);
    if (!ok)
        test_note("%s", err.text);
    alert_sender_close(delivery.sender);
    store_close(delivery.store);
    return ok ? (int)delivered.sent : -1;
}

TEST(of_many_processes_one_sends_a_notice)
{
    const char *dsn;

    begin();
    alert_sender_close(rig.sender);
    rig.sender = NULL;
    dsn = contract_ready_database();
    rig.store = contract_open(dsn);
    apply("oncall", "webhook", "");
    store_close(rig.store);
    find("source-stopped", "crossref");
    find("subscription-stopped", "works");
    CHECK_EQ(contract_processes(PROCESSES, look_and_send, dsn), 2, "sent by all together");
    CHECK_EQ(notified(), 2, "received");
    end();
}

TEST(one_process_has_the_turn_until_it_dies)
{
    struct error err = { 0 };
    bool mine;

    begin();
    for (int i = 0; i < 3; i++) {
        const struct alert_turn a = { STR("a"), NOW_US + i * MINUTE, 2 * MINUTE };
        const struct alert_turn b = { STR("b"), NOW_US + i * MINUTE, 2 * MINUTE };

        REQUIRE_OK(store_alert_turn(rig.store, &a, &mine, &err), err);
        CHECK(mine, "it renews");
        REQUIRE_OK(store_alert_turn(rig.store, &b, &mine, &err), err);
        CHECK(!mine, "the other waits");
    }
    REQUIRE_OK(store_alert_turn(rig.store,
                                &(struct alert_turn){ STR("b"), NOW_US + 5 * MINUTE, 2 * MINUTE },
                                &mine, &err),
               err);
    CHECK(mine, "the first one is dead");
    end();
}
