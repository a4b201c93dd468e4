/* Bus files: every fault with its place, the stored form, the manual. */
#include "spec/bus.h"

#include <string.h>

#include "reference.h"
#include "spec/bus_setting.h"
#include "test.h"

static const char NATS[] = "bus: works\n"
                           "type: nats\n"
                           "address: tls://nats.example.org:4222\n"
                           "stream: PATRA\n"
                           "subject: patra.works.${lane}\n";

static struct {
    struct arena arena;
    struct fault_list faults;
    struct bus_spec spec;
    struct bus_text text;
    struct error err;
} rig;

static bool read_text(const char *file)
{
    arena_release(&rig.arena);
    arena_init(&rig.arena, 16 << 20);
    fault_list_init(&rig.faults, &rig.arena);
    return bus_read(&rig.arena, arena_copy(&rig.arena, str_of(file)), &rig.faults, &rig.spec);
}

static void end(void)
{
    arena_release(&rig.arena);
}

/* All faults of a file, as lint prints them, without hints. */
static struct str faults_of(const char *file)
{
    struct buf out;

    (void)!read_text(file);
    fault_list_sort(&rig.faults);
    buf_init(&out, &rig.arena, 1 << 16);
    for (size_t i = 0; i < rig.faults.count; i++) {
        const struct fault *fault = &rig.faults.items[i];

        buf_printf(&out, "%u:%u %s\n", fault->at.line, fault->at.column, fault->code);
    }
    return buf_str(&out);
}

TEST(shipped_buses_have_no_faults)
{
    static const char *const files[] = { "buses/nats.yaml", "buses/webhook.yaml",
                                         "buses/kafka.yaml", "buses/pubsub.yaml" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        const struct str text = test_read(files[i]);

        REQUIRE(text.data != NULL, files[i]);
        arena_release(&rig.arena);
        arena_init(&rig.arena, 16 << 20);
        fault_list_init(&rig.faults, &rig.arena);
        CHECK(bus_read(&rig.arena, text, &rig.faults, &rig.spec), files[i]);
        CHECK_EQ(rig.faults.count, 0, files[i]);
    }
    end();
}

TEST(every_fault_is_told_at_once_with_its_place)
{
    CHECK_STR(faults_of("bus: 9x\n"
                        "type: nats\n"
                        "adress: x\n"
                        "address: [nats://user:pw@h:4222, nats://h:4222, x]\n"
                        "stream: PA.TRA\n"
                        "subject: a.*.b\n"
                        "url: https://x\n"
                        "auth: { password: hunter2, token: env:X }\n"
                        "retry: { first: 1h, max: 1s }\n"
                        "batch: [1]\n"
                        "message_max: 5\n"),
              STR("1:6 spec.name\n"
                  "3:1 bus.key.unknown\n"
                  "4:10 bus.secret.literal\n"
                  "4:10 bus.plain\n"
                  "4:10 bus.address\n"
                  "5:9 spec.name\n"
                  "6:10 bus.subject\n"
                  "7:6 bus.key.other-type\n"
                  "8:19 spec.secret.literal\n"
                  "8:19 bus.auth\n"
                  "8:35 bus.auth\n"
                  "9:17 bus.retry\n"
                  "10:8 bus.type\n"
                  "11:14 spec.range\n"),
              "one file, all of them");
    for (size_t i = 0; i < rig.faults.count; i++) {
        const struct str message = rig.faults.items[i].message;

        CHECK(str_find(message, STR("hunter2")) == message.len, "no secret is quoted");
        CHECK(str_find(message, STR("pw")) == message.len, "nor one in an address");
    }
    end();
}

static const struct {
    const char *label;
    const char *file;
    const char *faults;
} wrong[] = {
    { "nothing", "", "1:1 yaml.empty\n" },
    { "a list", "- a\n", "1:1 bus.type\n" },
    { "no name", "type: webhook\nurl: https://h/x\nauth: { signing: env:K }\n",
      "1:1 bus.required\n" },
    { "no type", "bus: x\n", "1:6 bus.required\n" },
    { "a type that is none", "bus: x\ntype: rabbit\n", "2:7 spec.code\n" },
    { "nothing that nats needs", "bus: x\ntype: nats\n",
      "1:6 bus.required\n1:6 bus.required\n1:6 bus.required\n" },
    { "plain http", "bus: x\ntype: webhook\nurl: http://h/x\nauth: { signing: env:K }\n",
      "3:6 bus.plain\n" },
    { "a user in the URL",
      "bus: x\ntype: webhook\nurl: https://u:p@h/x\nauth: { signing: env:K }\n",
      "3:6 spec.secret.literal\n" },
    { "an unsigned webhook is warned of", "bus: x\ntype: webhook\nurl: env:URL\n",
      "1:6 bus.unsigned\n" },
    { "a lane twice",
      "bus: x\ntype: nats\naddress: tls://h\nstream: S\nsubject: a.${lane}.${lane}\n",
      "5:10 bus.subject\n" },
    { "no lane", "bus: x\ntype: nats\naddress: tls://h\nstream: S\nsubject: a.b\n",
      "5:10 bus.subject\n" },
    { "an empty token", "bus: x\ntype: nats\naddress: tls://h\nstream: S\nsubject: a..${lane}\n",
      "5:10 bus.subject\n" },
    { "a port that is none", "bus: x\ntype: kafka\naddress: h:99999\ntopic: t\n",
      "3:10 bus.address\n" },
    { "no port", "bus: x\ntype: kafka\naddress: h\ntopic: t\n", "3:10 bus.address\n" },
    { "half a certificate", "bus: x\ntype: kafka\naddress: h:1\ntopic: t\ntls: { key: env:K }\n",
      "5:13 bus.auth\n" },
    { "a relative path", "bus: x\ntype: kafka\naddress: h:1\ntopic: t\ntls: { ca: ca.pem }\n",
      "5:12 bus.path\n" },
    { "a topic with a space", "bus: x\ntype: pubsub\nproject: p\ntopic: a b\n", "4:8 bus.name\n" },
};

TEST(each_rule_of_a_bus_is_kept)
{
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        CHECK_STR(faults_of(wrong[i].file), str_of(wrong[i].faults), wrong[i].label);
    end();
}

TEST(the_stored_form_is_the_file_with_its_defaults)
{
    struct bus_spec back;
    struct bus_text again;

    REQUIRE(read_text(NATS), "it is right");
    REQUIRE_OK(bus_compile(&rig.arena, &rig.spec, &rig.text, &rig.err), rig.err);
    CHECK_STR(rig.text.json,
              STR("{\"address\":[\"tls://nats.example.org:4222\"],\"allow_plain\":false,"
                  "\"batch\":{\"bytes\":8388608,\"events\":4000},\"bus\":\"works\","
                  "\"cloudevents\":\"NONE\",\"create\":{\"dedup\":\"10m\",\"keep\":\"1w\","
                  "\"replicas\":1,\"storage\":\"FILE\"},\"format\":\"JSON\","
                  "\"on_failure\":\"WAIT\",\"order\":\"KEY\",\"read\":{\"bytes\":16777216,"
                  "\"hold\":\"30s\",\"messages\":1000},\"retry\":{"
                  "\"first\":\"1s\",\"max\":\"5m\"},\"start\":\"EARLIEST\",\"stream\":\"PATRA\","
                  "\"subject\":\"patra.works.${lane}\",\"timeout\":{\"connect\":\"10s\","
                  "\"publish\":\"30s\"},\"type\":\"NATS\"}"),
              "every value in effect");
    CHECK_EQ(strlen(rig.text.hash), 64, "a hash");
    REQUIRE_OK(bus_load(&rig.arena, rig.text.json, &back, &rig.err), rig.err);
    REQUIRE_OK(bus_compile(&rig.arena, &back, &again, &rig.err), rig.err);
    CHECK_STR(again.json, rig.text.json, "and back");
    CHECK_EQ(back.read.hold_us, 30000000, "a duration");
    CHECK_EQ(back.batch_bytes, 8388608, "a size");
    CHECK_EQ(back.address_count, 1, "a list");
    end();
}

TEST(a_stored_form_that_somebody_changed_is_refused)
{
    static const struct {
        const char *from;
        const char *to;
    } changes[] = {
        { "\"events\":4000", "\"events\":0" },
        { "\"events\":4000", "\"events\": 4000" },
        { "\"keep\":\"1w\"", "\"keep\":\"7d\"" },
        { "\"type\":\"NATS\"", "\"type\":\"nats\"" },
        { "\"bus\":\"works\"", "\"bus\":\"works\",\"x\":1" },
        { "\"stream\":\"PATRA\",", "" },
        { "}", "" },
    };

    REQUIRE(read_text(NATS), "it is right");
    REQUIRE_OK(bus_compile(&rig.arena, &rig.spec, &rig.text, &rig.err), rig.err);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        const size_t at = str_find(rig.text.json, str_of(changes[i].from));
        const struct str changed = arena_printf(
            &rig.arena, "%.*s%s%.*s", STR_ARG(str_slice(rig.text.json, 0, at)), changes[i].to,
            STR_ARG(str_slice(rig.text.json, at + strlen(changes[i].from), rig.text.json.len)));
        struct bus_spec back;

        REQUIRE(at < rig.text.json.len, changes[i].from);
        CHECK(!bus_load(&rig.arena, changed, &back, &rig.err), changes[i].to);
        CHECK_STR(str_of(rig.err.code), STR("bus.spec"), changes[i].to);
        CHECK_EQ(rig.err.level, ERROR_FATAL, changes[i].to);
    }
    end();
}

TEST(a_difference_is_a_line_per_setting)
{
    struct bus_spec old;
    struct buf out;

    REQUIRE(read_text(NATS), "it is right");
    old = rig.spec;
    rig.spec.batch_events = 1000;
    rig.spec.message_bytes_max = 65536;
    old.description = STR("gone");
    buf_init(&out, &rig.arena, 4096);
    CHECK_EQ(bus_diff(&rig.arena, &old, &rig.spec, &out), 3, "three");
    CHECK_STR(buf_str(&out),
              STR("- description: gone\n~ batch.events: 4000 -> 1000\n+ message_max: 64KiB\n"),
              "as lines");
    end();
}

TEST(what_is_printed_is_a_file_of_the_same_bus)
{
    struct bus_text again;
    struct buf out;

    REQUIRE(read_text(NATS), "it is right");
    REQUIRE_OK(bus_compile(&rig.arena, &rig.spec, &rig.text, &rig.err), rig.err);
    buf_init(&out, &rig.arena, 1 << 16);
    bus_print(&rig.arena, &rig.spec, &out);
    REQUIRE(bus_read(&rig.arena, buf_str(&out), &rig.faults, &rig.spec), "it reads");
    REQUIRE_OK(bus_compile(&rig.arena, &rig.spec, &again, &rig.err), rig.err);
    CHECK_STR(again.json, rig.text.json, "the same");
    end();
}

TEST(every_setting_is_described)
{
    for (size_t i = 0; i < BUS_SETTING_COUNT; i++) {
        const struct bus_setting *row = &BUS_SETTINGS[i];

        CHECK(row->setting.help != NULL && row->setting.help[strlen(row->setting.help) - 1] == '.',
              row->setting.path);
        CHECK((row->required & ~row->types) == 0, row->setting.path);
        CHECK(bus_setting_find(str_of(row->setting.path)) == row, row->setting.path);
    }
}

TEST(a_bus_takes_the_events_that_it_names)
{
    const struct str sources[] = { STR_INIT("crossref") };
    const struct str endpoints[] = { STR_INIT("works"), STR_INIT("pubmed/articles") };
    const struct bus_events all = { 0 };
    const struct bus_events some = { .sources = sources, .source_count = 1 };
    const struct bus_events ends = { .endpoints = endpoints, .endpoint_count = 2 };

    CHECK(bus_events_take(&all, STR("x"), STR("y"), STR("z")), "all");
    CHECK(bus_events_take(&some, STR("crossref"), STR("y"), STR("z")), "the source");
    CHECK(!bus_events_take(&some, STR("pubmed"), STR("y"), STR("z")), "another one");
    CHECK(bus_events_take(&ends, STR("any"), STR("works"), STR("z")), "of any source");
    CHECK(bus_events_take(&ends, STR("pubmed"), STR("articles"), STR("z")), "of this one");
    CHECK(!bus_events_take(&ends, STR("other"), STR("articles"), STR("z")), "of this one alone");
}

TEST(the_reference_of_buses_is_what_the_program_says)
{
    reference_check("docs/buses.md",
                    STR("<!-- What follows is made from the table of the program; see "
                        "src/spec/bus_setting.h. -->\n"),
                    bus_manual_write);
}
