/* The recorded answers of the sources that were added last, record by record: ids, dates, totals
 * and what the next request is. What must come out is read from the recorded bytes by the few lines
 * below, which look for members by their name and know nothing of paths, pages or dates of patra's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "fetch_rig.h"
#include "test.h"

enum { VALUES_MAX = 1100 };

struct values {
    struct str items[VALUES_MAX];
    size_t count;
};

/* The texts of all members of that name, in the order of the file, as they are written. */
static void members(struct str text, const char *name, struct values *values)
{
    char key[64];

    (void)snprintf(key, sizeof(key), "\"%s\"", name);
    values->count = 0;
    for (;;) {
        struct str rest;

        text = str_slice(text, str_find(text, str_of(key)), text.len);
        if (text.len == 0)
            return;
        text = str_slice(text, strlen(key), text.len);
        rest = str_trim(text);
        if (!str_starts(rest, STR(":")))
            continue; /* a value that is the name */
        rest = str_trim(str_slice(rest, 1, rest.len));
        if (!str_starts(rest, STR("\"")))
            continue;
        rest = str_slice(rest, 1, rest.len);
        REQUIRE(values->count < VALUES_MAX, "more values than a page has");
        values->items[values->count++] = str_slice(rest, 0, str_find_char(rest, '"'));
    }
}

/* Some write a slash as \/. */
static void drop_backslashes(char *text)
{
    char *to = text;

    for (; *text != '\0'; text++) {
        if (*text != '\\')
            *to++ = *text;
    }
    *to = '\0';
}

/* DOAJ's ids: other members are called id, too. */
static void keep_hex(struct values *values, size_t digits)
{
    size_t kept = 0;

    for (size_t i = 0; i < values->count; i++) {
        const struct str value = values->items[i];

        if (value.len == digits && strspn(value.data, "0123456789abcdef") == digits)
            values->items[kept++] = value;
    }
    values->count = kept;
}

static int64_t number_after(struct str text, const char *name)
{
    char key[64];
    struct str rest;
    int64_t number = 0;

    (void)snprintf(key, sizeof(key), "\"%s\":", name);
    rest = str_slice(text, str_find(text, str_of(key)) + strlen(key), text.len);
    for (size_t i = 0; i < rest.len && strchr(" \n\"0123456789", rest.data[i]) != NULL; i++) {
        if (rest.data[i] >= '0')
            number = 10 * number + (rest.data[i] - '0');
    }
    return number;
}

/* "2026-08-01" or "2020-11-25T02:27:47Z". */
static int64_t instant_in(struct str text)
{
    struct civil civil = { 0 };
    char copy[32];
    int fields;

    REQUIRE(text.len < sizeof(copy), "a date");
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    fields = sscanf(copy, "%d-%d-%dT%d:%d:%dZ", &civil.year, &civil.month, &civil.day, &civil.hour,
                    &civil.minute, &civil.second);
    REQUIRE(fields == 3 || fields == 6, "a day, or a second");
    return instant_from_civil(civil);
}

/* ---- one page each ---- */

static const struct recording {
    const char *source;
    const char *reply;
    const char *id, *id_more; /* members; the second is written after a v */
    size_t id_hex;            /* only ids of that many hexadecimal digits */
    const char *date;         /* NULL: the source has none */
    const char *date_in;      /* the first after this text; of a page of one record */
    bool is_undated;          /* recorded without the dates that the source demands */
    const char *total;        /* NULL: the source uses none */
    const char *next;         /* a member that the next request contains; NULL: `next_url` */
    const char *next_url;
    size_t records; /* counted by hand, so that both sides cannot be empty */
} recordings[] = {
    { .source = "sources/biorxiv.yaml",
      .reply = "fixtures/biorxiv/biorxiv-details-100.json",
      .id = "doi",
      .id_more = "version",
      .date = "date",
      .next_url = "https://api.biorxiv.org/details/biorxiv/2026-01-01/2026-01-01/100/json",
      .records = 100 },
    { .source = "sources/biorxiv.yaml",
      .reply = "fixtures/biorxiv/biorxiv-details-30.json",
      .id = "doi",
      .id_more = "version",
      .date = "date",
      .next_url = "https://api.biorxiv.org/details/biorxiv/2026-01-01/2026-01-01/10/json",
      .records = 10 },
    { .source = "sources/biorxiv.yaml",
      .reply = "fixtures/biorxiv/biorxiv-details-funder.json",
      .id = "doi",
      .id_more = "version",
      .date = "date",
      .next_url = "https://api.biorxiv.org/details/biorxiv/2026-01-01/2026-01-01/3/json",
      .records = 3 },
    { .source = "sources/medrxiv.yaml",
      .reply = "fixtures/biorxiv/medrxiv-details-30.json",
      .id = "doi",
      .id_more = "version",
      .date = "date",
      .next_url = "https://api.biorxiv.org/details/medrxiv/2026-01-01/2026-01-01/10/json",
      .records = 10 },
    { .source = "sources/clinicaltrials.yaml",
      .reply = "fixtures/clinicaltrials/page-total.json",
      .id = "nctId",
      .total = "totalCount",
      .date = "date",
      .date_in = "lastUpdatePostDateStruct",
      .next = "nextPageToken",
      .records = 1 },
    { .source = "sources/clinicaltrials.yaml",
      .reply = "fixtures/clinicaltrials/search_phelan_limit5_20260811.json",
      .id = "nctId",
      .is_undated = true,
      .total = "totalCount",
      .next = "nextPageToken",
      .records = 5 },
    { .source = "sources/clinicaltrials.yaml",
      .reply = "fixtures/clinicaltrials/search_phelan_next_20260811.json",
      .id = "nctId",
      .is_undated = true,
      .next = "nextPageToken",
      .records = 5 },
    { .source = "sources/clinicaltrials.yaml",
      .reply = "fixtures/clinicaltrials/search_melanoma_recruiting_limit3_20260811.json",
      .id = "nctId",
      .is_undated = true,
      .total = "totalCount",
      .next = "nextPageToken",
      .records = 3 },
    { .source = "sources/doaj.yaml",
      .reply = "fixtures/doaj/articles-page1.json",
      .id = "id",
      .id_hex = 32,
      .date = "last_updated",
      .total = "total",
      .next_url = "?page=2&",
      .records = 10 },
    { .source = "sources/doaj.yaml",
      .reply = "fixtures/doaj/articles-30.json",
      .id = "id",
      .id_hex = 32,
      .date = "last_updated",
      .total = "total",
      .next_url = "?page=2&",
      .records = 30 },
    { .source = "sources/doaj.yaml",
      .reply = "fixtures/doaj/articles-2026.json",
      .id = "id",
      .id_hex = 32,
      .date = "last_updated",
      .total = "total",
      .next_url = "?page=2&",
      .records = 3 },
    { .source = "sources/semanticscholar.yaml",
      .reply = "fixtures/semanticscholar/bulk-1.json",
      .id = "paperId",
      .next = "token",
      .records = 1000 },
    { .source = "sources/semanticscholar.yaml",
      .reply = "fixtures/semanticscholar/bulk-2.json",
      .id = "paperId",
      .next = "token",
      .records = 1000 },
};

static struct str body_of(const char *fixture)
{
    const char *path = test_shared(fixture);

    if (path == NULL)
        TEST_SKIP("the fixtures are not here: %s", fixture);
    return test_read(path);
}

/* The digest of the first page, in the rig's arena. */
static void keep_digest(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch)
{
    struct str *digest = rig->context;

    (void)fetch;
    if (digest->data == NULL)
        *digest = arena_copy(&rig->arena, batch->response_digest);
}

static void check_records(const struct rig *rig, const struct recording *recording, struct str body)
{
    static struct values ids, more, dates;

    members(body, recording->id, &ids);
    if (recording->id_hex > 0)
        keep_hex(&ids, recording->id_hex);
    more = (struct values){ .count = 0 };
    dates.count = 0;
    if (recording->id_more != NULL)
        members(body, recording->id_more, &more);
    if (recording->date != NULL)
        members(str_slice(body, str_find(body, str_of(recording->date_in)), body.len),
                recording->date, &dates);
    CHECK_EQ(ids.count, recording->records, recording->reply);
    CHECK_EQ(rig->ids.count, recording->records, recording->reply);
    for (size_t i = 0; i < rig->ids.count && i < ids.count; i++) {
        char id[128];

        (void)snprintf(id, sizeof(id), "%.*s%s%.*s", STR_ARG(ids.items[i]),
                       more.count > 0 ? "v" : "", STR_ARG(more.items[i]));
        drop_backslashes(id);
        CHECK_STR(rig->ids.items[i], str_of(id), recording->reply);
        CHECK_EQ(rig->dates.items[i],
                 recording->date != NULL ? instant_in(dates.items[i]) : INT64_MIN,
                 recording->reply);
    }
}

/* The second request is refused: only its URL matters. */
static void check_next(const struct rig *rig, const struct recording *recording, struct str body)
{
    static struct values next;
    struct str wanted = str_of(recording->next_url);
    struct str url;

    REQUIRE(rig->http.sent.count >= 2, recording->reply);
    url = rig->http.sent.items[1].url;
    if (recording->next != NULL) {
        members(body, recording->next, &next);
        REQUIRE(next.count == 1, "the file has the token once");
        wanted = next.items[0];
    }
    CHECK(str_find(url, wanted) < url.len, recording->reply);
    if (str_find(url, wanted) == url.len)
        test_note("%.*s: requested %.*s", STR_ARG(wanted), STR_ARG(url));
}

TEST(recorded_pages_are_read_record_by_record)
{
    for (size_t i = 0; i < ARRAY_LEN(recordings); i++) {
        const struct recording *recording = &recordings[i];
        const struct str body = body_of(recording->reply);
        struct str digest = { 0 };
        char total[48];
        struct rig rig;

        rig_init(&rig, recording->source, "harvest", NULL);
        rig.order.can_reslice = false; /* the recorded totals are those of other queries */
        rig.spec.endpoint.page.cap = 0;
        rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_UPDATED_AT] |= recording->is_undated;
        rig.gate.no_prefetch = true;
        rig.look = keep_digest;
        rig.context = &digest;
        rig_reply(&rig, recording->reply, NULL);
        scripted_http_reply(&rig.http, &(struct scripted_reply){ .status = 403, .times = -1 });
        rig_run(&rig);
        CHECK_EQ(rig.bad.count, 0, recording->reply);
        check_records(&rig, recording, body);
        check_next(&rig, recording, body);
        if (recording->total != NULL) {
            (void)snprintf(total, sizeof(total), "\"total\":%" PRId64 ",",
                           number_after(body, recording->total));
            CHECK(str_find(digest, str_of(total)) < digest.len, recording->reply);
        }
        rig_release(&rig);
    }
    test_note("%zu recorded pages", ARRAY_LEN(recordings));
}

/* ---- a list to its end ---- */

TEST(a_recorded_bulk_search_is_walked_to_its_end)
{
    static const char *const replies[] = { "fixtures/semanticscholar/bulk-1.json",
                                           "fixtures/semanticscholar/bulk-2.json",
                                           "fixtures/semanticscholar/bulk-3-last.json" };
    static struct values ids;
    size_t before = 0;
    struct rig rig;

    rig_init(&rig, "sources/semanticscholar.yaml", "harvest", NULL);
    for (size_t i = 0; i < ARRAY_LEN(replies); i++)
        rig_reply(&rig, replies[i], NULL);
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.http.sent.count, 3, "a request each");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "whole");
    CHECK_EQ(rig.last.verdict.end, PAGE_END_NO_NEXT, "by the token that is null");
    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        members(body_of(replies[i]), "paperId", &ids);
        for (size_t r = 0; r < ids.count; r++)
            CHECK_STR(rig.ids.items[before + r], ids.items[r], replies[i]);
        before += ids.count;
    }
    CHECK_EQ(rig.ids.count, before, "all of them");
    CHECK_EQ(before, (size_t)number_after(body_of(replies[0]), "total"), "as many as it has");
    rig_release(&rig);
}

TEST(a_day_of_biorxiv_ends_where_it_says_that_no_posts_are_found)
{
    struct rig rig;

    rig_init(&rig, "sources/biorxiv.yaml", "harvest", NULL);
    rig_reply(&rig, "fixtures/biorxiv/biorxiv-details-100.json", NULL);
    rig_reply(&rig, "fixtures/biorxiv/transcribed/no-posts.json", NULL);
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.ids.count, 100, "what there is");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "although its total is 60568");
    rig_release(&rig);
}

TEST(a_search_without_matches_is_empty)
{
    static const struct {
        const char *source;
        const char *body;
    } cases[] = {
        { "sources/biorxiv.yaml",
          "{\"messages\":[{\"status\":\"no articles found\"}],\"collection\":[]}" },
        { "sources/clinicaltrials.yaml", "{\"totalCount\":0,\"studies\":[]}" },
        { "sources/doaj.yaml",
          "{\"total\":0,\"page\":1,\"pageSize\":100,\"query\":\"x\",\"results\":[]}" },
        { "sources/semanticscholar.yaml", "{\"total\": 0, \"token\": null, \"data\": []}" },
        { "sources/semanticscholar.yaml", "{\"total\": 0, \"offset\": 0}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_init(&rig, cases[i].source, "harvest", NULL);
        scripted_http_reply(
            &rig.http,
            &(struct scripted_reply){ .status = 200, .body = str_of(cases[i].body), .times = -1 });
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.ids.count, 0, cases[i].source);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, cases[i].source);
        rig_release(&rig);
    }
}

/* ---- any repository of OAI-PMH, by the template ---- */

/* The text of the next element of this name, whatever its attributes; moves past it. */
static bool element(struct str *text, const char *name, struct str *content, struct str *attributes)
{
    char open[64], close[64];
    size_t at, end;

    (void)snprintf(open, sizeof(open), "<%s", name);
    (void)snprintf(close, sizeof(close), "</%s>", name);
    at = str_find(*text, str_of(open));
    if (at == text->len)
        return false;
    *text = str_slice(*text, at + strlen(open), text->len);
    end = str_find_char(*text, '>');
    *attributes = str_slice(*text, 0, end);
    *text = str_slice(*text, end + 1, text->len);
    *content = str_ends(*attributes, STR("/"))
                   ? STR("")
                   : str_slice(*text, 0, str_find(*text, str_of(close)));
    return true;
}

/* As a URL has it: of the characters that tokens have, these are escaped. */
static void add_escaped(struct str token, char *out, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; i < token.len && len + 4 < size; i++) {
        const char c = token.data[i];

        if (strchr(":/|+=,()[]%&;!*'", c) != NULL)
            len += (size_t)snprintf(out + len, size - len, "%%%02X", (unsigned)c);
        else
            out[len++] = c;
    }
    out[len] = '\0';
}

/* Counted by Python's xml.etree. */
static const struct repository {
    const char *reply;
    size_t records, dead;
} repositories[] = {
    { "fixtures/oai/zenodo-listrecords.xml", 50, 0 },
    { "fixtures/oai/zenodo-listrecords-deleted.xml", 3, 1 },
    { "fixtures/oai/dataverse-deleted-page1.xml", 10, 9 },
    { "fixtures/oai/dataverse-deleted-page2.xml", 9, 6 },
    { "fixtures/oai/mit-deleted-only.xml", 1, 1 },
    { "fixtures/oai/mla-page13.xml", 19, 0 },
    { "fixtures/oai/calpoly-page3-last.xml", 8, 0 },
    { "fixtures/oai/noaa-datestamp-no-z.xml", 5, 0 },
    { "fixtures/oai/udel-tz-shift-page01.xml", 100, 0 },
    { "fixtures/oai/udel-tz-shift-page16-last.xml", 78, 0 },
    { "fixtures/arxiv/oai-listrecords.xml", 2, 0 },
    { "fixtures/pubmed/pmc-oai-page01.xml", 50, 0 },
};

static void check_repository(const struct rig *rig, const struct repository *repository,
                             struct str body)
{
    const char *reply = repository->reply;
    struct str rest = body, header, attributes, token;
    size_t count = 0, dead = 0;

    while (element(&rest, "header", &header, &attributes)) {
        struct str id = { 0 }, stamp = { 0 }, none, fields = header;
        const bool is_dead = str_find(attributes, STR("deleted")) < attributes.len;

        REQUIRE(element(&fields, "identifier", &id, &none), "an identifier");
        REQUIRE(element(&fields, "datestamp", &stamp, &none), "a datestamp");
        REQUIRE(count < rig->ids.count, reply);
        CHECK_STR(rig->ids.items[count], id, reply);
        CHECK_EQ(rig->dates.items[count], instant_in(stamp), reply);
        CHECK_EQ(rig_has(&rig->dead, id), is_dead, reply);
        dead += is_dead;
        count++;
    }
    CHECK_EQ(count, repository->records, reply);
    CHECK_EQ(dead, repository->dead, reply);
    CHECK_EQ(rig->ids.count, count, reply);
    CHECK_EQ(rig->dead.count, dead, reply);
    if (element(&body, "resumptionToken", &token, &attributes) && str_trim(token).len > 0) {
        char escaped[1024];
        struct str url;

        add_escaped(str_trim(token), escaped, sizeof(escaped));
        REQUIRE(rig->http.sent.count >= 2, reply);
        url = rig->http.sent.items[1].url;
        CHECK(str_ends(url,
                       arena_printf((struct arena *)&rig->arena, "&resumptionToken=%s", escaped)),
              reply);
        CHECK(str_find(url, STR("metadataPrefix")) == url.len, "the token alone");
    } else {
        CHECK(!rig->failed, rig->err.text);
        CHECK_EQ(rig->last.verdict.kind, FETCH_COMPLETE, reply);
    }
}

TEST(recorded_repositories_are_read_record_by_record)
{
    for (size_t i = 0; i < ARRAY_LEN(repositories); i++) {
        const struct str body = body_of(repositories[i].reply);
        struct rig rig;

        rig_init(&rig, "sources/zenodo.yaml", "harvest", NULL);
        rig.order.can_reslice = false;
        /* The last pages of longer lists tell how many all have. */
        rig.spec.endpoint.response.total = (struct spec_path){ 0 };
        rig.gate.no_prefetch = true;
        rig_reply(&rig, repositories[i].reply, NULL);
        scripted_http_reply(&rig.http, &(struct scripted_reply){ .status = 403, .times = -1 });
        rig_run(&rig);
        CHECK_EQ(rig.bad.count, 0, repositories[i].reply);
        check_repository(&rig, &repositories[i], body);
        rig_release(&rig);
    }
}

/* ---- records by their ids ---- */

TEST(recorded_single_records_are_read)
{
    static const struct {
        const char *source, *reply, *id, *url;
        const char *date, *date_in;
        bool is_undated;
    } cases[] = {
        { "sources/clinicaltrials.yaml", "fixtures/clinicaltrials/study-c.json", "NCT04207047",
          "https://clinicaltrials.gov/api/v2/studies/NCT04207047?format=json", "date",
          "lastUpdatePostDateStruct", false },
        { "sources/clinicaltrials.yaml", "fixtures/clinicaltrials/get_nct06382129_20260811.json",
          "NCT06382129", "https://clinicaltrials.gov/api/v2/studies/NCT06382129?format=json", NULL,
          NULL, true },
        { "sources/clinicaltrials.yaml", "fixtures/clinicaltrials/study-small.json", "NCT00465816",
          "https://clinicaltrials.gov/api/v2/studies/NCT00465816?format=json", NULL, NULL, true },
        { "sources/doaj.yaml", "fixtures/doaj/article-single.json",
          "0005e11ec616453f854070069385e057",
          "https://doaj.org/api/articles/0005e11ec616453f854070069385e057", "last_updated", "",
          false },
    };
    static struct values dates;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str body = body_of(cases[i].reply);
        const struct str id = str_of(cases[i].id);
        struct rig rig;

        rig_init(&rig, cases[i].source, "update", NULL);
        rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_UPDATED_AT] |= cases[i].is_undated;
        rig.slice.dimension = SLICE_ID;
        rig.order.ids = &id;
        rig.order.id_count = 1;
        rig_reply(&rig, cases[i].reply, NULL);
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_STR(rig.http.sent.items[0].url, str_of(cases[i].url), cases[i].reply);
        CHECK_EQ(rig.ids.count, 1, cases[i].reply);
        CHECK(rig_has(&rig.ids, id), cases[i].reply);
        if (!cases[i].is_undated && rig.ids.count == 1) {
            members(str_slice(body, str_find(body, str_of(cases[i].date_in)), body.len),
                    cases[i].date, &dates);
            CHECK_EQ(rig.dates.items[0], instant_in(dates.items[0]), cases[i].reply);
        }
        rig_release(&rig);
    }
}

/* These studies were recorded without the date that the source demands. */
TEST(a_page_of_studies_without_dates_is_refused)
{
    struct rig rig;

    rig_init(&rig, "sources/clinicaltrials.yaml", "harvest", NULL);
    rig.order.can_reslice = false;
    rig_reply(&rig, "fixtures/clinicaltrials/search_phelan_limit5_20260811.json", NULL);
    rig.http.script.items[0].times = -1;
    rig_run(&rig);
    CHECK(rig.failed, "an answer that may be another than the source describes");
    CHECK(strstr(rig.err.text, "all 5 records of the page are bad (date.missing") != NULL,
          rig.err.text);
    CHECK_EQ(rig.ids.count, 0, "nothing is taken");
    rig_release(&rig);
}

TEST(a_batch_of_papers_has_null_for_one_that_is_not_found)
{
    static struct values ids;
    struct rig rig;

    members(body_of("fixtures/semanticscholar/batch-null-items.json"), "paperId", &ids);
    REQUIRE(ids.count == 3, "three papers were recorded");
    rig_init(&rig, "sources/semanticscholar.yaml", "update", NULL);
    rig.slice.dimension = SLICE_ID;
    rig.order.ids = (const struct str[]){ STR("none"), ids.items[0], ids.items[1], ids.items[2] };
    rig.order.id_count = 4;
    rig_reply(&rig, "fixtures/semanticscholar/batch-null-items.json", NULL);
    scripted_http_reply(
        &rig.http, &(struct scripted_reply){ .status = 200, .body = STR("[null]"), .times = -1 });
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.ids.count, 3, "those that were found");
    for (size_t i = 0; i < ids.count; i++)
        CHECK(rig_has(&rig.ids, ids.items[i]), "by their ids");
    CHECK_EQ(rig.bad.count, 0, "null is not a bad record");
    CHECK_EQ(rig.lost.count, 1, "but a missing one");
    rig_release(&rig);
}

/* ---- failures ---- */

static const struct {
    const char *source, *reply;
    enum error_level level;
    const char *code, *says;
} refusals[] = {
    { "sources/semanticscholar.yaml", "fixtures/semanticscholar/transcribed/error-429.json",
      ERROR_TRANSIENT, "answer.throttled", "status 429" },
    { "sources/semanticscholar.yaml", "fixtures/semanticscholar/error-403.json", ERROR_FATAL,
      "answer.rule", "an error, by the rule key" },
    { "sources/semanticscholar.yaml", "fixtures/semanticscholar/error-400-fields.json",
      ERROR_REQUEST, "answer.status", "Unrecognized or unsupported fields" },
};

TEST(recorded_failures_have_their_level)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct rig rig;

        rig_init(&rig, refusals[i].source, "harvest", NULL);
        rig_reply(&rig, refusals[i].reply, NULL);
        rig.http.script.items[0].times = -1;
        rig_run(&rig);
        CHECK(rig.failed, refusals[i].reply);
        CHECK_EQ(rig.err.level, refusals[i].level, refusals[i].reply);
        CHECK_STR(str_of(rig.err.code), str_of(refusals[i].code), refusals[i].reply);
        CHECK(strstr(rig.err.text, refusals[i].says) != NULL, rig.err.text);
        rig_release(&rig);
    }
}
