/* Stores for the program under test, and values out of the JSON it prints. */
#include "cli.h"

#include "data/json.h"
#include "postgres.h"
#include "run.h"
#include "test.h"

/* What lives as long as the test program. */
static struct arena *kept(void)
{
    static struct arena arena;

    if (arena.limit == 0)
        arena_init(&arena, (size_t)256 << 20);
    return &arena;
}

const char *cli_sqlite(const char *name)
{
    const struct str path = arena_printf(kept(), "%s/%s.db", test_folder(), name);

    REQUIRE(path.data != NULL, "memory");
    return path.data;
}

const char *cli_postgres(void)
{
    struct error err = { 0 };
    const char *dsn = postgres_new_database(&err);

    if (dsn == NULL && err.level == ERROR_NONE)
        TEST_SKIP("PostgreSQL 15 is not installed");
    REQUIRE(dsn != NULL, err.text);
    return dsn;
}

const char *cli_with_daily(const char *store)
{
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "--store", store, "test/data/plan/daily.yaml").code ==
                0,
            "apply");
    return store;
}

size_t cli_width(struct str text)
{
    size_t widest = 0;

    while (text.len > 0) {
        const struct str line = str_cut(&text, '\n');
        size_t width = 0;

        for (size_t i = 0; i < line.len; i++)
            width += ((unsigned char)line.data[i] & 0xC0) != 0x80;
        widest = width > widest ? width : widest;
    }
    return widest;
}

bool cli_has(struct str text, const char *needle)
{
    return str_find(text, str_of(needle)) < text.len;
}

struct str cli_value(struct str json, const char *path)
{
    struct str rest = str_of(path);
    struct json_doc doc;
    struct json_node node;
    struct error err = { 0 };

    REQUIRE_OK(json_parse(&doc, kept(), json, &err), err);
    node = json_root(&doc);
    while (rest.len > 0) {
        const struct str name = str_cut(&rest, '.');
        int64_t index;

        node = str_to_i64(name, &index) ? json_at(&doc, node, (size_t)index)
                                        : json_get(&doc, node, name);
    }
    if (!json_exists(node))
        return STR("");
    return json_type(&doc, node) == JSON_STRING ? json_string_raw(&doc, node)
                                                : json_raw(&doc, node);
}

int64_t cli_number(struct str json, const char *path)
{
    int64_t number;

    return str_to_i64(cli_value(json, path), &number) ? number : -1;
}
