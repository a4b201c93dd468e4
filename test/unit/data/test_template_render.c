/* What a template gives in each place. */
#include "data/template.h"

#include <string.h>

#include "test.h"

/* ---- a resolver that looks into a table; what is not in it is null ---- */

struct binding {
    enum template_scope scope;
    struct str name;
    struct template_value value;
};

struct bindings {
    const struct binding *items;
    size_t count;
};

static bool resolve_bound(void *context, struct arena *arena, const struct template_use *variable,
                          struct template_value *value, struct error *err)
{
    const struct bindings *bindings = context;

    (void)arena;
    (void)err;
    for (size_t i = 0; i < bindings->count; i++) {
        const struct binding *item = &bindings->items[i];

        if (item->scope == variable->scope && str_eq(item->name, variable->name)) {
            *value = item->value;
            return true;
        }
    }
    *value = (struct template_value){ 0 };
    return true;
}

static bool has_bound_credential(void *context, struct str name)
{
    const struct template_use use = { .scope = TEMPLATE_CREDENTIAL, .name = name };
    struct template_value value;
    struct error err;

    return resolve_bound(context, NULL, &use, &value, &err) && value.type != TEMPLATE_NULL;
}

#define TEXT(s)                                    \
    {                                              \
        .type = TEMPLATE_TEXT, .text = STR_INIT(s) \
    }
#define INT(n)                              \
    {                                       \
        .type = TEMPLATE_INT, .number = (n) \
    }
#define AT(us)                                   \
    {                                            \
        .type = TEMPLATE_INSTANT, .number = (us) \
    }

static const struct str id_list[] = { STR_INIT("11"), STR_INIT("22"), STR_INIT("3\"3") };

/* 2001-09-15T08:30:06.25Z, and the day after it at midnight. */
#define FROM_US INT64_C(1000542606250000)
#define TO_US INT64_C(1000598400000000)

static const struct binding items[] = {
    { TEMPLATE_PLAN, STR_INIT("id"), TEXT("p-1") },
    { TEMPLATE_WINDOW, STR_INIT("from"), AT(FROM_US) },
    { TEMPLATE_WINDOW, STR_INIT("to"), AT(TO_US) },
    { TEMPLATE_WINDOW, STR_INIT("last"), AT(TO_US - 1000000) },
    { TEMPLATE_PAGE, STR_INIT("size"), INT(100) },
    { TEMPLATE_PAGE, STR_INIT("token"), TEXT("AoE/+=& x") },
    { TEMPLATE_IDS, STR_INIT("list"), { .type = TEMPLATE_LIST, .items = id_list, .count = 3 } },
    { TEMPLATE_IDS, STR_INIT("count"), INT(3) },
    { TEMPLATE_EXPR, STR_INIT("q"), TEXT(" Cancer AND \"x\" ") },
    { TEMPLATE_EXPR, STR_INIT("empty"), TEXT("") },
    { TEMPLATE_EXPR, STR_INIT("dot"), TEXT(".") },
    { TEMPLATE_EXPR, STR_INIT("dots"), TEXT("..") },
    { TEMPLATE_EXPR, STR_INIT("crlf"), TEXT("a\r\nX-Evil: 1") },
    { TEMPLATE_EXPR, STR_INIT("lf"), TEXT("a\nb") },
    { TEMPLATE_EXPR, STR_INIT("nul"), TEXT("a\0b") },
    { TEMPLATE_EXPR, STR_INIT("tab"), TEXT("a\tb") },
    { TEMPLATE_EXPR, STR_INIT("slash"), TEXT("10.1101/2020?x#y") },
    { TEMPLATE_EXPR, STR_INIT("latin1"), TEXT("\xE9") },
    { TEMPLATE_EXPR, STR_INIT("year"), INT(2001) },
    { TEMPLATE_EXPR, STR_INIT("number"), INT(-7) },
    { TEMPLATE_HISTORY, STR_INIT("reply"),
      TEXT("{\"env\":\"MCID_1\\u0001\",\"query key\":7,\"ratio\":0.5,\"done\":true,"
           "\"null\":null,\"ids\":[1,\"b\"]}") },
    { TEMPLATE_CREDENTIAL, STR_INIT("key"), TEXT("S3CR3T") },
    { TEMPLATE_CREDENTIAL, STR_INIT("json"), TEXT("{\"k\":\"S3CR3T\"}") },
};
static const struct bindings bindings = { items, ARRAY_LEN(items) };

static struct arena arena;

static bool render_in(const char *text, const struct template_request *how,
                      struct template_result *result, struct error *err)
{
    const struct template_resolver resolver = { (void *)(uintptr_t)&bindings, resolve_bound,
                                                has_bound_credential };
    struct template_request request = *how;
    struct template template;
    struct template_faults faults;

    if (arena.limit == 0)
        arena_init(&arena, 1 << 20);
    arena_reset(&arena);
    request.resolver = &resolver;
    request.parameter = STR("query.filter");
    if (request.bytes_max == 0)
        request.bytes_max = 10000;
    request.now_us = 1000;
    REQUIRE_OK(template_compile(&template, &arena, str_of(text), &faults, err), *err);
    return template_render(&template, &arena, &request, result, err);
}

static const struct {
    enum template_place place;
    const char *template;
    const char *result;
} cases[] = {
    /* values and functions */
    { TEMPLATE_RAW, "plain", "plain" },
    { TEMPLATE_RAW, "", "" },
    { TEMPLATE_RAW, "$${x} $ $$ }", "${x} $ $$ }" },
    { TEMPLATE_RAW, "$$${page.size}", "$${page.size}" },
    { TEMPLATE_RAW, "${page.size}", "100" },
    { TEMPLATE_RAW, "a${page.size}b${plan.id}", "a100bp-1" },
    { TEMPLATE_RAW, "${window.from}", "2001-09-15T08:30:06.250000Z" },
    { TEMPLATE_RAW, "${window.to}", "2001-09-16T00:00:00Z" },
    { TEMPLATE_RAW, "${now()}", "1970-01-01T00:00:00.001000Z" },
    { TEMPLATE_RAW, "${date(window.last)}", "2001-09-15" },
    { TEMPLATE_RAW, "${datetime(window.last)}", "2001-09-15T23:59:59Z" },
    { TEMPLATE_RAW, "${formatDateTime(window.from, \"yyyy/MM/dd\")}", "2001/09/15" },
    { TEMPLATE_RAW, "${formatDateTime(window.from, 'yyyyMMddHHmm')}", "200109150830" },
    { TEMPLATE_RAW, "${epoch(window.from)}", "1000542606" },
    { TEMPLATE_RAW, "${epochMs(window.from)}", "1000542606250" },
    { TEMPLATE_RAW, "${epoch(minus(window.from, \"P40Y\"))}", "-261761394" },
    { TEMPLATE_RAW, "${date(minus(window.to, \"1s\"))}", "2001-09-15" },
    { TEMPLATE_RAW, "${date(plus(window.to, \"1mo\"))}", "2001-10-16" },
    { TEMPLATE_RAW, "${coalesce(page.url, expr.nothing, page.token)}", "AoE/+=& x" },
    { TEMPLATE_RAW, "${default(expr.empty, \"d\")}${default(expr.no, 5)}", "d5" },
    { TEMPLATE_RAW, "${unless(expr.empty, \"d\")}${unless(page.url, date(window.to))}",
      "d2001-09-16" },
    { TEMPLATE_RAW, "${default(unless(page.token, window.from), \"not\")}", "not" },
    { TEMPLATE_RAW, "${concat(\"a\\\"b\\\\\", 'c\\'', -5, window.to)}",
      "a\"b\\c'-52001-09-16T00:00:00Z" },
    { TEMPLATE_RAW, "${join(ids.list, \",\")}", "11,22,3\"3" },
    { TEMPLATE_RAW, "${size(ids.list)} ${size(\"abc\")} ${ids.count}", "3 3 3" },
    { TEMPLATE_RAW,
      "${after(\"https://doi.org/10.1/x\", \"doi.org/\")}|${after(\"10.1/x\", \"y\")}",
      "10.1/x|10.1/x" },
    { TEMPLATE_RAW, "${lower(trim(expr.q))}|${upper(\"a\xC3\xA9\")}",
      "cancer and \"x\"|A\xC3\xA9" },
    { TEMPLATE_RAW, "${expr.lf}", "a\nb" },
    /* places */
    { TEMPLATE_QUERY, "${page.token}", "AoE%2F%2B%3D%26%20x" },
    { TEMPLATE_QUERY, "from:${date(window.from)},x", "from%3A2001-09-15%2Cx" },
    { TEMPLATE_QUERY, "${expr.tab}", "a%09b" },
    { TEMPLATE_FORM, "${page.token}", "AoE%2F%2B%3D%26+x" },
    { TEMPLATE_FORM, "${expr.lf}", "a%0Ab" },
    { TEMPLATE_PATH, "/works/${expr.slash}/x", "/works/10.1101%2F2020%3Fx%23y/x" },
    { TEMPLATE_PATH, "/${page.token}", "/AoE%2F%2B%3D%26%20x" },
    { TEMPLATE_PATH, "/a${expr.dot}", "/a." },
    { TEMPLATE_HEADER, "Bearer ${page.token}", "Bearer AoE/+=& x" },
    { TEMPLATE_JSON, "${page.size}", "100" },
    { TEMPLATE_JSON, "${expr.q}", "\" Cancer AND \\\"x\\\" \"" },
    { TEMPLATE_JSON, "${ids.list}", "[\"11\",\"22\",\"3\\\"3\"]" },
    { TEMPLATE_JSON, "${window.to}", "\"2001-09-16T00:00:00Z\"" },
    { TEMPLATE_JSON, "n=${page.size}", "\"n=100\"" },
    { TEMPLATE_JSON, "${expr.crlf}", "\"a\\r\\nX-Evil: 1\"" },
    { TEMPLATE_JSON, "plain", "\"plain\"" },
    { TEMPLATE_JSON, "", "\"\"" },
};

TEST(template_renders_for_its_place)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct template_request how = { .place = cases[i].place,
                                              .null_policy = TEMPLATE_NULL_ERROR };
        struct template_result result;
        struct error err;

        REQUIRE_OK(render_in(cases[i].template, &how, &result, &err), err);
        CHECK(!result.is_omitted, cases[i].template);
        CHECK_STR(result.text, str_of(cases[i].result), cases[i].template);
    }
}

TEST(template_refuses_what_would_leave_its_place)
{
    static const struct {
        enum template_place place;
        const char *template;
        const char *code;
    } refused[] = {
        { TEMPLATE_QUERY, "${expr.crlf}", "template.control" },
        { TEMPLATE_QUERY, "${expr.nul}", "template.control" },
        { TEMPLATE_QUERY, "a\nb", "template.control" },
        { TEMPLATE_HEADER, "${expr.crlf}", "template.control" },
        { TEMPLATE_HEADER, "${expr.nul}", "template.control" },
        { TEMPLATE_HEADER, "${expr.tab}", "template.control" },
        { TEMPLATE_HEADER, "a\r\nb", "template.control" },
        { TEMPLATE_PATH, "/${expr.crlf}", "template.control" },
        { TEMPLATE_PATH, "/${expr.nul}", "template.control" },
        { TEMPLATE_PATH, "/a b", "template.control" },
        { TEMPLATE_PATH, "/${expr.dots}/x", "template.path" },
        { TEMPLATE_PATH, "/x/${expr.dot}", "template.path" },
        { TEMPLATE_PATH, "/${expr.dot}${expr.dot}/", "template.path" },
        { TEMPLATE_PATH, "${expr.dots}", "template.path" },
        { TEMPLATE_PATH, "/x/${expr.empty}", "template.path" },
        { TEMPLATE_PATH, "${expr.nothing}", "template.null" },
        { TEMPLATE_JSON, "${expr.latin1}", "template.utf8" },
        { TEMPLATE_JSON, "a ${expr.latin1}", "template.utf8" },
        { TEMPLATE_RAW, "${ids.list}", "template.type" },
        { TEMPLATE_JSON, "a ${ids.list}", "template.type" },
        { TEMPLATE_RAW, "${date(expr.year)}", "template.type" },
        { TEMPLATE_RAW, "${lower(expr.number)}", "template.type" },
        { TEMPLATE_RAW, "${minus(window.from, \"9999y\")}", "template.range" },
    };

    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        const struct template_request how = { .place = refused[i].place,
                                              .null_policy = TEMPLATE_NULL_OMIT };
        struct template_result result;
        struct error err = { 0 };

        CHECK(!render_in(refused[i].template, &how, &result, &err), refused[i].template);
        CHECK_EQ(err.level, ERROR_REQUEST, refused[i].template);
        CHECK_STR(str_of(err.code), str_of(refused[i].code), refused[i].template);
        CHECK(str_starts(str_of(err.text), STR("query.filter: ")), err.text);
    }
}

TEST(template_null_follows_its_policy)
{
    static const struct {
        const char *template;
        enum template_place place;
        enum template_null policy;
        const char *result; /* NULL: an error; "omitted" */
    } nulls[] = {
        { "${page.url}", TEMPLATE_QUERY, TEMPLATE_NULL_OMIT, "omitted" },
        { "${concat(\"a\", page.url)}", TEMPLATE_QUERY, TEMPLATE_NULL_OMIT, "omitted" },
        { "${upper(coalesce(page.url, expr.x))}", TEMPLATE_QUERY, TEMPLATE_NULL_OMIT, "omitted" },
        { "a${page.url}", TEMPLATE_QUERY, TEMPLATE_NULL_OMIT, NULL },
        { "${page.url}", TEMPLATE_QUERY, TEMPLATE_NULL_EMPTY, "" },
        { "a${page.url}b", TEMPLATE_QUERY, TEMPLATE_NULL_EMPTY, "ab" },
        { "${page.url}", TEMPLATE_QUERY, TEMPLATE_NULL_ERROR, NULL },
        { "a${page.url}", TEMPLATE_QUERY, TEMPLATE_NULL_ERROR, NULL },
        { "${page.url}", TEMPLATE_JSON, TEMPLATE_NULL_OMIT, "omitted" },
        { "${page.url}", TEMPLATE_JSON, TEMPLATE_NULL_EMPTY, "null" },
        { "${page.url}", TEMPLATE_JSON, TEMPLATE_NULL_ERROR, NULL },
        { "a${page.url}", TEMPLATE_JSON, TEMPLATE_NULL_EMPTY, "\"a\"" },
        { "/${page.url}", TEMPLATE_PATH, TEMPLATE_NULL_EMPTY, NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(nulls); i++) {
        const struct template_request how = { .place = nulls[i].place,
                                              .null_policy = nulls[i].policy };
        struct template_result result;
        struct error err = { 0 };

        if (nulls[i].result == NULL) {
            CHECK(!render_in(nulls[i].template, &how, &result, &err), nulls[i].template);
            CHECK_STR(str_of(err.code), STR("template.null"), nulls[i].template);
            continue;
        }
        REQUIRE_OK(render_in(nulls[i].template, &how, &result, &err), err);
        CHECK_EQ(result.is_omitted, strcmp(nulls[i].result, "omitted") == 0, nulls[i].template);
        if (!result.is_omitted)
            CHECK_STR(result.text, str_of(nulls[i].result), nulls[i].template);
    }
}

/* A resolver that hands out the secret marks a redacted rendering as failed. */
static bool refuse_credentials(void *context, struct arena *memory, const struct template_use *use,
                               struct template_value *value, struct error *err)
{
    CHECK(use->scope != TEMPLATE_CREDENTIAL, "a redacted rendering requests no secret");
    return resolve_bound(context, memory, use, value, err);
}

TEST(template_redacted_never_sees_a_secret)
{
    static const struct {
        enum template_place place;
        const char *template;
        const char *real;
        const char *redacted;
    } secrets[] = {
        { TEMPLATE_QUERY, "${credential.key}", "S3CR3T", "***" },
        { TEMPLATE_HEADER, "Bearer ${credential.key}", "Bearer S3CR3T", "Bearer ***" },
        { TEMPLATE_RAW, "${lower(credential.key)}", "s3cr3t", "***" },
        { TEMPLATE_RAW, "${concat(plan.id, credential.key)} ${plan.id}", "p-1S3CR3T p-1",
          "*** p-1" },
        { TEMPLATE_RAW, "${size(credential.key)}", "6", "***" },
        { TEMPLATE_JSON, "${credential.key}", "\"S3CR3T\"", "\"***\"" },
        { TEMPLATE_JSON, "${size(credential.key)}", "6", "\"***\"" },
        { TEMPLATE_JSON, "a ${credential.key}", "\"a S3CR3T\"", "\"a ***\"" },
        { TEMPLATE_QUERY, "${jsonPath(credential.json, '$.k')}", "S3CR3T", "***" },
        { TEMPLATE_QUERY, "${credential.none}", NULL, NULL },
    };
    const struct template_resolver resolver = { (void *)(uintptr_t)&bindings, refuse_credentials,
                                                has_bound_credential };

    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        struct template_request how = { .place = secrets[i].place };
        struct template_result result;
        struct template template;
        struct template_faults faults;
        struct error err;

        REQUIRE_OK(render_in(secrets[i].template, &how, &result, &err), err);
        CHECK_EQ(result.is_omitted, secrets[i].real == NULL, secrets[i].template);
        CHECK_STR(result.text, str_of(secrets[i].real), secrets[i].template);

        how.resolver = &resolver;
        how.redacted = true;
        how.bytes_max = 1000;
        REQUIRE_OK(template_compile(&template, &arena, str_of(secrets[i].template), &faults, &err),
                   err);
        REQUIRE_OK(template_render(&template, &arena, &how, &result, &err), err);
        CHECK_EQ(result.is_omitted, secrets[i].redacted == NULL, secrets[i].template);
        CHECK_STR(result.text, str_of(secrets[i].redacted), secrets[i].template);
    }
}

TEST(template_output_has_a_maximum)
{
    struct template_request how = { .place = TEMPLATE_RAW, .bytes_max = 8 };
    struct template_result result;
    struct error err;

    REQUIRE_OK(render_in("12345678", &how, &result, &err), err);
    CHECK(!render_in("123456789", &how, &result, &err), "literal");
    CHECK_STR(str_of(err.code), STR("buffer.limit"), "literal");
    CHECK(!render_in("${size(concat(expr.q, expr.q))}", &how, &result, &err), "on the way");
    CHECK_STR(str_of(err.code), STR("buffer.limit"), "on the way");
    how.place = TEMPLATE_QUERY;
    CHECK(!render_in("${page.token}", &how, &result, &err), "encoded");
    CHECK_STR(str_of(err.code), STR("buffer.limit"), "encoded");
}

TEST(template_takes_values_out_of_captured_json)
{
    static const struct {
        const char *template;
        const char *json; /* as TEMPLATE_JSON shows it; NULL: omitted */
    } found[] = {
        { "${jsonPath(history.reply, '$.env')}", "\"MCID_1\\u0001\"" },
        { "${jsonPath(history.reply, \"$['query key']\")}", "7" },
        { "${jsonPath(history.reply, '$.ratio')}", "\"0.5\"" },
        { "${jsonPath(history.reply, '$.done')}", "\"true\"" },
        { "${jsonPath(history.reply, '$.ids')}", "[\"1\",\"b\"]" },
        { "${jsonPath(history.reply, '$.ids[*]')}", "[\"1\",\"b\"]" },
        { "${join(jsonPath(history.reply, '$.ids'), '|')}", "\"1|b\"" },
        { "${jsonPath(history.reply, '$.none')}", NULL },
        { "${jsonPath(history.reply, '$.null')}", NULL },
        { "${jsonPath(history.reply, '$..none')}", NULL },
        { "${jsonPath(history.none, '$.env')}", NULL },
    };
    const struct template_request how = { .place = TEMPLATE_JSON };
    struct template_result result;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(found); i++) {
        REQUIRE_OK(render_in(found[i].template, &how, &result, &err), err);
        CHECK_EQ(result.is_omitted, found[i].json == NULL, found[i].template);
        CHECK_STR(result.text, str_of(found[i].json), found[i].template);
    }
    CHECK(!render_in("${jsonPath(plan.id, '$.a')}", &how, &result, &err), "not JSON");
    CHECK_STR(str_of(err.code), STR("json.syntax"), "not JSON");
    arena_release(&arena);
}
