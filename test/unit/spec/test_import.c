/* Files of foreign outboxes: every fault with its place, the stored form, the manual. */
#include "spec/import.h"

#include "reference.h"
#include "test.h"

static struct import_spec read_ok(struct arena *arena, const char *file)
{
    struct fault_list faults;
    struct import_spec spec;

    fault_list_init(&faults, arena);
    CHECK(import_read(arena, str_of(file), &faults, &spec),
          faults.count > 0 ? faults.items[0].message.data : "read");
    return spec;
}

TEST(the_defaults_are_the_columns_of_the_seed)
{
    struct import_spec spec;
    struct arena arena;

    arena_init(&arena, 8 << 20);
    spec = read_ok(&arena, "outbox: app\ndatabase: env:APP\n");
    CHECK_STR(spec.name, STR("app"), "name");
    CHECK_STR(spec.table, STR("app_outbox"), "table");
    CHECK_STR(spec.columns.aggregate_id, STR("aggregate_id"), "a column");
    CHECK_STR(spec.columns.last_error, STR(""), "one that it does not have");
    CHECK_EQ(spec.payload, IMPORT_PAYLOAD_JSON, "payload");
    CHECK_EQ(spec.late, IMPORT_LATE_REFUSE, "late");
    CHECK_EQ(spec.page, 500, "page");
    CHECK_EQ(spec.poll_us, 1000000, "poll");
    arena_release(&arena);
}

TEST(all_faults_are_reported_at_once_each_with_its_place)
{
    static const char file[] = "databse: env:APP\n"
                               "table: .x\n"
                               "page: 0\n"
                               "poll: soon\n"
                               "payload: xml\n"
                               "columns:\n"
                               "  id: key\n"
                               "  version: key\n"
                               "  agregate_id: k\n"
                               "  payload: [a]\n";
    static const struct {
        const char *code;
        uint32_t line;
    } wanted[] = {
        { "import.missing", 0 }, { "import.missing", 0 }, { "import.key.unknown", 1 },
        { "import.table", 2 },   { "spec.range", 3 },     { "spec.type", 4 },
        { "spec.code", 5 },      { "import.column", 8 },  { "import.key.unknown", 9 },
        { "spec.type", 10 },
    };
    struct fault_list faults;
    struct import_spec spec;
    struct arena arena;

    arena_init(&arena, 8 << 20);
    fault_list_init(&faults, &arena);
    CHECK(!import_read(&arena, str_of(file), &faults, &spec), "refused");
    fault_list_sort(&faults);
    CHECK_EQ(faults.count, ARRAY_LEN(wanted), "as many as there are");
    for (size_t i = 0; i < faults.count; i++) {
        test_note("%s:%u %.*s", faults.items[i].code, faults.items[i].at.line,
                  STR_ARG(faults.items[i].message));
        if (i < ARRAY_LEN(wanted)) {
            CHECK_STR(str_of(faults.items[i].code), str_of(wanted[i].code), "code");
            CHECK_EQ(faults.items[i].at.line, wanted[i].line, "line");
        }
    }
    arena_release(&arena);
}

TEST(an_address_with_a_password_is_not_accepted)
{
    struct fault_list faults;
    struct import_spec spec;
    struct arena arena;

    arena_init(&arena, 8 << 20);
    fault_list_init(&faults, &arena);
    CHECK(!import_read(&arena, STR("outbox: app\ndatabase: postgresql://u:secret@h/d\n"), &faults,
                       &spec),
          "refused");
    REQUIRE(faults.count == 1, "one fault");
    CHECK_STR(str_of(faults.items[0].code), STR("spec.secret.literal"), "by this rule");
    CHECK(str_find(faults.items[0].message, STR("secret")) == faults.items[0].message.len,
          "without the address");
    arena_release(&arena);
}

TEST(the_stored_form_is_read_back_as_it_was)
{
    struct import_text text, again;
    struct import_spec spec, back;
    struct error err = { 0 };
    struct arena arena;

    arena_init(&arena, 8 << 20);
    spec = read_ok(&arena, "outbox: shop\ndatabase: file:/run/dsn\ntable: s.t\nlate: take\n"
                           "payload: bytes\npage: 7\npoll: 250ms\ntype_prefix: shop/\n"
                           "columns: { id: no, last_error: 'why \"not\"' }\n");
    REQUIRE_OK(import_compile(&arena, &spec, &text, &err), err);
    REQUIRE_OK(import_load(&arena, text.json, &back, &err), err);
    REQUIRE_OK(import_compile(&arena, &back, &again, &err), err);
    CHECK_STR(again.json, text.json, "the same");
    CHECK_EQ(back.poll_us, 250000, "a duration");
    CHECK_EQ(back.late, IMPORT_LATE_TAKE, "a word");
    CHECK_STR(back.columns.last_error, STR("why \"not\""), "a name");
    CHECK(!import_load(&arena, STR("{\"outbox\":1}"), &back, &err), "not any JSON");
    CHECK_EQ(err.level, ERROR_FATAL, "and that is for a person");
    arena_release(&arena);
}

TEST(the_manual_has_every_setting)
{
    reference_check("docs/foreign-outboxes.md", STR("## Settings\n\n"), import_manual_write);
}
