/* Which level a value comes from, and what a trigger may set. */
#include "spec/resolve.h"

#include "test.h"

static struct arena arena;
static struct source source;

static const struct str FILE_TEXT = STR_INIT(
    "source: demo\n"
    "http: { base_url: 'https://a.example', read_timeout: 20s, headers: { Accept: a, X-One: 1 },\n"
    "        query: { mail: me } }\n"
    "params: { q: y, contact: me }\n"
    "page: { type: offset, size: 10 }\n"
    "response: { error_when: [{ status: 500, level: L1 }] }\n"
    "expr: { define: { q: source, r: source } }\n"
    "endpoints:\n"
    "  list:\n"
    "    role: search\n"
    "    path: /list\n"
    "    headers: { accept: b, X-Two: 2 }\n"
    "    query: { q: x }\n"
    "    page: { size: 20 }\n"
    "    expr: { define: { q: endpoint } }\n"
    "    response: { items: $, error_when: [{ status: 404, meaning: empty }] }\n"
    "  item: { role: detail, path: /item }\n"
    "operations:\n"
    "  harvest: { endpoint: list }\n"
    "  nightly: { operation: backfill, endpoint: list, priority: 7 }\n"
    "  update: { endpoint: item, staleness: { after: 90d } }\n");

static void load(void)
{
    struct fault_list faults;

    arena_release(&arena);
    arena_init(&arena, 16 << 20);
    fault_list_init(&faults, &arena);
    if (!source_read(&arena, &(struct source_text){ .file = FILE_TEXT }, &faults, &source))
        test_note("%.*s", STR_ARG(faults.items[0].message));
    REQUIRE(faults.errors == 0, "the file is fine");
}

static struct resolution resolved(const char *endpoint, const char *operation,
                                  struct override_list overrides)
{
    const struct resolve_request request = {
        .source = &source,
        .endpoint = str_of(endpoint),
        .operation = operation != NULL ? source_find_operation(&source, str_of(operation)) : NULL,
        .overrides = overrides,
    };
    struct resolution resolution;
    struct error err;

    REQUIRE_OK(resolve(&arena, &request, &resolution, &err), err);
    return resolution;
}

TEST(the_nearest_level_decides_and_is_recorded)
{
    const struct override override = { STR_INIT("page.size"), STR_INIT("30") };
    struct resolution in;

    load();
    in = resolved("list", "harvest", (struct override_list){ &override, 1 });
    CHECK_EQ(resolution_number(&in, "page.size"), 30, "trigger");
    CHECK_EQ(resolution_get(&in, "page.size")->origin, ORIGIN_TRIGGER, "trigger");
    in = resolved("list", "harvest", (struct override_list){ 0 });
    CHECK_EQ(resolution_number(&in, "page.size"), 20, "config");
    CHECK_EQ(resolution_get(&in, "page.size")->origin, ORIGIN_CONFIG, "config");
    CHECK_EQ(resolution_get(&in, "role")->origin, ORIGIN_ENDPOINT, "endpoint");
    CHECK_EQ(resolution_number(&in, "http.read_timeout"), INT64_C(20000000), "source");
    CHECK_EQ(resolution_get(&in, "http.read_timeout")->origin, ORIGIN_SOURCE, "source");
    CHECK_EQ(resolution_number(&in, "http.connect_timeout"), INT64_C(10000000), "built-in");
    CHECK_EQ(resolution_get(&in, "http.connect_timeout")->origin, ORIGIN_BUILTIN, "built-in");
    CHECK(!resolution_get(&in, "page.cap")->value.is_set, "no value");
    in = resolved("item", NULL, (struct override_list){ 0 });
    CHECK_EQ(resolution_number(&in, "page.size"), 10, "the other endpoint inherits the source's");
    arena_release(&arena);
}

TEST(defaults_depend_on_the_operation)
{
    struct resolution in;

    load();
    in = resolved("list", "harvest", (struct override_list){ 0 });
    CHECK_EQ(resolution_number(&in, "priority"), 10, "HARVEST");
    CHECK_EQ(resolution_code(&in, "namespace"), NAMESPACE_EXPR, "HARVEST");
    CHECK_EQ(resolution_code(&in, "direction"), DIRECTION_FORWARD, "HARVEST");
    CHECK_EQ(resolution_code(&in, "slice.by"), SLICE_TIME, "HARVEST");
    CHECK(!resolution_get(&in, "drive")->value.is_set, "HARVEST has no drive");
    in = resolved("list", "backfill", (struct override_list){ 0 });
    CHECK_EQ(resolution_number(&in, "priority"), 7, "its own");
    CHECK_EQ(resolution_code(&in, "operation"), OPERATION_BACKFILL, "by its word");
    CHECK_EQ(resolution_code(&in, "namespace"), NAMESPACE_CUSTOM, "BACKFILL");
    CHECK_EQ(resolution_code(&in, "direction"), DIRECTION_BACKFILL, "BACKFILL");
    in = resolved("item", "update", (struct override_list){ 0 });
    CHECK_EQ(resolution_code(&in, "drive"), UPDATE_BY_ID, "UPDATE");
    CHECK_EQ(resolution_code(&in, "cursor"), CURSOR_ID, "UPDATE");
    CHECK_EQ(resolution_code(&in, "page.type"), PAGINATION_OFFSET, "said by the source");
    CHECK_STR(resolution_text(&in, "candidates"), STR("[\"STALENESS\",\"EXPR_CHANGE\",\"SIGNAL\"]"),
              "stale ones are wanted");
    arena_release(&arena);
}

static void check_keys(const struct resolution *in, const char *set, const char *wanted)
{
    struct row_list rows;
    struct error err;
    struct buf out;

    buf_init(&out, &arena, 4096);
    REQUIRE_OK(resolution_rows(&arena, in, row_filter_of(setting_set(AT_ENDPOINT, str_of(set))),
                               &rows, &err),
               err);
    for (size_t i = 0; i < rows.count; i++)
        buf_printf(&out, "%.*s@%.*s ", STR_ARG(rows.items[i]->key),
                   STR_ARG(rows.items[i]->endpoint));
    CHECK_STR(buf_str(&out), str_of(wanted), set);
}

TEST(members_of_sets_are_inherited_one_by_one_and_rules_are_joined)
{
    struct resolution in;

    load();
    in = resolved("list", NULL, (struct override_list){ 0 });
    check_keys(&in, "headers", "HEADER:accept@list HEADER:X-One@ HEADER:X-Two@list ");
    check_keys(&in, "query", "QUERY:mail@ QUERY:q@list ");
    check_keys(&in, "expr.define", "q@list r@ ");
    check_keys(&in, "response.error_when", "ERROR:0@list ERROR:0@ ");
    in = resolved("item", NULL, (struct override_list){ 0 });
    check_keys(&in, "headers", "HEADER:Accept@ HEADER:X-One@ ");
    check_keys(&in, "response.error_when", "ERROR:0@ ");
    arena_release(&arena);
}

TEST(a_trigger_may_not_set_everything)
{
    static const struct {
        const char *path, *value, *text;
    } cases[] = {
        { "page.sise", "10", "there is no setting" },
        { "http.base_url", "https://evil.example", "cannot be set by a trigger" },
        { "auth.secret", "env:OTHER", "cannot be set by a trigger" },
        { "page.size", "many", "must be a whole number" },
        { "page.size", "0", "out of range" },
        { "params.contact", "env:AWS_SECRET_ACCESS_KEY", "not a reference" },
        { "params.Q", "x",
          "demo has no parameter 'Q'; did you mean q?; its parameters: q, contact" },
        { "params.contct", "x", "did you mean contact?" },
        { "params.q.selects", "true", "has no parameter 'q.selects'" },
        { "pge.size", "5", "did you mean page.size?" },
        { "response.items", "$", "cannot be set by a trigger" },
    };
    struct resolution resolution;
    struct error err;

    load();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct override override = { str_of(cases[i].path), str_of(cases[i].value) };
        const struct resolve_request request = { .source = &source,
                                                 .endpoint = STR("list"),
                                                 .overrides = { &override, 1 } };

        CHECK(!resolve(&arena, &request, &resolution, &err), cases[i].path);
        CHECK_STR(str_of(err.code), STR("spec.override"), cases[i].path);
        CHECK(str_find(str_of(err.text), str_of(cases[i].text)) < str_of(err.text).len, err.text);
    }
    arena_release(&arena);
}

TEST(operations_are_found_by_name_or_by_the_only_one_of_a_kind)
{
    load();
    CHECK_STR(source_find_operation(&source, STR("nightly"))->key, STR("nightly"), "name");
    CHECK_STR(source_find_operation(&source, STR("BACKFILL"))->key, STR("nightly"), "word");
    CHECK_STR(source_find_operation(&source, STR("Harvest"))->key, STR("harvest"), "any case");
    CHECK(source_find_operation(&source, STR("metrics")) == NULL, "none");
    CHECK(source_find_operation(&source, STR("weekly")) == NULL, "no such name");
    arena_release(&arena);
}
