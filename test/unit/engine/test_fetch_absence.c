/* Responses that lack what the source declares, or have something else in its place: never an end,
 * never "no records". */
#include <stdio.h>
#include <string.h>

#include "fake_source.h"
#include "test.h"

static struct fake_source fake;

#define RECORD(id) "{\"id\":\"" id "\",\"updated_at\":\"2026-01-01T00:00:00Z\"}"

/* Page n of a walk is bodies[n - 1]; what is beyond the array repeats its last. */
static const char *const *bodies;
static int body_count;

static bool serve_bodies(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->body = str_of(bodies[n <= body_count ? n - 1 : body_count - 1]);
    return true;
}

static void begin(struct rig *rig, const char *file, const char *operation,
                  const char *const *pages, int count)
{
    fake_source_begin(&fake, rig, file, operation, 0);
    bodies = pages;
    body_count = count;
    fake.spoil = serve_bodies;
    rig->gate.no_prefetch = true;
}

static struct spec_path path_of(struct rig *rig, const char *text)
{
    struct spec_path path = { .text = str_of(text) };
    struct error err;

    CHECK(jsonpath_compile(&rig->arena, path.text, &path.json, NULL, &err), text);
    return path;
}

/* The walk fails with an L1 of this code, after more than one attempt, and its text has the word.
 */
static void require_broken(struct rig *rig, const char *code, const char *word, const char *label)
{
    rig_run(rig);
    CHECK(rig->failed, label);
    CHECK_STR(str_of(rig->err.code), str_of(code), label);
    CHECK_EQ(rig->err.level, ERROR_TRANSIENT, label);
    if (strstr(rig->err.text, word) == NULL)
        test_fail(__FILE__, __LINE__, "%s: no '%s' in: %s", label, word, rig->err.text);
    CHECK(rig->sums.retries > 0 || rig->last.counts.retries > 0, "it was requested again");
    rig_release(rig);
}

/* ---- items ---- */

TEST(an_error_object_in_place_of_the_list_is_not_a_page)
{
    static const char *const pages[] = {
        "[" RECORD("a") "," RECORD("b") "]",
        "{\"error\":\"backend timeout\",\"status\":503}",
    };
    static const char *const inner[] = {
        "{\"items\":{\"error\":\"backend timeout\"},\"total\":500}",
    };
    struct rig rig;

    begin(&rig, GENERIC, "link", pages, 2);
    rig.spec.endpoint.page.type = PAGINATION_OFFSET;
    rig.spec.endpoint.response.error_when.count = 0;
    require_broken(&rig, "answer.items", "\"error\", \"status\"", "items: $");

    begin(&rig, GENERIC, "offset", inner, 1);
    require_broken(&rig, "answer.items", "is not a list", "items: $.items");
}

static int status_of_all;

static bool serve_with_status(struct fake_source *self, int n, struct scripted_reply *reply)
{
    reply->status = status_of_all;
    return serve_bodies(self, n, reply);
}

/* A list that is still being made; a part of a list that has no pages. */
TEST(a_status_that_says_it_is_not_all_is_not_a_page)
{
    static const char *const none[] = { "{\"items\":[],\"total\":0}" };
    static const char *const one[] = { "{\"items\":[" RECORD("a") "],\"total\":1}" };
    struct rig rig;

    begin(&rig, GENERIC, "offset", none, 1);
    fake.spoil = serve_with_status;
    status_of_all = 202;
    require_broken(&rig, "answer.status", "not ready", "202");

    begin(&rig, GENERIC, "single", one, 1);
    fake.spoil = serve_with_status;
    status_of_all = 206;
    rig_run(&rig);
    CHECK(rig.failed, "206");
    CHECK_STR(str_of(rig.err.code), STR("answer.status"), rig.err.text);
    CHECK_EQ(rig.ids.count, 0, "nothing is stored");
    rig_release(&rig);
}

TEST(a_list_that_is_there_twice_is_not_a_page)
{
    static const char *const pages[] = {
        "{\"items\":[],\"items\":[" RECORD("a") "],\"total\":1}",
    };
    struct rig rig;

    begin(&rig, GENERIC, "offset", pages, 1);
    require_broken(&rig, "answer.twice", "twice", "two members of one name");
}

TEST(an_empty_page_of_a_list_that_has_more_is_not_the_end)
{
    static const char *const pages[] = {
        "{\"items\":[" RECORD("a") "," RECORD("b") "],\"more\":true}",
        "{\"items\":[],\"more\":true}",
    };
    struct rig rig;

    begin(&rig, GENERIC, "offset", pages, 2);
    rig.spec.endpoint.response.total.text.len = 0;
    rig.spec.endpoint.response.total.json = NULL;
    rig.spec.endpoint.response.has_more = path_of(&rig, "$.more");
    rig.spec.endpoint.page.size = 2;
    rig_run(&rig);
    CHECK(!rig.failed, "the walk ends");
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "and says that it is not whole");
    rig_release(&rig);
}

TEST(an_item_without_id_in_a_list_of_ids_is_kept_as_a_bad_record)
{
    static const char *const pages[] = {
        "{\"ids\":[\"a\",{\"code\":2}],\"total\":2}",
        "{\"ids\":[\"a\",{\"code\":2}],\"total\":2}",
        "{\"records\":[" RECORD("a") "]}",
    };
    struct rig rig;

    begin(&rig, DETAILS, "harvest", pages, 3);
    rig_run(&rig);
    CHECK(!rig.failed, "the walk ends");
    CHECK_EQ(rig.ids.count, 1, "the record that has an id");
    CHECK_EQ(rig.bad.count, 1, "the other goes into quarantine");
    rig_release(&rig);
}

/* A list of ids has no other form than a list: one id by itself would be the end of a page. */
TEST(ids_that_are_not_in_a_list_are_not_a_page)
{
    static const char *const values[] = {
        "\"see the manual\"",   "7",    "true",           "{\"id\":\"a\"}",
        "{\"error\":\"busy\"}", "null", "[[\"a\",\"b\"]]"
    };
    static const char *const ids[] = { "$", "$.id" };
    static const char *const operations[] = { "harvest", "history" };
    char body[128];
    const char *const page = body;
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(values) * ARRAY_LEN(ids) * ARRAY_LEN(operations); i++) {
        const bool is_list = strncmp(values[i / 4], "[", 1) == 0;

        (void)snprintf(body, sizeof(body), "{\"ids\":%s,\"session\":\"s\"}", values[i / 4]);
        begin(&rig, DETAILS, operations[i / 2 % 2], &page, 1);
        rig.spec.endpoint.page.type = PAGINATION_SINGLE;
        rig.spec.endpoint.response.total = (struct spec_path){ 0 };
        rig.spec.endpoint.response.id[0] = path_of(&rig, ids[i % 2]);
        require_broken(&rig, is_list ? "answer.ids" : "answer.items",
                       is_list ? "has an id" : "$.ids", body);
    }
}

/* The path selects many, and would take the members of an error, or a text among lists, for ids. */
TEST(ids_by_a_wildcard_are_elements_of_lists)
{
    static const struct {
        const char *path, *body;
        size_t records; /* 0: the response is broken */
        bool may_be_absent;
    } cases[] = {
        { "$.ids[*]", "{\"ids\":{\"error\":\"busy\"}}", 0, true },
        { "$.ids[*]", "{\"ids\":\"busy\"}", 0, false },
        { "$.ids[*]", "{\"ids\":7}", 0, true }, /* it is not absent */
        { "$.ids[*]", "{\"ids\":[\"a\"]}", 1, false },
        { "$.ids[?@ != \"\"]", "{\"ids\":{\"0\":\"a\"}}", 1, false },
        { "$[*]", "{\"error\":\"busy\"}", 0, false },
        { "$[*]", "{}", 0, false },
        { "$.ids[*]", "{\"ids\":{}}", 0, false },
        { "$.ids[*][*]", "{\"ids\":{\"x\":[\"a\"]}}", 1, false },
        { "$.g[*].ids", "{\"g\":[{\"ids\":[\"a\"]},{\"ids\":\"busy\"}]}", 0, false },
        { "$.g[*].ids", "{\"g\":[{\"ids\":[\"a\"]},{\"ids\":[]}]}", 1, false },
        { "$.g[*].id", "{\"g\":[{\"id\":\"a\"}]}", 1, false },
        { "$.g[*].ids[*]", "{\"g\":[{\"ids\":[\"a\"]},{\"ids\":\"busy\"}]}", 0, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *const pages[] = { cases[i].body, "{\"records\":[" RECORD("a") "]}" };
        struct rig rig;

        begin(&rig, DETAILS, "harvest", pages, cases[i].records == 0 ? 1 : 2);
        rig.spec.endpoint.page.type = PAGINATION_SINGLE;
        rig.spec.endpoint.response.total = (struct spec_path){ 0 };
        rig.spec.endpoint.response.items = path_of(&rig, cases[i].path);
        rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_ITEMS] = cases[i].may_be_absent;
        if (cases[i].records == 0) {
            require_broken(&rig, "answer.items", cases[i].path, cases[i].body);
            continue;
        }
        rig_run(&rig);
        CHECK(!rig.failed, cases[i].body);
        CHECK_EQ(rig.ids.count, cases[i].records, cases[i].body);
        rig_release(&rig);
    }
}

TEST(an_object_that_a_filter_searches_may_be_empty)
{
    static const char *const pages[] = { "{\"ids\":{}}" };
    struct rig rig;

    begin(&rig, DETAILS, "harvest", pages, 1);
    rig.spec.endpoint.page.type = PAGINATION_SINGLE;
    rig.spec.endpoint.response.total = (struct spec_path){ 0 };
    rig.spec.endpoint.response.items = path_of(&rig, "$.ids[?@ != \"\"]");
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 0, "no ids");
    rig_release(&rig);
}

TEST(a_record_by_itself_is_an_object)
{
    static const char *const pages[] = { "{\"items\":\"see the manual\"}" };
    static const char *const details[] = { "{\"ids\":[\"a\"],\"total\":1}",
                                           "{\"ids\":[\"a\"],\"total\":1}",
                                           "{\"records\":\"see the manual\"}" };
    struct rig rig;

    begin(&rig, GENERIC, "single", pages, 1);
    rig.spec.endpoint.response.total = (struct spec_path){ 0 };
    rig.spec.endpoint.response.id[0] = path_of(&rig, "$");
    require_broken(&rig, "answer.items", "is not a list", "a text");
    begin(&rig, DETAILS, "harvest", details, 3);
    require_broken(&rig, "fetch.deferred", "$.records in the response is not a list",
                   "a text in place of the details");
}

TEST(a_lookup_may_return_the_record_by_itself)
{
    static const char *const pages[] = { RECORD("a") };
    struct rig rig;

    begin(&rig, GENERIC, "link", pages, 1);
    rig.spec.endpoint.page.type = PAGINATION_SINGLE;
    rig_run(&rig);
    CHECK(!rig.failed, "one object is one record where there is one page");
    CHECK_EQ(rig.ids.count, 1, "the record");
    rig_release(&rig);
}

TEST(a_list_without_ids_is_a_list_of_something_else)
{
    static const char *const objects[] = {
        "{\"items\":[" RECORD("a") "," RECORD("b") "],\"total\":4,\"nextToken\":\"2\"}",
        "{\"items\":[{\"code\":1},{\"code\":2}],\"total\":4,\"nextToken\":null}",
    };
    static const char *const strings[] = {
        "{\"items\":[" RECORD("a") "," RECORD("b") "],\"total\":3,\"nextToken\":\"2\"}",
        "{\"items\":[\"x\",\"y\",\"z\",\"w\"],\"total\":3,\"nextToken\":null}",
    };
    static const char *const one_bad[] = {
        "{\"items\":[" RECORD("a") ",{\"code\":2}],\"total\":2,\"nextToken\":null}",
    };
    struct rig rig;

    begin(&rig, GENERIC, "token", objects, 2);
    rig.spec.endpoint.response.total.text.len = 0;
    rig.spec.endpoint.response.total.json = NULL;
    require_broken(&rig, "answer.ids", "none of the 2 items", "objects without ids");

    begin(&rig, GENERIC, "token", strings, 2);
    require_broken(&rig, "answer.ids", "none of the 4 items", "strings");

    begin(&rig, GENERIC, "token", one_bad, 1);
    rig_run(&rig);
    CHECK(!rig.failed, "one of two is a bad record");
    CHECK_EQ(rig.bad.count, 1, "and is quarantined");
    rig_release(&rig);
}

TEST(a_wildcard_needs_its_list)
{
    static const char *const renamed[] = { "{\"results\":[" RECORD("a") "],\"total\":1}" };
    static const char *const text[] = { "{\"items\":\"none\",\"total\":1}" };
    static const char *const empty[] = { "{\"items\":[],\"total\":0}" };
    static const char *const groups[] = { "{\"items\":[{\"rows\":[" RECORD(
        "a") "]}],\"total\":1}" };
    struct rig rig;

    begin(&rig, GENERIC, "offset", renamed, 1);
    rig.spec.endpoint.response.items = path_of(&rig, "$.items[*]");
    require_broken(&rig, "answer.items", "\"results\"", "the key was renamed");

    begin(&rig, GENERIC, "offset", text, 1);
    rig.spec.endpoint.response.items = path_of(&rig, "$.items[*]");
    require_broken(&rig, "answer.items", "items", "a text");

    begin(&rig, GENERIC, "offset", empty, 1);
    rig.spec.endpoint.response.items = path_of(&rig, "$.items[*]");
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 0, "an empty list is one");
    rig_release(&rig);

    begin(&rig, GENERIC, "offset", groups, 1);
    rig.spec.endpoint.response.items = path_of(&rig, "$.items[*].rows");
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 1, "lists in a list");
    rig_release(&rig);
}

/* Each element that a wildcard finds has its part of the list. */
TEST(a_list_that_is_in_some_elements_only_is_broken)
{
    static const char *const lost[] = { "{\"items\":[{\"rows\":[" RECORD(
        "a") "]},{\"error\":\"x\"}]}" };
    static const char *const nulled[] = { "{\"items\":[{\"rows\":[" RECORD(
        "a") "]},{\"rows\":null}]}" };
    static const char *const paths[] = { "$.items[*].rows", "$.items[*].rows[*]" };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        begin(&rig, GENERIC, "offset_blind", lost, 1);
        rig.spec.endpoint.response.items = path_of(&rig, paths[i]);
        require_broken(&rig, "answer.items", "in a part of the response only", paths[i]);
        begin(&rig, GENERIC, "offset_blind", nulled, 1);
        rig.spec.endpoint.response.items = path_of(&rig, paths[i]);
        require_broken(&rig, "answer.items", "in a part of the response only", paths[i]);
    }
    begin(&rig, GENERIC, "single", lost, 1);
    rig.spec.endpoint.response.items = path_of(&rig, paths[0]);
    rig.spec.endpoint.response.total = (struct spec_path){ 0 };
    rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_ITEMS] = true;
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 1, "unless the source says that it may be absent");
    rig_release(&rig);
}

/* $..items does not say where the list is. */
TEST(a_path_of_any_depth_that_finds_nothing_is_broken)
{
    static const char *const error[] = { "{\"message\":\"x\"}" };
    static const char *const nulled[] = { "{\"items\":null}" };
    static const char *const empty[] = { "{\"items\":[]}" };
    static const char *const none[] = { "{\"items\":[],\"total\":0}" };
    struct rig rig;

    begin(&rig, GENERIC, "offset_blind", error, 1);
    rig.spec.endpoint.response.items = path_of(&rig, "$..items");
    require_broken(&rig, "answer.items", "write the whole path", "a message");
    begin(&rig, GENERIC, "offset_blind", nulled, 1);
    rig.spec.endpoint.response.items = path_of(&rig, "$..items");
    require_broken(&rig, "answer.items", "$..items is null", "null");
    begin(&rig, GENERIC, "offset_blind", empty, 1);
    rig.spec.endpoint.response.items = path_of(&rig, "$..items[*]");
    require_broken(&rig, "answer.items", "write the whole path", "it may be another's list");
    begin(&rig, GENERIC, "offset_blind", empty, 1);
    rig.spec.endpoint.response.items = path_of(&rig, "$..items");
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 0, "an empty list is found");
    rig_release(&rig);
    begin(&rig, GENERIC, "offset", none, 1);
    rig.spec.endpoint.response.items = path_of(&rig, "$..items[*]");
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 0, "the total says that there is nothing");
    rig_release(&rig);
}

TEST(a_null_in_a_list_is_an_item)
{
    static const char *const one[] = { "{\"items\":[" RECORD("a") ",null]}" };
    static const char *const all[] = { "{\"items\":[null,null]}" };
    struct rig rig;

    begin(&rig, GENERIC, "single", one, 1);
    rig.spec.endpoint.response.total = (struct spec_path){ 0 };
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 1, "the record");
    CHECK_EQ(rig.bad.count, 1, "and a bad one");
    rig_release(&rig);
    begin(&rig, GENERIC, "single", all, 1);
    rig.spec.endpoint.response.total = (struct spec_path){ 0 };
    require_broken(&rig, "answer.ids", "none of the 2 items", "nothing else");
}

TEST(a_list_may_be_absent_where_the_source_says_so)
{
    static const char *const nothing[] = { "{\"offset\":0,\"nextToken\":null}" };
    static const char *const message[] = { "{\"message\":\"try later\"}" };
    struct rig rig;

    begin(&rig, GENERIC, "token", nothing, 1);
    require_broken(&rig, "answer.items", "\"offset\"", "not declared");
    begin(&rig, GENERIC, "token", nothing, 1);
    rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_ITEMS] = true;
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 0, "a search without matches");
    rig_release(&rig);
    begin(&rig, GENERIC, "token", message, 1);
    rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_ITEMS] = true;
    rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_TOTAL] = true;
    rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_NEXT] = true;
    require_broken(&rig, "answer.items", "\"message\"", "another document");
}

TEST(a_null_in_place_of_a_part_is_called_null)
{
    static const char *const items[] = { "{\"items\":null,\"total\":3}" };
    static const char *const total[] = { "{\"items\":[" RECORD("a") "],\"total\":null}" };
    struct rig rig;

    begin(&rig, GENERIC, "offset", items, 1);
    require_broken(&rig, "answer.items", "$.items is null in the response", "the list");
    begin(&rig, GENERIC, "offset", total, 1);
    require_broken(&rig, "answer.total", "$.total is null in the response", "the total");
}

/* ---- total, next, has_more ---- */

TEST(a_declared_total_that_is_absent_is_a_broken_response)
{
    static const char *const pages[] = {
        "{\"items\":[" RECORD("a") "],\"count\":500}",
    };
    static const char *const nulled[] = { "{\"items\":[" RECORD("a") "],\"total\":null}" };
    static const char *const tree[] = { "{\"items\":[" RECORD("a") "],\"total\":{\"value\":9}}" };
    struct rig rig;

    begin(&rig, GENERIC, "offset", pages, 1);
    require_broken(&rig, "answer.total", "\"items\", \"count\"", "renamed");
    begin(&rig, GENERIC, "offset", nulled, 1);
    require_broken(&rig, "answer.total", "$.total", "null");
    begin(&rig, GENERIC, "offset", tree, 1);
    rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_TOTAL] = true;
    require_broken(&rig, "answer.total", "not a whole number",
                   "an object, even if it may be absent");

    begin(&rig, GENERIC, "offset", pages, 1);
    rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_TOTAL] = true;
    rig.spec.endpoint.page.type = PAGINATION_SINGLE;
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 1, "unless the source says so");
    CHECK(!rig.last.verdict.is_proven, "and nothing is proven");
    rig_release(&rig);
}

TEST(an_absent_next_is_not_an_end)
{
    static const char *const pages[] = {
        "{\"items\":[" RECORD("a") "," RECORD("b") "],\"total\":4,\"nextToken\":\"2\"}",
        "{\"items\":[" RECORD("c") "],\"total\":4,\"next_token\":\"3\"}",
    };
    static const char *const reached[] = {
        "{\"items\":[" RECORD("a") "," RECORD("b") "],\"total\":3,\"nextToken\":\"2\"}",
        "{\"items\":[" RECORD("c") "],\"total\":3}",
    };
    static const char *const twice[] = {
        "{\"items\":[" RECORD("a") "," RECORD("a") "],\"total\":3,\"nextToken\":\"2\"}",
        "{\"items\":[" RECORD("c") "],\"total\":3}",
    };
    static const char *const empty[] = {
        "{\"items\":[" RECORD("a") "," RECORD("b") "],\"total\":4,\"nextToken\":\"2\"}",
        "{\"items\":[]}",
    };
    struct rig rig;

    begin(&rig, GENERIC, "token", pages, 2);
    require_broken(&rig, "answer.next", "\"next_token\"", "renamed");
    begin(&rig, GENERIC, "token", empty, 2);
    require_broken(&rig, "answer.next", "$.nextToken", "an empty page in the middle");
    begin(&rig, GENERIC, "token", twice, 2);
    require_broken(&rig, "answer.next", "$.nextToken", "an id twice does not make up the total");

    begin(&rig, GENERIC, "token", reached, 2);
    rig_run(&rig);
    CHECK(!rig.failed, "the total says that these are all");
    CHECK_EQ(rig.ids.count, 3, "three");
    CHECK(rig.last.verdict.kind == FETCH_COMPLETE && rig.last.verdict.is_proven, "proven");
    rig_release(&rig);
}

TEST(a_next_of_a_wrong_type_is_not_an_end)
{
    static const char *const types[] = { "{\"href\":\"x\"}", "[\"x\"]", "true", "false" };
    static char body[256];
    static const char *const pages[] = { body };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        (void)snprintf(body, sizeof(body),
                       "{\"items\":[" RECORD("a") "],\"total\":35,\"nextToken\":%s}", types[i]);
        begin(&rig, GENERIC, "token", pages, 1);
        rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_NEXT] = true;
        require_broken(&rig, "answer.next", "not a text", types[i]);
    }
}

TEST(a_header_that_is_absent_is_not_an_end)
{
    static const char *const pages[] = { "{\"items\":[" RECORD("a") "]}" };
    struct rig rig;

    begin(&rig, GENERIC, "header", pages, 1);
    rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_NEXT] = false;
    require_broken(&rig, "answer.next", "header X-Next-Token", "no header");
    begin(&rig, GENERIC, "header", pages, 1);
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 1, "where it may be absent, it is the end");
    rig_release(&rig);
}

TEST(a_declared_has_more_that_is_absent_is_a_broken_response)
{
    static const char *const pages[] = { "{\"items\":[" RECORD("a") "],\"hasMore\":true}" };
    static const char *const tree[] = { "{\"items\":[" RECORD("a") "],\"more\":[true]}" };
    static const char *const said[] = { "{\"items\":[" RECORD("a") "],\"more\":false}" };
    static const char *const blank[] = { "{\"items\":[" RECORD(
        "a") "],\"total\":1,\"more\":\"\"}" };
    struct rig rig;

    begin(&rig, GENERIC, "offset_blind", pages, 1);
    rig.spec.endpoint.response.has_more = path_of(&rig, "$.more");
    require_broken(&rig, "answer.has_more", "\"hasMore\"", "renamed");
    begin(&rig, GENERIC, "offset_blind", tree, 1);
    rig.spec.endpoint.response.has_more = path_of(&rig, "$.more");
    require_broken(&rig, "answer.has_more", "not true or false", "a list");
    begin(&rig, GENERIC, "offset", blank, 1);
    rig.spec.endpoint.response.has_more = path_of(&rig, "$.more");
    require_broken(&rig, "answer.has_more", "\"more\"", "an empty text does not say no");
    begin(&rig, GENERIC, "offset_blind", said, 1);
    rig.spec.endpoint.response.has_more = path_of(&rig, "$.more");
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 1, "false is an end");
    rig_release(&rig);
}

TEST(more_pages_and_no_next_is_a_broken_response)
{
    static const char *const pages[] = {
        "{\"items\":[" RECORD("a") "],\"more\":true,\"total\":1,\"nextToken\":null}",
    };
    static const char *const flipped[] = {
        "{\"items\":[" RECORD("a") "," RECORD("b") "],\"more\":false,\"nextToken\":\"2\"}",
        "{\"items\":[" RECORD("c") "],\"more\":true,\"nextToken\":null}",
    };
    struct rig rig;

    begin(&rig, GENERIC, "token", pages, 1);
    rig.spec.endpoint.response.has_more = path_of(&rig, "$.more");
    require_broken(&rig, "answer.next", "$.more says", "has_more is true");
    begin(&rig, GENERIC, "token", flipped, 2);
    rig.spec.endpoint.response.has_more = path_of(&rig, "$.more");
    rig.spec.endpoint.response.total = (struct spec_path){ 0 };
    require_broken(&rig, "answer.next", "$.more says", "nor is it an end after has_more: false");
}

/* One response of this shape in a walk is healed by the next attempt. */
static bool drop_token_once(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->body = STR("{\"items\":[" RECORD("x") "]}");
    return n == 2;
}

TEST(one_broken_response_is_requested_again)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "token", 90);
    fake.spoil = drop_token_once;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "healed");
    rig_release(&rig);
}

/* ---- XML ---- */

#define OAI_OPEN "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\">"
#define OAI_RECORD                                                                         \
    "<record><header><identifier>a</identifier><datestamp>2026-01-01</datestamp></header>" \
    "</record>"

TEST(xml_without_its_list_is_not_an_empty_page)
{
    static const char *const other_namespace[] = {
        "<OAI-PMH><ListRecords>" OAI_RECORD "</ListRecords></OAI-PMH>",
    };
    static const char *const no_list[] = {
        OAI_OPEN "<ListRecords>" OAI_RECORD "<resumptionToken>2</resumptionToken></ListRecords>"
                 "</OAI-PMH>",
        OAI_OPEN "<responseDate>2026-01-01</responseDate></OAI-PMH>",
    };
    static const char *const empty[] = { OAI_OPEN "<ListRecords></ListRecords></OAI-PMH>" };
    struct rig rig;

    begin(&rig, "test/data/fetch/oai.yaml", "harvest", other_namespace, 1);
    rig.spec.endpoint.response.success_when.count = 0;
    require_broken(&rig, "answer.items", "its root is \"OAI-PMH\"", "a forgotten namespace");
    begin(&rig, "test/data/fetch/oai.yaml", "harvest", no_list, 2);
    rig.spec.endpoint.response.success_when.count = 0;
    require_broken(&rig, "answer.items", "\"responseDate\"", "an envelope without the list");

    begin(&rig, "test/data/fetch/oai.yaml", "harvest", empty, 1);
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 0, "an empty list is one");
    rig_release(&rig);

    begin(&rig, "test/data/fetch/oai.yaml", "harvest", no_list + 1, 1);
    rig.spec.endpoint.response.success_when.count = 0;
    rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_ITEMS] = true;
    require_broken(&rig, "answer.items", "nor anything else", "nothing of this source is there");
}

/* "//o:record" and "/o:OAI-PMH//o:record" do not say where the list is. */
TEST(xml_items_of_any_depth_that_are_not_found_are_not_an_empty_page)
{
    static const char *const error[] = { OAI_OPEN "<error>try later</error></OAI-PMH>" };
    static const char *const paths[] = { "//o:record", "/o:OAI-PMH//o:record", "(//o:record)",
                                         "//o:record[o:header]", "//*[local-name()='record']" };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        begin(&rig, "test/data/fetch/oai.yaml", "harvest", error, 1);
        rig.spec.endpoint.response.success_when.count = 0;
        rig.spec.endpoint.response.error_when.count = 0;
        rig.spec.endpoint.response.items.text = str_of(paths[i]);
        require_broken(&rig, "answer.items", "write the whole path", paths[i]);
    }
}

#define OAI_LIST(inner) OAI_OPEN "<ListRecords>" inner "</ListRecords></OAI-PMH>"
#define OAI_TOKEN(text) "<resumptionToken>" text "</resumptionToken>"

static void begin_oai(struct rig *rig, const char *const *pages, int count)
{
    begin(rig, "test/data/fetch/oai.yaml", "harvest", pages, count);
}

TEST(a_container_with_a_list_of_something_else_is_not_an_empty_page)
{
    static const char *const other_space[] = {
        OAI_LIST("<record xmlns=\"urn:other\"/>" OAI_TOKEN("2")),
    };
    static const char *const later[] = {
        OAI_LIST(OAI_RECORD OAI_TOKEN("2")),
        OAI_LIST("<record xmlns=\"\"/>"),
    };
    static const char *const other_name[] = { OAI_LIST("<rec/><rec/>") };
    static const char *const text[] = { OAI_LIST("see the manual") };
    struct rig rig;

    begin_oai(&rig, other_space, 1);
    require_broken(&rig, "answer.items", "\"record\" of the namespace \"urn:other\"",
                   "the items are in another namespace");
    begin_oai(&rig, later, 2);
    require_broken(&rig, "answer.items", "\"record\" of no namespace", "on a later page");
    begin_oai(&rig, other_name, 1);
    require_broken(&rig, "answer.items", "\"rec\" of the namespace", "the items have other names");
    begin_oai(&rig, text, 1);
    require_broken(&rig, "answer.items", "or a text", "a text in place of the items");
}

TEST(a_container_with_other_elements_may_be_an_empty_page)
{
    static const char *const pages[] = {
        OAI_LIST(OAI_TOKEN("")),
        OAI_LIST("<note/><note/><resumptionToken/>"),
        OAI_LIST("<note/>"),
        OAI_LIST("<note/><note xmlns=\"urn:other\"/>"),
        OAI_LIST("\n  <note/>\n"),
        OAI_OPEN
        "<error code=\"noRecordsMatch\"/><ListRecords><rec/><rec/></ListRecords></OAI-PMH>",
    };
    static const char *const none[] = {
        "<responseWrapper><hitCount>0</hitCount><resultList><hint/><hint/></resultList>"
        "</responseWrapper>",
    };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        begin_oai(&rig, pages + i, 1);
        rig_run(&rig);
        CHECK(!rig.failed && rig.ids.count == 0, pages[i]);
        rig_release(&rig);
    }
    begin(&rig, "test/data/fetch/europepmc_xml.yaml", "harvest", none, 1);
    rig_run(&rig);
    CHECK(!rig.failed && rig.ids.count == 0, "a total of 0 says that it is empty");
    rig_release(&rig);
}

/* ---- an empty list, in both formats ---- */

enum { RESPONSES = 6 };

static struct { /* items of the n-th response; the last one repeats */
    bool is_xml;
    const int *counts;
    bool has_next; /* also where there are no items */
} list;

static bool serve_list(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[1024];
    const int count = list.counts[n <= RESPONSES ? n - 1 : RESPONSES - 1];
    size_t len =
        (size_t)snprintf(body, sizeof(body), list.is_xml ? "<reply><list>" : "{\"list\":[");

    (void)self;
    for (int i = 0; i < count; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                list.is_xml ? "%s<item><id>%d</id></item>" : "%s{\"id\":\"%d\"}",
                                i > 0 && !list.is_xml ? "," : "", 10 * n + i);
    len += (size_t)snprintf(body + len, sizeof(body) - len, list.is_xml ? "</list>" : "]");
    if (list.has_next)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                list.is_xml ? "<next>t%d</next>" : ",\"next\":\"t%d\"", n);
    else
        len += (size_t)snprintf(body + len, sizeof(body) - len, "%s",
                                list.is_xml ? "<next/>" : ",\"next\":null");
    len += (size_t)snprintf(body + len, sizeof(body) - len, list.is_xml ? "</reply>" : "}");
    *reply = (struct scripted_reply){ .status = 200, .body = { body, len } };
    return true;
}

struct walked {
    size_t requests;
    size_t ids;
    struct fetch_verdict verdict;
};

static struct walked walk_list(const char *way, bool is_xml, const int *counts, bool has_next)
{
    struct walked walked;
    struct rig rig;
    char name[32];

    (void)snprintf(name, sizeof(name), "%s_%s", is_xml ? "xml" : "json", way);
    fake_source_begin(&fake, &rig, "test/data/fetch/formats.yaml", name, 0);
    list.is_xml = is_xml;
    list.counts = counts;
    list.has_next = has_next;
    fake.spoil = serve_list;
    rig.gate.no_prefetch = true;
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    walked = (struct walked){ rig.http.sent.count, rig.ids.count, rig.last.verdict };
    rig_release(&rig);
    return walked;
}

/* <list/> is what [] is: an end only where it is there again, or after a page that is shorter than
 * another. */
TEST(an_empty_list_is_the_same_in_json_and_in_xml)
{
    static const struct {
        const char *label;
        int counts[RESPONSES];
        size_t requests; /* by offset */
        size_t ids;
    } cases[] = {
        { "nothing at all", { 0 }, 2, 0 },
        { "nothing after a full page", { 2, 0 }, 3, 2 },
        { "emptied once, after a full page", { 2, 0, 2, 1, 0 }, 5, 5 },
        { "nothing after a short page", { 2, 1, 0 }, 3, 3 },
        { "nothing after two full pages", { 2, 2, 0 }, 4, 4 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int k = 0; k < 3; k++) {
            const char *way = k == 0 ? "offset" : "token";
            const struct walked json = walk_list(way, false, cases[i].counts, k == 2);
            const struct walked xml = walk_list(way, true, cases[i].counts, k == 2);

            CHECK_EQ(xml.requests, json.requests, cases[i].label);
            CHECK_EQ(xml.ids, json.ids, cases[i].label);
            CHECK_EQ(xml.verdict.kind, json.verdict.kind, cases[i].label);
            CHECK_EQ(xml.verdict.end, json.verdict.end, cases[i].label);
            for (size_t d = 0; d < FETCH_DOUBTS; d++)
                CHECK_EQ(xml.verdict.doubts[d], json.verdict.doubts[d], cases[i].label);
            if (k > 0)
                continue;
            CHECK_EQ(xml.requests, cases[i].requests, cases[i].label);
            CHECK_EQ(xml.ids, cases[i].ids, cases[i].label);
        }
    }
}
