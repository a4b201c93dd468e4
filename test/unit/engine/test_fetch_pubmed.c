/* PubMed in its two phases, ids and then records, over recorded responses. */
#include <stdio.h>

#include "fetch_rig.h"
#include "test.h"

TEST(pubmed_ids_lead_to_their_records)
{
    static const struct http_header type = { STR_INIT("Content-Type"),
                                             STR_INIT("application/json") };
    struct rig rig;

    rig_init(&rig, "sources/pubmed.yaml", "harvest", NULL);
    /* The six ids of the recorded efetch. */
    scripted_http_reply(
        &rig.http, &(struct scripted_reply){
                       .url_part = STR("esearch"),
                       .status = 200,
                       .headers = &type,
                       .header_count = 1,
                       .body = STR("{\"esearchresult\":{\"count\":\"6\",\"idlist\":[\"41974676\","
                                   "\"41033137\",\"40980874\",\"40964672\",\"40593557\","
                                   "\"40540657\"]}}") });
    rig_reply(&rig, "fixtures/pubmed/efetch-2026.xml", "efetch");
    rig_run(&rig);
    if (rig.failed)
        test_fail(__FILE__, __LINE__, "%s", rig.err.text);
    CHECK_EQ(rig.listed.count, 6, "ids");
    CHECK_EQ(rig.ids.count, 6, "records");
    CHECK_EQ(rig.lost.count, 0, "none is missing");
    CHECK_EQ(rig.batches, 2, "one page, one batch of details");
    CHECK(rig.last.verdict.is_proven, "proven");
    CHECK_STR(rig.http.sent.items[1].body,
              STR("retmode=xml&id=41974676%2C41033137%2C40980874%2C40964672%2C40593557%2C40540657"),
              "the form");
    rig_release(&rig);
}

/* As NLM's DTD has them: DateRevised is optional in a BookDocument. */
TEST(pubmed_books_without_a_date_of_revision_are_records)
{
    static const char LIST[] =
        "{\"esearchresult\":{\"count\":\"3\",\"idlist\":[\"20301295\",\"20301296\",\"3\"]}}";
    static const char BOOKS[] =
        "<?xml version=\"1.0\" ?><PubmedArticleSet>"
        "<PubmedBookArticle><BookDocument><PMID Version=\"1\">20301295</PMID><Book><Publisher>"
        "<PublisherName>NCBI</PublisherName></Publisher><BookTitle book=\"gene\">Genes</BookTitle>"
        "<PubDate><Year>1993</Year><Month>Feb</Month></PubDate></Book><ContributionDate><Year>2001"
        "</Year><Month>2</Month><Day>28</Day></ContributionDate></BookDocument></PubmedBookArticle>"
        "<PubmedBookArticle><BookDocument><PMID Version=\"1\">20301296</PMID><Book><PubDate><Year>"
        "1993</Year></PubDate></Book><DateRevised><Year>2012</Year><Month>01</Month><Day>02</Day>"
        "</DateRevised></BookDocument></PubmedBookArticle>"
        "<PubmedArticle><MedlineCitation><PMID>3</PMID></MedlineCitation></PubmedArticle>"
        "</PubmedArticleSet>";
    struct rig rig;

    rig_init(&rig, "sources/pubmed.yaml", "harvest", NULL);
    scripted_http_reply(&rig.http, &(struct scripted_reply){ .url_part = STR("esearch"),
                                                             .status = 200,
                                                             .body = str_of(LIST) });
    scripted_http_reply(&rig.http, &(struct scripted_reply){ .url_part = STR("efetch"),
                                                             .status = 200,
                                                             .body = str_of(BOOKS),
                                                             .times = -1 });
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    REQUIRE(rig.ids.count == 2, "both books");
    CHECK_EQ(rig.dates.items[0], INT64_C(725846400000000), "the year it was published");
    CHECK_EQ(rig.dates.items[1], INT64_C(1325462400000000), "the day it was revised");
    REQUIRE(rig.bad.count == 1, "the article");
    CHECK_STR(rig.bad.items[0], STR("3 date.missing"), "without a date");
    rig_release(&rig);
}

TEST(pubmed_ids_without_a_record_are_requested_twice_and_listed)
{
    struct rig rig;

    rig_init(&rig, "sources/pubmed.yaml", "harvest", NULL);
    scripted_http_reply(
        &rig.http, &(struct scripted_reply){
                       .url_part = STR("esearch"),
                       .status = 200,
                       .body = STR("{\"esearchresult\":{\"count\":\"2\",\"idlist\":[\"12091962\","
                                   "\"233333333333333\"]}}") });
    rig_reply(&rig, "fixtures/pubmed/pubmed1.xml", "efetch");
    rig_reply(&rig, "fixtures/pubmed/efetch-unknown-ids-empty-set.xml", "efetch");
    rig_run(&rig);
    if (rig.failed)
        test_fail(__FILE__, __LINE__, "%s", rig.err.text);
    CHECK_EQ(rig.http.sent.count, 3, "search, fetch, and the missing one again");
    CHECK_EQ(rig.lost.count, 1, "lost");
    CHECK_STR(rig.lost.items[0], STR("233333333333333 missing"), "its reason");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "the source has answered for every id");
    CHECK_EQ(rig.last.verdict.lost_ids, 1, "and says which it has not");
    rig_release(&rig);
}

TEST(pubmed_over_its_cap_is_resliced_before_anything_is_stored)
{
    struct rig rig;

    rig_init(&rig, "sources/pubmed.yaml", "harvest", NULL);
    scripted_http_reply(
        &rig.http, &(struct scripted_reply){ .status = 200,
                                             .body = STR("{\"esearchresult\":{\"count\":\"50000\","
                                                         "\"idlist\":[\"1\",\"2\"]}}") });
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "cut it");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_OVER_CAP, "over the cap");
    CHECK_EQ(rig.last.verdict.total, 50000, "by how much");
    CHECK_EQ(rig.listed.count, 0, "nothing is handed out");
    rig_release(&rig);

    rig_init(&rig, "sources/pubmed.yaml", "harvest", NULL);
    rig_reply(&rig, "fixtures/pubmed/transcribed/esearch-retstart-over-cap.json", NULL);
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "the response that is not JSON is understood");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_TOO_DEEP, "too deep");
    rig_release(&rig);
}

/* What a search of PubMed requests for a slice, and what a response of two ids makes of it. */
static void search_part(struct rig *rig, struct id_range part, const char *url_part,
                        const char *answer)
{
    rig_init(rig, "sources/pubmed.yaml", "harvest", NULL);
    rig->slice.part = part;
    rig->order.by_ids = true;
    scripted_http_reply(&rig->http, &(struct scripted_reply){ .status = 200,
                                                              .url_part = str_of(url_part),
                                                              .body = str_of(answer) });
    rig_run(rig);
}

TEST(parts_of_a_day_are_requested_from_pubmed_by_pmid)
{
    static const struct {
        struct id_range part;
        const char *url_part;
    } rows[] = {
        { { 0, 0 }, "%5BMDAT%5D%29%29&retstart=" },
        { { ID_LOWEST, 12500000 }, "%5BMDAT%5D%29%29%20AND%201%3A12499999%5BUID%5D&" },
        { { 12500000, 25000000 }, "%29%29%20AND%2012500000%3A24999999%5BUID%5D&" },
        { { 87500000, ID_HIGHEST }, "%29%29%20AND%2087500000%3A99999999%5BUID%5D&" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig rig;

        search_part(&rig, rows[i].part, rows[i].url_part,
                    "{\"esearchresult\":{\"count\":\"0\",\"idlist\":[]}}");
        CHECK(!rig.failed, rows[i].url_part);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "there are none");
        rig_release(&rig);
    }
}

TEST(stray_ids_end_the_walk_with_a_reason)
{
    static const struct {
        struct id_range part;
        const char *answer;
        enum fetch_verdict_kind kind;
        const char *reason;
    } rows[] = {
        /* A day: its ids must be such as can be cut. */
        { { 0, 0 }, "\"50000\",\"idlist\":[\"1\",\"99999999\"]", FETCH_RESLICE, "came" },
        { { 0, 0 },
          "\"50000\",\"idlist\":[\"1\",\"100000000\"]",
          FETCH_CUT_SHORT,
          "100000000 is not" },
        { { 0, 0 }, "\"50000\",\"idlist\":[\"0\",\"7\"]", FETCH_CUT_SHORT, "0 is not between" },
        { { 0, 0 }, "\"50000\",\"idlist\":[\"PMC17\",\"7\"]", FETCH_RESLICE, "came" },
        /* A part: above the cap or not, the source must keep to it. */
        { { 10, 20 }, "\"50000\",\"idlist\":[\"10\",\"19\"]", FETCH_RESLICE, "came" },
        { { 10, 20 }, "\"50000\",\"idlist\":[\"10\",\"20\"]", FETCH_CUT_SHORT, "ids 10 to 19" },
        { { 10, 20 }, "\"2\",\"idlist\":[\"9\",\"10\"]", FETCH_CUT_SHORT, "gave 9" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig rig;
        char answer[256];

        (void)snprintf(answer, sizeof(answer), "{\"esearchresult\":{\"count\":%s}}",
                       rows[i].answer);
        search_part(&rig, rows[i].part, "esearch", answer);
        CHECK(!rig.failed, rows[i].answer);
        CHECK_EQ(rig.last.verdict.kind, rows[i].kind, rows[i].answer);
        CHECK(str_find(rig.last.verdict.reason, str_of(rows[i].reason)) <
                  rig.last.verdict.reason.len,
              rows[i].reason);
        CHECK_EQ(rig.listed.count, 0, "nothing is handed out");
        rig_release(&rig);
    }
}

TEST(the_whole_pubmed_sample_is_read)
{
    struct rig rig;
    struct str *ids;
    struct buf text;

    rig_init(&rig, "sources/pubmed.yaml", "update", NULL);
    rig.slice.dimension = SLICE_ID;
    ids = ARENA_ARRAY(&rig.arena, struct str, 1);
    ids[0] = STR("973217");
    rig.order.ids = ids;
    rig.order.id_count = 1;
    rig_reply(&rig, "fixtures/pubmed/pubmedsample_2019.xml", NULL);
    rig_run(&rig);
    if (rig.failed)
        test_fail(__FILE__, __LINE__, "%s", rig.err.text);
    CHECK_EQ(rig.ids.count, 176, "all articles, though one was asked for");
    CHECK_EQ(rig.bad.count, 0, "none is bad");
    /* Every record's bytes are as they came. */
    buf_init(&text, &rig.arena, 64 << 20);
    for (size_t i = 0; i < rig.payloads.count; i++) {
        const struct str body = rig.http.script.items[0].body;

        CHECK(str_find(body, rig.payloads.items[i]) < body.len, "its bytes");
        CHECK(str_starts(rig.payloads.items[i], STR("<PubmedArticle")), "from its tag");
        CHECK(str_ends(rig.payloads.items[i], STR("</PubmedArticle>")), "to its tag");
    }
    rig_release(&rig);
}

/* As a file of the baseline: the same records as by efetch, byte for byte. */
TEST(the_pubmed_sample_is_the_same_as_a_file)
{
    struct http_header chunked = { STR("Transfer-Encoding"), STR("chunked") };
    struct rig asked, file;
    struct str id = STR("973217");

    rig_init(&asked, "sources/pubmed.yaml", "update", NULL);
    asked.slice.dimension = SLICE_ID;
    asked.order.ids = &id;
    asked.order.id_count = 1;
    rig_reply(&asked, "fixtures/pubmed/pubmedsample_2019.xml", NULL);
    rig_run(&asked);
    rig_init(&file, "sources/pubmed.yaml", "load", NULL);
    file.slice.dimension = SLICE_FILE;
    file.slice.file = STR("pubmed26n0001.xml.gz");
    rig_reply(&file, "fixtures/pubmed/pubmedsample_2019.xml", "/baseline/pubmed26n0001.xml.gz");
    file.http.script.items[0].headers = &chunked;
    file.http.script.items[0].header_count = 1;
    rig_run(&file);
    CHECK(!file.failed, file.err.text);
    CHECK_EQ(file.last.verdict.kind, FETCH_COMPLETE, "it was read whole");
    CHECK_EQ(file.bad.count, 0, "none is bad");
    REQUIRE(file.ids.count == 176 && asked.ids.count == 176, "all articles");
    for (size_t i = 0; i < file.ids.count; i++) {
        CHECK_STR(file.ids.items[i], asked.ids.items[i], "id");
        CHECK_STR(file.payloads.items[i], asked.payloads.items[i], "bytes");
        CHECK_EQ(file.dates.items[i], asked.dates.items[i], "date");
    }
    rig_release(&file);
    rig_release(&asked);
}
