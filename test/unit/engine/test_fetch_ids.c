/* Walks in two phases: ids first, then their records. */
#include <stdio.h>
#include <string.h>

#include "engine/fetch/request.h"
#include "fake_source.h"
#include "test.h"

static struct fake_source fake;

/* ---- details ---- */

TEST(details_come_in_full_batches_while_there_are_pages)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "harvest", 77);
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "details");
    /* 77 ids of four pages, sixteen at a time: 16+16+16+16+13. */
    CHECK_EQ(rig.batches, 4 + 5, "four pages, five requests for details");
    rig_release(&rig);
}

TEST(one_bad_id_is_found_by_halving)
{
    static const int statuses[] = { 400, 500 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct rig rig;
        char wanted[32];

        fake_source_begin(&fake, &rig, DETAILS, "harvest", 64);
        fake.poison = 21;
        fake.poison_status = statuses[i];
        rig_run(&rig);
        CHECK(!rig.failed, "one id does not stop the others");
        CHECK_EQ(rig.ids.count, 63, "all others");
        CHECK_EQ(rig.lost.count, 1, "one is lost");
        (void)snprintf(wanted, sizeof(wanted), "r021 %s",
                       statuses[i] == 400 ? "refused" : "failed");
        CHECK_STR(rig.lost.items[0], str_of(wanted), "that one");
        CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "a hole is a hole");
        rig_release(&rig);
    }
}

static bool refuse_details(struct fake_source *self, int n, struct scripted_reply *reply)
{
    const struct str url = self->rig->http.sent.items[self->rig->http.sent.count - 1].url;

    (void)n;
    reply->status = 400;
    return str_find(url, STR("/fetch")) < url.len;
}

TEST(a_request_that_is_wrong_for_all_ids_is_not_made_for_each)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "harvest", 400);
    rig.gate.no_prefetch = true;
    fake.spoil = refuse_details;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_REQUEST, "the request is wrong");
    CHECK_STR(str_of(rig.err.code), STR("fetch.refused"), "its code");
    CHECK(fetch_error_is_refused(&rig.err), "its kind");
    CHECK_EQ(rig.lost.count, FETCH_REFUSED_IDS_MAX, "a few were tried one by one");
    CHECK(rig.http.sent.count < 40, "not four hundred");
    rig_release(&rig);
}

TEST(a_batch_that_must_not_be_split_fails)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "harvest", 64);
    rig.spec.detail.batch.split_failed = false;
    fake.poison = 21;
    fake.poison_status = 400;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_REQUEST, "the batch fails");
    CHECK(rig.ids.count > 0, "those before it stand");
    rig_release(&rig);
}

TEST(ids_that_make_a_url_too_long_are_requested_in_smaller_batches)
{
    enum { IDS = 64, LENGTH = 400 };
    struct str ids[IDS];
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "update", IDS);
    rig.spec.endpoint.batch.id_batch_size = IDS;
    rig.slice.dimension = SLICE_ID;
    for (int i = 0; i < IDS; i++) {
        ids[i] = arena_printf(&rig.arena, "r%03d%*s", i, LENGTH, "");
        memset((char *)ids[i].data + 4, 'x', LENGTH);
    }
    rig.order.ids = ids;
    rig.order.id_count = IDS;
    rig_run(&rig);
    CHECK(!rig.failed, "it goes through");
    for (size_t i = 0; i < rig.http.sent.count; i++)
        CHECK(rig.http.sent.items[i].url.len <= REQUEST_GET_URL_MAX, "no URL is too long");
    CHECK(rig.http.sent.count >= 4, "several requests");
    CHECK(rig.gate.unused > 0, "the permit that was not used is given back");
    rig_release(&rig);
}

TEST(an_operation_by_id_requests_its_ids)
{
    static const struct str ids[] = { STR_INIT("r001"), STR_INIT("r002"), STR_INIT("r001") };
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "update", 10);
    rig.slice.dimension = SLICE_ID;
    rig.order.ids = ids;
    rig.order.id_count = ARRAY_LEN(ids);
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 2, "each once");
    CHECK_EQ(rig.batches, 1, "in one request");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, DETAILS, "update", 10);
    rig.slice.dimension = SLICE_ID;
    rig_run(&rig);
    CHECK_EQ(rig.batches, 1, "no ids: one batch that says so");
    CHECK_EQ(rig.http.sent.count, 0, "and no request");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    rig_release(&rig);
}

/* ---- history servers ---- */

static bool find_nothing(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    (void)n;
    reply->status = 404;
    return true;
}

TEST(a_digest_has_the_ids_that_are_in_the_path)
{
    static const struct str ids[] = { STR_INIT("r/1 x") };
    struct rig rig;

    fake_source_begin(&fake, &rig, "test/data/sim-sources/generic-details.yaml", "update", 10);
    fake.spoil = find_nothing;
    rig.slice.dimension = SLICE_ID;
    rig.order.ids = ids;
    rig.order.id_count = ARRAY_LEN(ids);
    rig_run(&rig);
    REQUIRE(!rig.failed && rig.requests.count > 0, "a 404 is an answer there");
    CHECK(str_find(rig.requests.items[0], STR("\"path\":\"/generic/records/r%2F1%20x\"")) <
              rig.requests.items[0].len,
          "as it was sent");
    rig_release(&rig);
}

static bool find_nothing_once(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->body = STR("{\"ids\":[],\"total\":0,\"session\":\"S0\"}");
    return n == 1;
}

TEST(a_search_that_finds_no_expected_records_is_repeated)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "history", 55);
    fake.spoil = find_nothing_once;
    rig.slice.expected_records = 50;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "found the second time");
    CHECK(rig.sums.repeated, "and told");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, DETAILS, "history", 0);
    rig.slice.expected_records = 50;
    rig_run(&rig);
    CHECK(!rig.failed && rig.last.verdict.kind == FETCH_COMPLETE, "twice nothing is nothing");
    CHECK_EQ(rig.http.sent.count, 2, "by two searches");
    CHECK(rig.last.verdict.is_proven, "the source says so itself");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, DETAILS, "history", 0);
    rig_run(&rig);
    CHECK_EQ(rig.http.sent.count, 1, "nobody expected anything");
    rig_release(&rig);
}

TEST(pages_of_a_search_are_requested_with_what_it_gave)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "history", 55);
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "history");
    CHECK(rig.last.verdict.is_proven, "its total is the search's");
    CHECK_EQ(fake.session, 1, "one search");
    CHECK(str_find(rig.http.sent.items[1].url, STR("session=S1")) < rig.http.sent.items[1].url.len,
          "captured and sent");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, DETAILS, "history", 55);
    fake.session_dies_at = 3;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "history that died");
    CHECK_EQ(fake.session, 2, "searched again");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, DETAILS, "history", 55);
    rig.stop_after = 2;
    rig_run(&rig);
    rig.stop_after = 0;
    rig_resume(&rig);
    fake_source_require_complete(&fake, &rig, "history that was left");
    CHECK_EQ(fake.session, 2, "not a checkpoint");
    rig_release(&rig);
}
