/* PubMed in its two phases, ids and then records, over recorded answers. */
#include "fetch_rig.h"
#include "test.h"

TEST(pubmed_ids_lead_to_their_records)
{
    static const struct http_header type = { STR_INIT("Content-Type"),
                                             STR_INIT("application/json") };
    struct rig rig;

    rig_init(&rig, "sources/pubmed.yaml", "harvest", NULL);
    /* The six ids of the recorded efetch. */
    memory_http_reply(
        &rig.http, &(struct memory_reply){
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

TEST(pubmed_ids_without_a_record_are_asked_for_twice_and_listed)
{
    struct rig rig;

    rig_init(&rig, "sources/pubmed.yaml", "harvest", NULL);
    memory_http_reply(
        &rig.http, &(struct memory_reply){
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

TEST(pubmed_over_its_cap_is_cut_before_anything_is_stored)
{
    struct rig rig;

    rig_init(&rig, "sources/pubmed.yaml", "harvest", NULL);
    memory_http_reply(&rig.http,
                      &(struct memory_reply){ .status = 200,
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
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "the answer that is no JSON is understood");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_TOO_DEEP, "too deep");
    rig_release(&rig);
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
