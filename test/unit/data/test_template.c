/* What compiles, what does not, and what a template says of itself. */
#include "data/template.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static struct arena arena;

static void begin(void)
{
    if (arena.limit == 0)
        arena_init(&arena, 4 << 20);
    arena_reset(&arena);
}

TEST(template_lists_what_it_uses_and_where)
{
    const struct str text = STR("a ${date(window.from)} b ${concat(expr.q, credential.key)}");
    static const struct {
        size_t offset;
        bool is_function;
        enum template_scope scope;
        const char *name;
    } uses[] = {
        { 4, true, 0, "date" },
        { 9, false, TEMPLATE_WINDOW, "from" },
        { 27, true, 0, "concat" },
        { 34, false, TEMPLATE_EXPR, "q" },
        { 42, false, TEMPLATE_CREDENTIAL, "key" },
    };
    struct template template;
    struct template_faults faults;
    struct error err;
    size_t count = 0;

    begin();
    REQUIRE_OK(template_compile(&template, &arena, text, &faults, &err), err);
    for (struct template_use *use = template.uses; use != NULL; use = use->next, count++) {
        REQUIRE(count < ARRAY_LEN(uses), "no more than these");
        CHECK_EQ(use->offset, uses[count].offset, uses[count].name);
        CHECK_EQ(use->is_function, uses[count].is_function, uses[count].name);
        CHECK(use->is_function || use->scope == uses[count].scope, uses[count].name);
        CHECK_STR(use->name, str_of(uses[count].name), "name");
    }
    CHECK_EQ(count, ARRAY_LEN(uses), "all of them");
    CHECK(template.is_secret && !template.is_single && !template.is_constant, "flags");
}

TEST(template_knows_its_shape)
{
    static const struct {
        const char *text;
        bool single, constant, secret, list;
    } cases[] = {
        { "", false, true, false, false },
        { "plain $ text } with { $x", false, true, false, false },
        { "$${not.this}", false, true, false, false },
        { "${page.no}", true, false, false, false },
        { " ${page.no}", false, false, false, false },
        { "${page.no}${page.size}", false, false, false, false },
        { "${credential.key}", true, false, true, false },
        { "${upper(default(credential.key, \"x\"))}", true, false, true, false },
        { "${ids.list}", true, false, false, true },
        { "${join(ids.list, ',')}", true, false, false, false },
        { "${ size ( ids.list ) }", true, false, false, false },
    };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct template t;
        struct template_faults faults;
        struct error err;

        REQUIRE_OK(template_compile(&t, &arena, str_of(cases[i].text), &faults, &err), err);
        CHECK_EQ(t.is_single, cases[i].single, cases[i].text);
        CHECK_EQ(t.is_constant, cases[i].constant, cases[i].text);
        CHECK_EQ(t.is_secret, cases[i].secret, cases[i].text);
        CHECK_EQ(t.has_list, cases[i].list, cases[i].text);
    }
}

TEST(template_faults_have_an_offset_and_a_hint)
{
    static const struct {
        const char *template;
        size_t offset;
        const char *text;
        const char *hint;
    } cases[] = {
        { "ab${", 4, "missing", "for example" },
        { "ab${}", 4, "missing", "for example" },
        { "ab${page.no", 2, "closing }", "" },
        { "${page.no x}", 10, "\"x\" is not allowed here", "" },
        { "${page.}", 7, "name is missing", "" },
        { "${rows}", 2, "no scope", "expr.rows" },
        { "${pge.no}", 2, "unknown scope \"pge\"", "page" },
        { "${system.env}", 2, "unknown scope", "slice, window, page" },
        { "${page.nmber}", 2, "page has no variable \"nmber\"", "there are " },
        { "${page.tokne}", 2, "no variable", "token" },
        { "${window.form}", 2, "no variable", "from" },
        { "${dat(window.from)}", 2, "unknown function \"dat\"", "date" },
        { "${system('ls')}", 2, "unknown function", "" },
        { "${window.from[0]}", 13, "\"[\" is not allowed here", "" },
        { "${date()}", 2, "0 arguments", "date(instant)" },
        { "${date(window.from, window.to)}", 2, "2 arguments", "date(instant)" },
        { "${date(page.no)}", 7, "argument 1", "" },
        { "${date(\"2001\")}", 7, "argument 1", "" },
        { "${join(page.token, \",\")}", 7, "argument 1", "" },
        { "${concat(\"a\", ids.list)}", 14, "argument 2", "" },
        { "${formatDateTime(window.from, \"YYYY\")}", 30, "unknown field", "" },
        { "${formatDateTime(window.from, expr.p)}", 30, "in quotes", "" },
        { "${plus(window.from, \"1\")}", 20, "not a duration", "" },
        { "${jsonPath(history.x, \"a.b\")}", 22, "JSONPath", "" },
        { "${concat(\"a\" \"b\")}", 13, "comma or )", "" },
        { "${concat(\"a\",)}", 13, "missing", "" },
        { "${\"abc}", 2, "not closed by its quote", "" },
        { "${\"a\\n\"}", 4, "unknown escape", "" },
        { "${99999999999999999999}", 2, "64 bits", "quotes" },
        { "${-}", 2, "64 bits", "" },
        { "${${page.no}}", 2, "missing", "" },
        { "${page.no + 1}", 10, "\"+\" is not allowed here", "" },
    };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct template template;
        struct template_faults faults;
        struct error err = { 0 };
        const struct str text = str_of(cases[i].template);

        CHECK(!template_compile(&template, &arena, text, &faults, &err), cases[i].template);
        CHECK_STR(str_of(err.code), STR("template.syntax"), cases[i].template);
        REQUIRE(faults.count >= 1, cases[i].template);
        CHECK_EQ(faults.items[0].offset, cases[i].offset, cases[i].template);
        CHECK(str_find(faults.items[0].text, str_of(cases[i].text)) < faults.items[0].text.len,
              faults.items[0].text.data);
        CHECK(cases[i].hint[0] == '\0' ||
                  str_find(faults.items[0].hint, str_of(cases[i].hint)) < faults.items[0].hint.len,
              cases[i].template);
    }
}

TEST(template_faults_are_told_all_at_once)
{
    const struct str text =
        STR("${pge.no} ${date(page.no)} ok ${page.no} ${x} ${dat(window.form, epc.h)} ${\"}\"} ${");
    static const size_t offsets[] = { 2, 17, 43, 48, 52, 65, 82 };
    struct template template;
    struct template_faults faults;
    struct error err;

    begin();
    CHECK(!template_compile(&template, &arena, text, &faults, &err), "refused");
    REQUIRE(faults.count == ARRAY_LEN(offsets), "each of them once");
    for (size_t i = 0; i < faults.count; i++)
        CHECK_EQ(faults.items[i].offset, offsets[i], faults.items[i].text.data);
}

TEST(template_faults_beyond_the_maximum_are_counted)
{
    char text[200];
    struct template template;
    struct template_faults faults;
    struct error err;

    for (size_t i = 0; i < 40; i++)
        memcpy(text + 4 * i, "${x}", 4);
    begin();
    CHECK(!template_compile(&template, &arena, (struct str){ text, 160 }, &faults, &err), "many");
    CHECK_EQ(faults.count, 40, "counted");
}

TEST(template_size_depth_and_length_are_limited)
{
    static char text[TEMPLATE_TEXT_MAX + 1];
    struct template template;
    struct template_faults faults;
    struct error err;
    size_t len = 0;

    begin();
    memset(text, 'x', sizeof(text));
    CHECK(!template_compile(&template, &arena, (struct str){ text, sizeof(text) }, &faults, &err),
          "too long");
    CHECK(
        template_compile(&template, &arena, (struct str){ text, sizeof(text) - 1 }, &faults, &err),
        "just short enough");
    for (int depth = TEMPLATE_DEPTH_MAX; depth <= TEMPLATE_DEPTH_MAX + 1; depth++) {
        len = (size_t)snprintf(text, sizeof(text), "${");
        for (int i = 1; i < depth; i++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "trim(");
        len += (size_t)snprintf(text + len, sizeof(text) - len, "expr.q");
        for (int i = 1; i < depth; i++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, ")");
        len += (size_t)snprintf(text + len, sizeof(text) - len, "}");
        CHECK_EQ(template_compile(&template, &arena, (struct str){ text, len }, &faults, &err),
                 depth <= TEMPLATE_DEPTH_MAX, "depth");
    }
    len = 0;
    for (int i = 0; i <= TEMPLATE_NODES_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "${1}");
    CHECK(!template_compile(&template, &arena, (struct str){ text, len }, &faults, &err), "nodes");
    CHECK(template_compile(&template, &arena, (struct str){ text, len - 4 }, &faults, &err),
          "nodes that just fit");
}

/* Every allocation fails once: an ordinary error, no fault, no crash. */
TEST(template_out_of_memory_is_no_fault_of_the_text)
{
    const struct str text = STR("a ${date(window.from)} ${concat(\"x\", expr.q)} ${dat(pag.no)}");

    for (size_t n = 1;; n++) {
        struct arena small;
        struct template template;
        struct template_faults faults;
        struct error err = { 0 };
        bool reached;

        arena_init(&small, 1 << 20);
        small.fail_at = n;
        CHECK(!template_compile(&template, &small, text, &faults, &err), "never compiles");
        reached = small.fail_at == 0;
        if (reached) {
            CHECK_STR(str_of(err.code), STR("memory.limit"), "out of memory");
            CHECK_EQ(faults.count, 0, "no fault");
        }
        arena_release(&small);
        if (!reached)
            break;
    }
}

TEST(template_tables_are_whole)
{
    for (size_t i = 0; i < TEMPLATE_SCOPES; i++) {
        size_t variables = 0;

        REQUIRE(template_scopes[i].name != NULL, "every scope has a row");
        CHECK(str_ends(str_of(template_scopes[i].help), STR(".")), template_scopes[i].name);
        for (size_t k = 0; k < template_variables_count; k++)
            variables += template_variables[k].scope == i;
        CHECK_EQ(variables == 0, template_scopes[i].free_names, template_scopes[i].name);
    }
    for (size_t i = 0; template_function(i) != NULL; i++) {
        CHECK(str_ends(str_of(template_function(i)->help), STR(".")), template_function(i)->name);
        CHECK(i == 0 || strcmp(template_function(i - 1)->name, template_function(i)->name) < 0,
              template_function(i)->name);
    }
    arena_release(&arena);
}
