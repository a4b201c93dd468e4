/* Files of receivers: what is refused, the stored form, the manual. */
#include "spec/alert_file.h"

#include "test.h"

static struct arena arena;
static struct fault_list faults;
static struct alert_receiver receiver;

static bool read_file(const char *text)
{
    arena_release(&arena);
    arena_init(&arena, (size_t)4 << 20);
    fault_list_init(&faults, &arena);
    return alert_file_read(&arena, str_of(text), &faults, &receiver);
}

static bool is_fault(const char *text, const char *code)
{
    return !read_file(text) && faults.count == 1 &&
           str_eq(str_of(faults.items[0].code), str_of(code));
}

#define HOOK "receiver: a\nform: webhook\nurl: https://x.org/h\n"
#define MAIL "receiver: a\nform: email\nurl: smtps://x.org\n"

TEST(what_cannot_work_is_refused)
{
    CHECK(read_file(HOOK), "a webhook");
    CHECK(is_fault(HOOK "colour: red\n", "alert.key.unknown"), "a key");
    CHECK(is_fault("receiver: a\nform: webhook\n", "alert.missing"), "no URL");
    CHECK(is_fault("receiver: a\nform: webhook\nurl: http://x.org\n", "alert.url"), "plain");
    CHECK(read_file("receiver: a\nform: webhook\nurl: http://x.org\nallow_plain: true\n"),
          "plain and allowed");
    CHECK(is_fault("receiver: a\nform: slack\nurl: smtps://x.org\n", "alert.url"), "a scheme");
    CHECK(read_file("receiver: a\nform: slack\nurl: env:SLACK\n"), "a reference");
    CHECK(is_fault(HOOK "to: [a@b.org]\n", "alert.form"), "to of a webhook");
    CHECK(is_fault(MAIL, "alert.missing"), "a mail to nobody");
    CHECK(is_fault(MAIL "from: a@b.org\nto: nobody\n", "alert.address"), "no address");
    CHECK(is_fault(MAIL "from: a@b.org\nto: c@d.org\nuser: u\n", "alert.missing"), "no password");
    CHECK(is_fault(MAIL "from: a@b.org\nto: c@d.org\nuser: u\npassword: hunter2\n",
                   "spec.secret.literal"),
          "a secret in the file");
    CHECK(is_fault(HOOK "rules: [cursor-behnd]\n", "alert.rule"), "a rule");
    CHECK(str_find(faults.items[0].hint, STR("cursor-behind")) < faults.items[0].hint.len, "near");
    CHECK(is_fault("[1]", "alert.type"), "no map");
    arena_release(&arena);
}

TEST(the_stored_form_is_read_back_as_it_was)
{
    struct str one, other;
    struct error err = { 0 };

    REQUIRE(read_file(MAIL "from: a@b.org\nto: [c@d.org, e@f.org]\nuser: env:U\npassword: env:P\n"
                           "severity: critical\nrules: [cursor-behind]\ntimeout: 5s\n"),
            "a mail");
    REQUIRE_OK(alert_file_compile(&arena, &receiver, &one, &err), err);
    REQUIRE_OK(alert_file_load(&arena, one, &receiver, &err), err);
    REQUIRE_OK(alert_file_compile(&arena, &receiver, &other, &err), err);
    CHECK_STR(other, one, "the same again");
    CHECK_EQ(receiver.to_count, 2, "both");
    CHECK_EQ(receiver.severity, ALERT_CRITICAL, "severity");
    CHECK(!alert_file_load(&arena, STR("{\"receiver\":1}"), &receiver, &err), "foreign");
    CHECK_STR(str_of(err.code), STR("alert.spec"), "code");
    arena_release(&arena);
}

TEST(the_manual_has_every_setting)
{
    const struct str manual = test_read("docs/alerts.md");
    struct buf out;

    arena_init(&arena, (size_t)4 << 20);
    buf_init(&out, &arena, 1 << 20);
    alert_manual_write(&out);
    CHECK(str_find(manual, buf_str(&out)) < manual.len, "docs/alerts.md has the table");
    if (str_find(manual, buf_str(&out)) == manual.len)
        test_note("%.*s", STR_ARG(buf_str(&out)));
    arena_release(&arena);
}

TEST(the_examples_are_right)
{
    static const char *const files[] = { "alerts/oncall.yaml", "alerts/mail.yaml" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        const struct str text = test_read(files[i]);

        REQUIRE(text.data != NULL, files[i]);
        CHECK(read_file(text.data), files[i]);
    }
    arena_release(&arena);
}
