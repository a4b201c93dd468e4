/* Recorded responses of real services, read as their sources describe them. The numbers and digests
 * were taken from the files by Python (json, xml.etree, hashlib): the SHA-256 of the ids of all
 * pages, in order, with a line feed between them.
 */

#include <string.h>

#include "data/hash.h"
#include "engine/fetch/reread.h"
#include "fetch_rig.h"
#include "test.h"

static const struct shape {
    const char *label;
    const char *file, *operation;
    const char *replies[4];
    int stop_after; /* the recording ends before the list does */
    size_t records, dead, bad;
    const char *digest; /* its beginning; NULL: not asked for */
    enum fetch_verdict_kind verdict;
    bool is_proven;
    enum page_reason end;
} shapes[] = {
    { "crossref scroll",
      "sources/crossref.yaml",
      "harvest",
      { "fixtures/crossref/works-cursor-1.json", "fixtures/crossref/works-cursor-2.json",
        "fixtures/crossref/works-cursor-3-same-url.json" },
      3,
      60,
      0,
      0,
      "2ec807405d9bbd04",
      FETCH_COMPLETE,
      false,
      PAGE_REASON_NONE },
    { "crossref, 2 MB page",
      "sources/crossref.yaml",
      "harvest",
      { "fixtures/crossref/works-rows100-big.json" },
      1,
      100,
      0,
      0,
      "82ed0b03e7a0ad7e",
      FETCH_COMPLETE,
      false,
      PAGE_REASON_NONE },
    { "crossref, nothing",
      "sources/crossref.yaml",
      "harvest",
      { "fixtures/crossref/works-empty.json" },
      0,
      0,
      0,
      0,
      NULL,
      FETCH_COMPLETE,
      true,
      PAGE_END_NO_NEXT },
    { "europe pmc cursor",
      "sources/europepmc.yaml",
      "harvest",
      { "fixtures/europepmc/walk-page1.json", "fixtures/europepmc/walk-page2.json",
        "fixtures/europepmc/walk-page3.json" },
      3,
      300,
      0,
      0,
      "327173b45a73c391",
      FETCH_COMPLETE,
      false,
      PAGE_REASON_NONE },
    { "europe pmc, nothing",
      "sources/europepmc.yaml",
      "harvest",
      { "fixtures/europepmc/search-no-results.json" },
      0,
      0,
      0,
      0,
      NULL,
      FETCH_COMPLETE,
      true,
      PAGE_END_NO_NEXT },
    { "europe pmc XML, the cursor is echoed",
      "test/data/fetch/europepmc_xml.yaml",
      "harvest",
      { "fixtures/europepmc/no-results-cursor-echo.xml" },
      0,
      0,
      0,
      0,
      NULL,
      FETCH_COMPLETE,
      true,
      PAGE_END_SAME_TOKEN },
    { "openalex, a short page and an empty one",
      "sources/openalex.yaml",
      "harvest",
      { "fixtures/openalex/works-cursor-1.json",
        "fixtures/openalex/works-cursor-2-empty-last.json" },
      0,
      2,
      0,
      0,
      "6eff8f515183b35c",
      FETCH_COMPLETE,
      true,
      PAGE_END_NO_NEXT },
    { "openalex, 38 of 38, and a cursor",
      "sources/openalex.yaml",
      "harvest",
      { "fixtures/openalex/works-cursor-200.json" },
      1,
      38,
      0,
      0,
      "866534a6e4fcb394",
      FETCH_COMPLETE,
      false,
      PAGE_REASON_NONE },
    { "datacite next link",
      "sources/datacite.yaml",
      "harvest",
      { "fixtures/datacite/dois-cursor-era.json" },
      1,
      25,
      0,
      0,
      "a4cb510d5bf78f7d",
      FETCH_COMPLETE,
      false,
      PAGE_REASON_NONE },
    { "OAI with tombstones",
      "test/data/fetch/oai.yaml",
      "harvest",
      { "fixtures/oai/dataverse-deleted-page1.xml", "fixtures/oai/dataverse-deleted-page2.xml" },
      0,
      19,
      15,
      0,
      NULL,
      FETCH_COMPLETE,
      true,
      PAGE_END_NO_NEXT },
    { "OAI, a token too many",
      "test/data/fetch/oai.yaml",
      "harvest",
      { "fixtures/oai/mla-page13.xml", "fixtures/oai/mla-page14-norecordsmatch.xml" },
      0,
      19,
      0,
      0,
      "6225c053d0412d26",
      FETCH_COMPLETE,
      false,
      PAGE_END_NO_NEXT },
    { "OAI, no records match",
      "test/data/fetch/oai.yaml",
      "harvest",
      { "fixtures/oai/zenodo-422-norecordsmatch.xml" },
      0,
      0,
      0,
      0,
      NULL,
      FETCH_COMPLETE,
      false,
      PAGE_END_NO_NEXT },
    { "OAI, one tombstone",
      "test/data/fetch/oai.yaml",
      "harvest",
      { "fixtures/oai/mit-deleted-only.xml" },
      0,
      1,
      1,
      0,
      "9d8b94202a12a4dd",
      FETCH_COMPLETE,
      false,
      PAGE_END_NO_NEXT },
    { "OAI, arXiv",
      "sources/arxiv.yaml",
      "harvest",
      { "fixtures/arxiv/oai-listrecords.xml" },
      0,
      2,
      0,
      0,
      "c60420975ee4fcbd",
      FETCH_COMPLETE,
      false,
      PAGE_END_NO_NEXT },
    { "OAI, arXiv, 1.9 MB",
      "sources/arxiv.yaml",
      "harvest",
      { "fixtures/arxiv/oai-listrecords-2014.xml" },
      0,
      897,
      0,
      0,
      "6d6d6d4017619f06",
      FETCH_COMPLETE,
      false,
      PAGE_END_NO_NEXT },
    { "OAI, PMC",
      "test/data/fetch/oai.yaml",
      "harvest",
      { "fixtures/pubmed/pmc-oai-page01.xml", "fixtures/pubmed/pmc-oai-page02.xml",
        "fixtures/pubmed/pmc-oai-page17-last.xml" },
      0,
      144,
      0,
      0,
      NULL,
      FETCH_COMPLETE,
      false,
      PAGE_END_NO_NEXT },
    { "arXiv Atom",
      "test/data/fetch/arxiv.yaml",
      "harvest",
      { "fixtures/arxiv/query-0-10.xml", "fixtures/arxiv/query-10-10.xml",
        "fixtures/arxiv/query-20-10.xml" },
      3,
      30,
      0,
      0,
      NULL,
      FETCH_COMPLETE,
      false,
      PAGE_REASON_NONE },
    { "arXiv Atom, unknown id",
      "test/data/fetch/arxiv.yaml",
      "harvest",
      { "fixtures/arxiv/id-unknown-empty.xml" },
      0,
      0,
      0,
      0,
      NULL,
      FETCH_COMPLETE,
      true,
      PAGE_END_EMPTY },
};

static void check_digest(const struct rig *rig, const struct shape *shape)
{
    char hex[HASH_HEX_MAX];
    struct hash hash;
    struct hash_sum sum;
    struct error err;

    hash_init(&hash);
    for (size_t i = 0; i < rig->ids.count; i++) {
        if (i > 0)
            hash_add(&hash, STR("\n"));
        hash_add(&hash, rig->ids.items[i]);
    }
    REQUIRE_OK(hash_end(&hash, &sum, &err), err);
    hash_hex(&sum, hex);
    CHECK(str_starts(str_of(hex), str_of(shape->digest)), shape->label);
}

/* Recorded without the cursor that the source sends. */
static bool lacks_next(const struct shape *shape)
{
    return strstr(shape->replies[0], "works-rows100-big") != NULL;
}

TEST(recorded_pages_are_read_as_their_sources_describe_them)
{
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        const struct shape *shape = &shapes[i];
        struct rig rig;

        rig_init(&rig, shape->file, shape->operation, NULL);
        rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_NEXT] |= lacks_next(shape);
        rig.order.can_reslice = false; /* the recorded totals are those of other queries */
        for (size_t r = 0; r < 4 && shape->replies[r] != NULL; r++)
            rig_reply(&rig, shape->replies[r], NULL);
        rig.stop_after = shape->stop_after;
        rig.gate.no_prefetch = shape->stop_after > 0;
        rig_run(&rig);
        if (rig.failed)
            test_fail(__FILE__, __LINE__, "%s: %s", shape->label, rig.err.text);
        CHECK_EQ(rig.ids.count, shape->records, shape->label);
        CHECK_EQ(rig.dead.count, shape->dead, shape->label);
        CHECK_EQ(rig.bad.count, shape->bad, shape->label);
        if (shape->digest != NULL)
            check_digest(&rig, shape);
        CHECK_EQ(rig.last.is_last, shape->stop_after == 0, shape->label);
        if (shape->stop_after == 0) {
            CHECK_EQ(rig.last.verdict.kind, shape->verdict, shape->label);
            CHECK_EQ(rig.last.verdict.is_proven, shape->is_proven, shape->label);
            CHECK_STR(str_of(page_reason_name(rig.last.verdict.end)),
                      str_of(page_reason_name(shape->end)), shape->label);
        }
        rig_release(&rig);
    }
    test_note("%zu shapes of recorded answers", ARRAY_LEN(shapes));
}

/* ---- their records, read again one by one ---- */

/* Without its surroundings each record is what it was on its page. */
static size_t check_reread(const struct rig *rig, const char *label)
{
    const struct spec_endpoint *endpoint =
        rig->spec.is_two_phase ? &rig->spec.detail : &rig->spec.endpoint;
    struct error err = { 0 };
    struct arena arena;

    arena_init(&arena, (size_t)64 << 20);
    for (size_t i = 0; i < rig->ids.count; i++) {
        struct reread reread;

        arena_reset(&arena);
        REQUIRE_OK(reread_open(&reread, &arena,
                               &(struct reread_from){ .endpoint = endpoint,
                                                      .payload = rig->payloads.items[i] },
                               &err),
                   err);
        CHECK(record_is_good(&reread.record), label);
        if (record_is_good(&reread.record)) {
            CHECK_STR(reread.record.provider_id, rig->ids.items[i], label);
            CHECK_STR(reread.record.payload, rig->payloads.items[i], label);
            CHECK_EQ(reread.record.has_updated_at ? reread.record.updated_at_us : INT64_MIN,
                     rig->dates.items[i], label);
            CHECK_EQ(reread.record.is_deleted, rig_has(&rig->dead, rig->ids.items[i]), label);
        }
        reread_close(&reread);
    }
    arena_release(&arena);
    return rig->ids.count;
}

TEST(stored_records_are_read_again_as_they_were_on_their_page)
{
    size_t records = 0;

    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        const struct shape *shape = &shapes[i];
        struct rig rig;

        rig_init(&rig, shape->file, shape->operation, NULL);
        rig.order.can_reslice = false;
        rig.spec.endpoint.response.may_be_absent[RESPONSE_PART_NEXT] |= lacks_next(shape);
        for (size_t r = 0; r < 4 && shape->replies[r] != NULL; r++)
            rig_reply(&rig, shape->replies[r], NULL);
        rig.stop_after = shape->stop_after;
        rig.gate.no_prefetch = shape->stop_after > 0;
        rig_run(&rig);
        records += check_reread(&rig, shape->label);
        rig_release(&rig);
    }
    test_note("%zu recorded records, one by one", records);
}

TEST(bytes_that_are_not_a_record_are_a_bad_record)
{
    static const char *const files[] = { "sources/crossref.yaml", "test/data/fetch/oai.yaml" };
    struct error err = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct reread reread;
        struct rig rig;

        rig_init(&rig, files[i], "harvest", NULL);
        REQUIRE_OK(reread_open(&reread, &rig.arena,
                               &(struct reread_from){ .endpoint = &rig.spec.endpoint,
                                                      .payload = STR("{\"a\":<b") },
                               &err),
                   err);
        CHECK(!record_is_good(&reread.record), files[i]);
        CHECK_STR(str_of(reread.record.reason), STR("item.syntax"), files[i]);
        CHECK(reread.record.detail.len > 0, "and what is wrong");
        reread_close(&reread);
        rig_release(&rig);
    }
}

/* ---- responses that are not pages ---- */

static const struct {
    const char *label;
    const char *file, *operation;
    const char *reply;
    enum error_level level;
    const char *code;
    const char *says; /* the source's own words */
} refusals[] = {
    { "crossref 429 HTML", "sources/crossref.yaml", "harvest", "fixtures/crossref/error-429.html",
      ERROR_TRANSIENT, "answer.throttled", "status 429" },
    { "crossref 504 HTML", "sources/crossref.yaml", "harvest", "fixtures/crossref/error-504.html",
      ERROR_TRANSIENT, "answer.status", "<title>504 Gateway Time-out" },
    { "crossref 404 text", "sources/crossref.yaml", "harvest",
      "fixtures/crossref/error-404-plain.txt", ERROR_REQUEST, "answer.status",
      "\"Resource not found.\"" },
    { "crossref validation", "sources/crossref.yaml", "harvest",
      "fixtures/crossref/error-validation-400.json", ERROR_REQUEST, "answer.rule",
      "rule validation: \"Integer specified as things but must be a positive" },
    { "crossref 301", "sources/crossref.yaml", "harvest", "fixtures/crossref/redirect-301.html",
      ERROR_REQUEST, "answer.status", "redirects to" },
    { "pubmed 429", "sources/pubmed.yaml", "harvest",
      "fixtures/pubmed/transcribed/rate-limit-429.json", ERROR_TRANSIENT, "answer.throttled",
      "rule rate-limit: \"API rate limit exceeded\"" },
    { "pubmed, the history is gone", "sources/pubmed.yaml", "harvest",
      "fixtures/pubmed/transcribed/esearch-webenv-expired.json", ERROR_REQUEST, "answer.rule",
      "rule search-error: \"Unable to obtain query #1\"" },
    { "europe pmc, an error in 200", "sources/europepmc.yaml", "harvest",
      "fixtures/europepmc/transcribed/error-in-200.json", ERROR_REQUEST, "answer.rule",
      "rule refused: \"Invalid page size provided." },
    { "openalex, a paid filter", "sources/openalex.yaml", "harvest",
      "fixtures/openalex/transcribed/error-429-plan.json", ERROR_FATAL, "answer.rule",
      "filter requires a Premium, Institutional" },
    { "openalex, a bad key", "sources/openalex.yaml", "harvest", "fixtures/openalex/error-401.json",
      ERROR_FATAL, "answer.status", "access is refused" },
    { "openalex, a bad filter", "sources/openalex.yaml", "harvest",
      "fixtures/openalex/error-400-filter.json", ERROR_REQUEST, "answer.status",
      "json: \"DOESNTEXIST is not a valid field." },
    { "openalex, HTML", "sources/openalex.yaml", "harvest", "fixtures/openalex/error-404.html",
      ERROR_REQUEST, "answer.status", "<title>404 Not Found" },
    { "datacite 404", "sources/datacite.yaml", "harvest", "fixtures/datacite/error-404.json",
      ERROR_REQUEST, "answer.status", "\"The resource you are looking for doesn't exist.\"" },
    { "arXiv, an error in 200", "test/data/fetch/arxiv.yaml", "harvest",
      "fixtures/arxiv/error-in-200.xml", ERROR_REQUEST, "answer.rule", "start must be an integer" },
    { "arXiv, an error in 400", "test/data/fetch/arxiv.yaml", "harvest",
      "fixtures/arxiv/id-malformed-400.xml", ERROR_REQUEST, "answer.rule",
      "incorrect id format for abc" },
    { "arXiv OAI 503", "sources/arxiv.yaml", "harvest", "fixtures/arxiv/oai-503-retry-after.html",
      ERROR_TRANSIENT, "answer.status", "Retry after 10 seconds" },
    { "OAI, not well-formed", "test/data/fetch/oai.yaml", "harvest",
      "fixtures/oai/pcurio-not-wellformed.xml", ERROR_TRANSIENT, "answer.syntax", "invalid Char" },
    { "OAI, 500 without a body", "test/data/fetch/oai.yaml", "harvest",
      "fixtures/oai/mit-500-empty.xml", ERROR_TRANSIENT, "answer.status", "status 500" },
    { "OAI, no such id", "test/data/fetch/oai.yaml", "harvest",
      "fixtures/oai/mit-iddoesnotexist.xml", ERROR_REQUEST, "answer.rule",
      "rule oai-error: \"The given id does not exist\"" },
};

TEST(recorded_failures_have_their_level_and_code)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct rig rig;

        rig_init(&rig, refusals[i].file, refusals[i].operation, NULL);
        rig_reply(&rig, refusals[i].reply, NULL);
        rig.http.script.items[0].times = -1;
        rig_run(&rig);
        CHECK(rig.failed, refusals[i].label);
        CHECK(strstr(rig.err.text, refusals[i].says) != NULL, rig.err.text);
        CHECK_EQ(rig.err.level, refusals[i].level, refusals[i].label);
        CHECK_STR(str_of(rig.err.code), str_of(refusals[i].code), refusals[i].label);
        CHECK_EQ(rig.gate.acquired, refusals[i].level == ERROR_TRANSIENT ? 5 : 1,
                 refusals[i].label);
        CHECK_EQ(rig.ids.count, 0, "nothing unreadable is a page");
        rig_release(&rig);
    }
    test_note("%zu recorded failures", ARRAY_LEN(refusals));
}

TEST(retry_after_of_a_recorded_503_is_obeyed)
{
    struct rig rig;
    int64_t slept_us;

    rig_init(&rig, "test/data/fetch/oai.yaml", "harvest", NULL);
    rig_reply(&rig, "fixtures/arxiv/oai-503-retry-after.html", NULL);
    rig_reply(&rig, "fixtures/arxiv/oai-listrecords.xml", NULL);
    rig_run(&rig);
    slept_us = rig.clock.slept_us;
    CHECK(!rig.failed, "then it answers");
    CHECK_EQ(rig.gate.retry_after_us, 10 * US_PER_SECOND, "the gate gets it");
    CHECK(slept_us >= 10 * US_PER_SECOND, "and the walk waits");
    CHECK_EQ(rig.gate.failing, 1, "a 503 is a failing source");
    rig_release(&rig);
}

/* ---- the shipped sources: records by their ids ---- */

static const struct {
    const char *file;
    const char *id;
    const char *reply;
    const char *asked;
    size_t records;
    int64_t updated_us;
    const char *fields; /* stands in the record handed on */
} by_id[] = {
    { "sources/arxiv.yaml", "oai:arXiv.org:1810.09584", "fixtures/arxiv/oai-arxivraw.xml",
      "https://oaipmh.arxiv.org/oai?verb=GetRecord&metadataPrefix=arXivRaw&"
      "identifier=oai%3AarXiv.org%3A1810.09584",
      1, INT64_C(1547510400000000), "\"id\":\"1810.09584\"" },
    { "sources/datacite.yaml", "10.5438/0012", "fixtures/datacite/doi-single.json",
      "https://api.datacite.org/dois/10.5438%2F0012", 1, INT64_C(1749503158000000),
      "\"doi\":\"10.5438/0012\"" },
    { "sources/openalex.yaml", "https://openalex.org/W3046863325",
      "fixtures/openalex/works-cursor-1.json",
      "https://api.openalex.org/works?filter=openalex%3Ahttps%3A%2F%2Fopenalex.org%2FW3046863325&"
      "per_page=100",
      2, INT64_C(1762400798306776), "\"id\":\"https://openalex.org/W3046863325\"" },
    { "sources/crossref.yaml", "10.1371/journal.pone.0033693", "fixtures/crossref/work-single.json",
      "https://api.crossref.org/works/10.1371%2Fjournal.pone.0033693?mailto=someone%40example.org",
      1, INT64_C(1780775737845000), "\"doi\":\"10." },
};

struct first_record {
    int64_t updated_us;
    struct str fields;
};

static void look_at_first(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch)
{
    struct first_record *first = rig->context;
    struct record_origin origin;
    struct record_fields fields;
    struct error err;

    if (first->fields.data != NULL || batch->record_count == 0)
        return;
    first->updated_us = batch->records[0].updated_at_us;
    origin = fetch_origin(fetch);
    origin.arena = &rig->arena;
    REQUIRE_OK(record_fields(&origin, &batch->records[0], &fields, &err), err);
    first->fields = fields.published;
}

TEST(shipped_sources_request_records_by_their_ids)
{
    for (size_t i = 0; i < ARRAY_LEN(by_id); i++) {
        const struct str id = str_of(by_id[i].id);
        struct first_record first = { 0 };
        struct rig rig;

        rig_init(&rig, by_id[i].file, "update", NULL);
        rig.slice.dimension = SLICE_ID;
        rig.order.ids = &id;
        rig.order.id_count = 1;
        rig.look = look_at_first;
        rig.context = &first;
        rig_reply(&rig, by_id[i].reply, NULL);
        rig_run(&rig);
        if (rig.failed)
            test_fail(__FILE__, __LINE__, "%s: %s", by_id[i].file, rig.err.text);
        CHECK_STR(rig.http.sent.items[0].url, str_of(by_id[i].asked), by_id[i].file);
        CHECK_EQ(rig.ids.count, by_id[i].records, by_id[i].file);
        CHECK(rig_has(&rig.ids, id), by_id[i].file);
        CHECK_EQ(rig.lost.count, 0, by_id[i].file);
        CHECK_EQ(first.updated_us, by_id[i].updated_us, by_id[i].file);
        CHECK(str_find(first.fields, str_of(by_id[i].fields)) < first.fields.len, by_id[i].file);
        rig_release(&rig);
    }
}

/* ---- odd records ---- */

TEST(records_that_are_null_are_not_records)
{
    struct rig rig;

    rig_init(&rig, "test/data/fetch/semanticscholar.yaml", "update", NULL);
    rig.slice.dimension = SLICE_ID;
    rig.order.ids = (const struct str[]){ STR("CorpusId:211530585"), STR("none") };
    rig.order.id_count = 2;
    rig_reply(&rig, "fixtures/semanticscholar/batch-null-items.json", NULL);
    scripted_http_reply(
        &rig.http, &(struct scripted_reply){ .status = 200, .body = STR("[null]"), .times = -1 });
    rig_run(&rig);
    if (rig.failed)
        test_fail(__FILE__, __LINE__, "%s", rig.err.text);
    CHECK(rig.ids.count >= 1, "what is there");
    CHECK_EQ(rig.bad.count, 0, "null is not a bad record");
    CHECK(rig.lost.count >= 1, "but a missing one");
    rig_release(&rig);
}
