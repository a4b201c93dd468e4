/* Reading YAML into a tree: values, places, and what is rejected. */
#include "spec/node.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static struct arena arena;
static struct fault_list faults;

static const struct node *read_text(struct str text)
{
    arena_release(&arena);
    arena_init(&arena, 8 << 20);
    fault_list_init(&faults, &arena);
    return node_read(&arena, text, &faults);
}

TEST(values_are_texts_even_if_they_look_like_numbers)
{
    const struct node *root =
        read_text(STR("a: no\nb: 010\nc: 2026-01-01\nd: ~\ne: 'x'\nf: \"\\n\"\n"));

    REQUIRE(root != NULL && faults.count == 0, "readable");
    CHECK_STR(node_get(root, STR("a"))->text, STR("no"), "not a truth value");
    CHECK_STR(node_get(root, STR("b"))->text, STR("010"), "not a number");
    CHECK_STR(node_get(root, STR("c"))->text, STR("2026-01-01"), "not a date");
    CHECK_STR(node_get(root, STR("d"))->text, STR("~"), "not null");
    CHECK_EQ(node_get(root, STR("d"))->style, NODE_PLAIN, "plain");
    CHECK_EQ(node_get(root, STR("e"))->style, NODE_SINGLE_QUOTED, "single quotes");
    CHECK_STR(node_get(root, STR("f"))->text, STR("\n"), "escapes are taken");
    CHECK(node_get(root, STR("g")) == NULL, "not there");
    arena_release(&arena);
}

TEST(every_key_and_value_knows_its_place)
{
    const struct node *root = read_text(STR("a:\n  b: [x, y]\n  c:\n    - d: z\n"));
    const struct node *a, *list;

    REQUIRE(root != NULL, "readable");
    a = node_get(root, STR("a"));
    CHECK_EQ(a->entries[0].at.line, 2, "key b, line");
    CHECK_EQ(a->entries[0].at.column, 3, "key b, column");
    CHECK_EQ(a->entries[0].value->entries[1].at.column, 10, "second of the list");
    list = node_get(a, STR("c"));
    CHECK_EQ(list->entries[0].value->entries[0].at.line, 4, "key d, line");
    CHECK_EQ(list->entries[0].value->entries[0].at.column, 7, "key d, column");
    CHECK_EQ(list->entries[0].value->entries[0].value->at.column, 10, "value z");
    arena_release(&arena);
}

/* The place of an @ in the file, counted in characters by hand. */
static struct mark place_of_at(struct str file)
{
    struct mark at = { 1, 1 };

    for (size_t i = 0; i < file.len && file.data[i] != '@'; i++) {
        if (file.data[i] == '\n')
            at = (struct mark){ at.line + 1, 1 };
        else if (((unsigned char)file.data[i] & 0xC0) != 0x80)
            at.column++;
    }
    return at;
}

TEST(a_byte_within_a_value_is_found_again_in_the_file)
{
    static const char *const files[] = {
        "k: ab@c",
        "k: 'ab@c'",
        "k: 'it''s @'",
        "k: \"ab@c\"",
        "k: \"a\\\"b\\\\@c\"",
        "k: \"\\u00e9@\"",
        "k: \"\\x41\\n@\"",
        "k: ä€𝄞@c",
        "x: y\nlonger:\n    k: [1, '', 'ä@']",
    };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        const struct str file = str_of(files[i]);
        const struct node *node = read_text(file);
        struct mark got, wanted = place_of_at(file);

        REQUIRE(node != NULL, files[i]);
        while (node->kind != NODE_SCALAR)
            node = node->entries[node->count - 1].value;
        got = node_mark(node, file, str_find_char(node->text, '@'));
        CHECK_EQ(got.line, wanted.line, files[i]);
        CHECK_EQ(got.column, wanted.column, files[i]);
    }
    arena_release(&arena);
}

static const struct {
    const char *text;
    const char *code;
    unsigned line, column;
    const char *hint; /* some of its words */
} refused[] = {
    { "", "yaml.empty", 1, 1, "source: crossref" },
    { "# nothing\n", "yaml.empty", 1, 1, "source" },
    { "a: 1\nb: 2\na: 3\n", "yaml.duplicate-key", 3, 1, "1:1" },
    { "a:\n\tb: 1\n", "yaml.syntax", 2, 1, "tab" },
    { "a: b: c\n", "yaml.syntax", 1, 5, "quote" },
    { "a: [1, 2\n", "yaml.syntax", 2, 1, "bracket" },
    { "a: \"x\n", "yaml.syntax", 2, 1, "quote" },
    { "a: @x\n", "yaml.syntax", 1, 4, "quote" },
    { "a: &x 1\n", "yaml.anchor", 1, 4, "top of the file" },
    { "a: *x\n", "yaml.alias", 1, 4, "quote" },
    { "a: !!int 1\n", "yaml.tag", 1, 4, "type" },
    { "a: 1\n---\nb: 2\n", "yaml.documents", 2, 1, "one source" },
    { "[a]: 1\n", "yaml.key", 1, 1, "quote" },
    { "a: \"\xFF\"\n", "yaml.encoding", 1, 1, "UTF-8" },
};

TEST(what_is_rejected_has_a_place_and_a_hint)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        (void)read_text(str_of(refused[i].text));
        CHECK_EQ(faults.count, 1, refused[i].text);
        if (faults.count == 0)
            continue;
        CHECK_STR(str_of(faults.items[0].code), str_of(refused[i].code), refused[i].text);
        CHECK_EQ(faults.items[0].at.line, refused[i].line, refused[i].text);
        CHECK_EQ(faults.items[0].at.column, refused[i].column, refused[i].text);
        CHECK(str_find(faults.items[0].hint, str_of(refused[i].hint)) < faults.items[0].hint.len,
              refused[i].text);
    }
    arena_release(&arena);
}

TEST(several_faults_are_reported_at_once_and_the_rest_stays_readable)
{
    const struct node *root = read_text(STR("a: &x 1\na: 2\nb: *x\nc: 3\n"));

    REQUIRE(root != NULL, "there is a tree");
    CHECK_EQ(faults.errors, 3, "anchor, duplicate, alias");
    CHECK_STR(node_get(root, STR("c"))->text, STR("3"), "what follows them");
    CHECK(node_get(root, STR("b"))->is_broken, "an alias has no value");
    arena_release(&arena);
}

TEST(depth_size_and_count_are_limited)
{
    static char deep[2 * SOURCE_DEPTH_MAX + 8], large[SOURCE_BYTES_MAX + 2];
    static char many[3 * SOURCE_NODES_MAX];

    memset(deep, '[', SOURCE_DEPTH_MAX + 1);
    memset(deep + SOURCE_DEPTH_MAX + 1, ']', SOURCE_DEPTH_MAX + 1);
    CHECK(read_text(str_of(deep)) == NULL, "too deep");
    CHECK_STR(str_of(faults.items[0].code), STR("yaml.limit"), "too deep");
    CHECK(read_text((struct str){ deep + 1, 2 * SOURCE_DEPTH_MAX }) != NULL, "just deep enough");

    memset(large, '#', sizeof(large));
    CHECK(read_text((struct str){ large, sizeof(large) }) == NULL, "too large");
    CHECK_STR(str_of(faults.items[0].code), STR("yaml.limit"), "too large");

    many[0] = '[';
    for (size_t i = 0; i < SOURCE_NODES_MAX; i++)
        memcpy(many + 1 + 2 * i, "1,", 2);
    CHECK(read_text(str_of(many)) == NULL, "too many");
    CHECK_STR(str_of(faults.items[0].code), STR("yaml.limit"), "too many");
    arena_release(&arena);
}

TEST(a_byte_order_mark_is_skipped)
{
    const struct node *root = read_text(str_of("\xEF\xBB\xBF"
                                               "a: b\n"));

    REQUIRE(root != NULL, "readable");
    CHECK_EQ(root->entries[0].at.column, 1, "does not count");
    arena_release(&arena);
}

TEST(lack_of_memory_is_reported_and_nothing_leaks)
{
    const struct str text = STR("a: [1, 2, { b: c }]\nd: 'e'\n");

    for (size_t nth = 1; nth < 40; nth++) {
        arena_release(&arena);
        arena_init(&arena, 8 << 20);
        fault_list_init(&faults, &arena);
        arena.fail_at = nth;
        if (node_read(&arena, text, &faults) == NULL)
            CHECK(faults.failed, "the list says that it is not complete");
        else
            CHECK(!faults.failed, "all is there");
    }
    arena_release(&arena);
}
