/* Containers of XPaths: where an empty list would be. */
#include "data/xml_container.h"

#include "data/xml.h"
#include "test.h"

static const struct {
    const char *path;
    const char *container;
} cases[] = {
    { "/feed/entry", "/feed" },
    { "/o:OAI-PMH/o:ListRecords/o:record", "/o:OAI-PMH/o:ListRecords" },
    { "/Set/Article | /Set/Book", "/Set | /Set" },
    { "/a/b//record", "" },
    { "//a/b/record", "//a/b" },
    { "/a/*/record", "" },
    { "/*/record", "" },
    { "/*/b/record", "/*/b" },
    { "/a[@x='/|]']/b[c/d]", "/a[@x='/|]']" },
    { "response/records/record", "response/records" },
    { "/*[local-name()='feed']/*[local-name()='entry']", "/*[local-name()='feed']" },
    { "/record", "/record" },
    { "//record", "" },
    { "//o:record", "" },
    { "record", "" },
    { "//record[@status='new']", "" },
    { "(/a/b | /c/d)[position() < 5]", "" },
    { "//*", "" },
};

TEST(a_container_is_the_path_without_its_last_step)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena arena;
        struct xml_container container;
        struct error err;

        arena_init(&arena, 1 << 20);
        REQUIRE_OK(xml_container(&arena, str_of(cases[i].path), &container, &err), err);
        CHECK_STR(container.path, str_of(cases[i].container), cases[i].path);
        arena_release(&arena);
    }
}

/* ---- what a container has ---- */

static const struct {
    const char *path;
    const char *body;
    bool is_strange;
} contents[] = {
    { "/s/l/n:r", "<s><l><r/></l></s>", true },
    { "/s/l/n:r", "<s><l><r/><x/></l></s>", true },
    { "/s/l/n:r", "<s><l><x/></l></s>", false },
    { "/s/l/n:r", "<s><l><x/><x/></l></s>", true },
    { "/s/l/n:r", "<s><l><x/><x/><y/></l></s>", false },
    { "/s/l/n:r", "<s><l><x/><x xmlns='urn:n'/></l></s>", false },
    { "/s/l/n:r", "<s><l/></s>", false },
    { "/s/l/n:r", "<s><l>text</l></s>", true },
    { "/s/l/n:r", "<s><l> <x/>\n</l></s>", false },
    { "/s/l/n:r", "<s>text<l/></s>", false },
    { "/s/l/n:r", "<s><l/><x/><x/></s>", false },
    /* one element, which is called an error */
    { "/s/l/r", "<s><l><error>busy</error></l></s>", true },
    { "/s/l/r", "<s><l><x/><e:Fault xmlns:e='urn:e'/></l></s>", true },
    { "/s/l/r", "<s><l><EXCEPTION code='1'/></l></s>", true },
    { "/s/l/r", "<s><l><terror/></l></s>", false },
    { "/s/l/error[@new]", "<s><l><error/></l></s>", false },
    /* a condition that no item meets */
    { "/s/l/r[@new]", "<s><l><r/><r/></l></s>", false },
    { "/s/l/r[@new]", "<s><l><r xmlns='urn:n'/></l></s>", true },
    /* several kinds of items */
    { "/s/a[@new] | /s/b[@new]", "<s><b/><b/></s>", false },
    { "/s/n:a | /s/n:b", "<s><b/></s>", true },
    { "/s/n:a | /s/n:b", "<s><c/><c/></s>", true },
    { "/s/r[@new] | /s/n:r", "<s><r/></s>", false },
    { "/s/a | /s/l/b", "<s><l/><l/></s>", false },
    /* the last step is not a name */
    { "/s/*[@new]", "<s><r/><r/></s>", false },
    { "/s/child::r", "<s><x/><x/></s>", false },
};

static bool finds(struct arena *arena, struct str path, const char *body)
{
    static const struct xml_namespace space = { STR_INIT("n"), STR_INIT("urn:n") };
    const struct xml *xml = &xml_module;
    struct xml_path *compiled;
    struct xml_doc *doc;
    struct error err;
    bool result = false;

    if (path.len == 0)
        return false;
    REQUIRE_OK(xml_open(xml, arena, &(struct xml_source){ .bytes = str_of(body) }, &doc, &err),
               err);
    REQUIRE_OK(xml_path_compile(xml, path, &space, 1, &compiled, &err), err);
    REQUIRE_OK(xml_test(xml, compiled, xml_root(xml, doc), &result, &err), err);
    xml_path_close(xml, compiled);
    xml_close(xml, doc);
    return result;
}

TEST(a_container_shows_that_it_is_not_an_empty_list)
{
    for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
        struct xml_container container;
        struct arena arena;
        struct error err;

        arena_init(&arena, 1 << 20);
        REQUIRE_OK(xml_container(&arena, str_of(contents[i].path), &container, &err), err);
        if (finds(&arena, container.strangers, contents[i].body) != contents[i].is_strange)
            test_fail(__FILE__, __LINE__, "%s in %s", contents[i].path, contents[i].body);
        arena_release(&arena);
    }
}
