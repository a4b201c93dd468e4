/* The shipped sources against recorded responses of the services they describe. */
#include <stdlib.h>
#include <string.h>

#include "data/json.h"
#include "data/xml.h"
#include "spec/snapshot.h"
#include "spec/spec.h"
#include "test.h"

static struct arena arena;

static struct spec spec_of(const char *file, const char *operation)
{
    struct fault_list faults;
    struct source source;
    struct snapshot snapshot;
    struct spec spec;
    struct error err;

    arena_release(&arena);
    arena_init(&arena, 64 << 20);
    fault_list_init(&faults, &arena);
    REQUIRE(source_read(&arena, &(struct source_text){ .file = test_read(file) }, &faults, &source),
            file);
    REQUIRE_OK(snapshot_make(
                   &arena,
                   &(struct snapshot_request){ .source = &source, .operation = str_of(operation) },
                   &snapshot, &err),
               err);
    REQUIRE_OK(spec_read(&arena, snapshot.json, &spec, &err), err);
    return spec;
}

static struct str recorded(const char *path)
{
    const char *file = test_shared(path);

    if (file == NULL)
        TEST_SKIP("no recorded responses here: %s", path);
    return test_read(file);
}

static int64_t updated_us(const struct spec_response *response, struct str text)
{
    struct date date;
    struct error err;

    REQUIRE(response->date_format_count > 0, "a form");
    REQUIRE_OK(date_parse(response->date_formats[0], text, &date, &err), err);
    return date.at_us;
}

TEST(crossref_finds_records_ids_dates_total_and_token)
{
    const struct str body = recorded("fixtures/crossref/works-cursor-1.json");
    const struct spec spec = spec_of("sources/crossref.yaml", "harvest");
    const struct spec_response *response = &spec.endpoint.response;
    struct json_doc doc;
    struct json_node list, token;
    struct json_iter it;
    struct error err;
    struct date written;
    struct str text;
    int64_t total;
    size_t items = 0;

    REQUIRE_OK(json_parse(&doc, &arena, body, &err), err);
    list = jsonpath_get(response->items.json, &doc, json_root(&doc));
    for (it = json_each(&doc, list); json_next(&it); items++) {
        const struct json_node id = jsonpath_get(response->id[0].json, &doc, it.value);
        const struct json_node at = jsonpath_get(response->updated_at[0].json, &doc, it.value);
        const struct json_node indexed = json_get(&doc, it.value, STR("indexed"));

        CHECK_EQ(json_type(&doc, id), JSON_STRING, "DOI");
        /* The record says the same date a second time, as a text to the second. */
        REQUIRE_OK(
            json_string(&doc, json_get(&doc, indexed, STR("date-time")), &arena, &text, &err), err);
        REQUIRE_OK(date_parse(date_format_find(STR("rfc3339")), text, &written, &err), err);
        CHECK_EQ(updated_us(response, json_raw(&doc, at)) / 1000000, written.at_us / 1000000,
                 "date");
    }
    CHECK(items > 0, "there are records");
    CHECK(json_i64(&doc, jsonpath_get(response->total.json, &doc, json_root(&doc)), &total),
          "total");
    CHECK(total >= (int64_t)items, "no fewer than on this page");
    token = jsonpath_get(spec.endpoint.page.next.json, &doc, json_root(&doc));
    CHECK_EQ(json_type(&doc, token), JSON_STRING, "token");
    test_note("records of the recorded page: %zu", items);
    arena_release(&arena);
}

TEST(failures_of_crossref_are_distinguished)
{
    static const struct {
        const char *file;
        int status;
        enum rule_meaning meaning;
    } responses[] = {
        { "fixtures/crossref/error-cursor-invalid-404.json", 404, RULE_EXPIRED },
        { "fixtures/crossref/error-validation-400.json", 400, RULE_ERROR },
    };
    const struct spec spec = spec_of("sources/crossref.yaml", "harvest");
    const struct spec_rule_list *rules = &spec.endpoint.response.error_when;

    for (size_t i = 0; i < ARRAY_LEN(responses); i++) {
        const struct str body = recorded(responses[i].file);
        const struct spec_rule *found = NULL;
        struct json_doc doc;
        struct error err;

        REQUIRE_OK(json_parse(&doc, &arena, body, &err), err);
        for (size_t r = 0; found == NULL && r < rules->count; r++) {
            const struct spec_rule *rule = &rules->items[r];
            bool applies = rule->status_count == 0 || rule->statuses[0] == responses[i].status;

            if (rule->contains.len > 0)
                applies &= str_find(body, rule->contains) < body.len;
            if (rule->path.json != NULL)
                applies &= json_exists(jsonpath_get(rule->path.json, &doc, json_root(&doc)));
            if (applies)
                found = rule;
        }
        REQUIRE(found != NULL, responses[i].file);
        CHECK_EQ(found->meaning, responses[i].meaning, responses[i].file);
    }
    arena_release(&arena);
}

TEST(pubmed_finds_the_ids_of_a_search)
{
    const struct str body = recorded("fixtures/pubmed/esearch-json.json");
    const struct spec spec = spec_of("sources/pubmed.yaml", "harvest");
    const struct spec_response *response = &spec.endpoint.response;
    struct json_doc doc;
    struct json_node list;
    struct error err;
    struct str first;

    REQUIRE_OK(json_parse(&doc, &arena, body, &err), err);
    list = jsonpath_get(response->items.json, &doc, json_root(&doc));
    CHECK_EQ(json_count(&doc, list), 25, "retmax of the recording");
    CHECK(
        json_string_is(&doc, jsonpath_get(response->total.json, &doc, json_root(&doc)), STR("65")),
        "count, a string");
    REQUIRE_OK(json_string(&doc, jsonpath_get(response->id[0].json, &doc, json_at(&doc, list, 0)),
                           &arena, &first, &err),
               err);
    CHECK_STR(first, STR("41974676"), "the item is its id");
    arena_release(&arena);
}

static size_t count_of(struct str text, struct str needle)
{
    size_t count = 0, at;

    while ((at = str_find(text, needle)) < text.len) {
        text = str_slice(text, at + needle.len, text.len);
        count++;
    }
    return count;
}

static struct xml_path *compiled(struct str text)
{
    struct xml_path *path;
    struct error err;

    REQUIRE_OK(xml_path_compile(&xml_module, text, NULL, 0, &path, &err), err);
    return path;
}

/* YYYYMMDD of the first DateRevised in these bytes, taken without XPath. */
static struct str revised_in(struct str raw, char out[9])
{
    static const char *const tags[] = { "<Year>", "<Month>", "<Day>" };
    struct str rest = str_slice(raw, str_find(raw, STR("<DateRevised>")), raw.len);
    size_t len = 0;

    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        const struct str digits =
            str_slice(rest, str_find(rest, str_of(tags[i])) + strlen(tags[i]), rest.len);

        for (size_t d = 0; d < digits.len && digits.data[d] != '<' && len < 8; d++)
            out[len++] = digits.data[d];
    }
    return (struct str){ out, len };
}

TEST(pubmed_finds_records_ids_and_dates_of_a_fetch)
{
    const struct str body = recorded("fixtures/pubmed/efetch-2026.xml");
    const struct spec spec = spec_of("sources/pubmed.yaml", "harvest");
    const struct spec_response *response = &spec.detail.response;
    struct xml_path *items_path = compiled(response->items.text);
    struct xml_path *id_path = compiled(response->id[0].text);
    struct xml_path *updated_path = compiled(response->updated_at[0].text);
    struct xml_node_list items;
    struct xml_doc *doc;
    struct error err;

    REQUIRE_OK(xml_open(&xml_module, &arena, &(struct xml_source){ .bytes = body }, &doc, &err),
               err);
    REQUIRE_OK(xml_nodes(&xml_module, items_path, &arena, xml_root(&xml_module, doc), &items, &err),
               err);
    CHECK_EQ(items.count,
             count_of(body, STR("<PubmedArticle>")) + count_of(body, STR("<PubmedBookArticle>")),
             "every record");
    for (size_t i = 0; i < items.count; i++) {
        const struct str raw = xml_raw(&xml_module, doc, items.nodes[i]);
        struct str id, updated;
        char digits[9];
        int64_t number;

        REQUIRE_OK(xml_text(&xml_module, id_path, &arena, items.nodes[i], &id, &err), err);
        CHECK(str_to_i64(id, &number), "a number");
        CHECK(str_find(raw, id) < raw.len, "of this record");
        REQUIRE_OK(xml_text(&xml_module, updated_path, &arena, items.nodes[i], &updated, &err),
                   err);
        CHECK_STR(updated, revised_in(raw, digits), "DateRevised");
        CHECK(updated_us(response, updated) > 0, "a date");
    }
    test_note("records of the recorded response: %zu", items.count);
    xml_path_close(&xml_module, items_path);
    xml_path_close(&xml_module, id_path);
    xml_path_close(&xml_module, updated_path);
    xml_close(&xml_module, doc);
    arena_release(&arena);
}
