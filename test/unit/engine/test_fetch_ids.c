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

/* What it costs to find one id of a batch of sixteen. */
enum { IDS = 64, HALVING = 2 * 4 + 1 };

TEST(one_refused_id_is_isolated_and_the_rest_is_complete)
{
    static const int statuses[] = { 400, 404, 410, 414, 422 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct rig rig;
        size_t fault_free;

        fake_source_begin(&fake, &rig, DETAILS, "harvest", IDS);
        rig_run(&rig);
        fault_free = rig.http.sent.count;
        rig_release(&rig);

        fake_source_begin(&fake, &rig, DETAILS, "harvest", IDS);
        fake.poison = 21;
        fake.poison_status = statuses[i];
        rig_run(&rig);
        CHECK(!rig.failed, "one id does not stop the others");
        CHECK_EQ(rig.ids.count, IDS - 1, "all others");
        CHECK_EQ(rig.lost.count, 1, "one is lost");
        CHECK_STR(rig.lost.items[0], STR("r021 refused"), "that one");
        CHECK_EQ(rig.refused, 1, "its batch has failed");
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "everything else is there");
        CHECK_EQ(rig.last.verdict.lost_ids, 1, "but for one");
        CHECK_EQ(rig.last.verdict.refused_ids, 1, "which was refused");
        CHECK(rig.http.sent.count <= fault_free + HALVING, "2 log2(16) requests, and one");
        rig_release(&rig);
    }
}

TEST(one_id_that_the_source_fails_on_is_a_hole)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "harvest", IDS);
    fake.poison = 21;
    fake.poison_status = 500;
    rig_run(&rig);
    CHECK(!rig.failed, "one id does not stop the others");
    CHECK_EQ(rig.ids.count, IDS - 1, "all others");
    REQUIRE(rig.lost.count == 1, "one is lost");
    CHECK_STR(rig.lost.items[0], STR("r021 failed"), "that one");
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "it may be there the next time");
    rig_release(&rig);
}

/* Requests for details that hold one of these ids get this status. */
static struct spoiled {
    int first;
    int every;
    int count;
    int status;
} spoiled;

static bool spoil_ids(struct fake_source *self, int n, struct scripted_reply *reply)
{
    const struct str url = self->rig->http.sent.items[self->rig->http.sent.count - 1].url;

    (void)n;
    if (str_find(url, STR("/fetch")) == url.len)
        return false;
    for (int i = 0; i < spoiled.count; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "r%03d", spoiled.first + i * spoiled.every);
        if (str_find(url, str_of(id)) == url.len)
            continue;
        *reply = (struct scripted_reply){ .status = spoiled.status,
                                          .body = STR("{\"error\":\"no such article\"}") };
        return true;
    }
    return false;
}

/* Details that have no record for the first `missing_ids` ids of the list. */
static int missing_ids;

static bool leave_out_ids(struct fake_source *self, int n, struct scripted_reply *reply)
{
    const struct str url = self->rig->http.sent.items[self->rig->http.sent.count - 1].url;
    static char body[8192];
    size_t len = 0;

    (void)n;
    if (str_find(url, STR("/fetch")) == url.len)
        return false;
    len += (size_t)snprintf(body, sizeof(body), "{\"records\":[");
    for (int i = missing_ids; i < IDS; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "r%03d", i);
        if (str_find(url, str_of(id)) < url.len)
            len += (size_t)snprintf(body + len, sizeof(body) - len,
                                    "%s{\"id\":\"%s\",\"updated_at\":\"2026-01-01T00:00:00Z\"}",
                                    body[len - 1] == '[' ? "" : ",", id);
    }
    (void)snprintf(body + len, sizeof(body) - len, "]}");
    *reply = (struct scripted_reply){ .status = 200, .body = str_of(body) };
    return true;
}

TEST(details_that_have_no_record_for_most_ids_are_not_believed)
{
    static const struct {
        int ids;
        int missing;
        enum fetch_verdict_kind kind;
        const char *reason;
    } cases[] = {
        { 9, 9, FETCH_COMPLETE, "9 ids without a record" },
        { 10, 10, FETCH_SHORTFALL, "no record for 10 of 10 listed ids, which is not believed" },
        { 19, 18, FETCH_COMPLETE, "18 ids without a record" },
        { 20, 10, FETCH_COMPLETE, "10 ids without a record" },
        { 20, 11, FETCH_SHORTFALL, "no record for 11 of 20 listed ids, which is not believed" },
        { IDS, IDS, FETCH_SHORTFALL, "no record for 64 of 64 listed ids, which is not believed" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, DETAILS, "harvest", cases[i].ids);
        missing_ids = cases[i].missing;
        fake.spoil = leave_out_ids;
        rig_run(&rig);
        REQUIRE(!rig.failed, rig.err.text);
        CHECK_EQ(rig.lost.count, (size_t)cases[i].missing, "each is listed");
        CHECK_EQ(rig.ids.count, (size_t)(cases[i].ids - cases[i].missing), "the others came");
        CHECK_EQ(rig.last.verdict.kind, cases[i].kind, cases[i].reason);
        CHECK_EQ(rig.last.verdict.failed_ids, 0, "no reason to cover it");
        CHECK(str_find(rig.last.verdict.reason, str_of(cases[i].reason)) <
                  rig.last.verdict.reason.len,
              cases[i].reason);
        rig_release(&rig);
    }
}

TEST(more_than_one_id_in_ten_refused_fails_the_walk)
{
    struct rig rig;

    for (int count = 6; count <= 7; count++) {
        fake_source_begin(&fake, &rig, DETAILS, "harvest", IDS);
        spoiled = (struct spoiled){ .first = 1, .every = 9, .count = count, .status = 400 };
        fake.spoil = spoil_ids;
        rig_run(&rig);
        CHECK_EQ(rig.failed, count == 7, "6 of 64 are isolated, 7 are too many");
        if (count == 7) {
            CHECK(fetch_error_is_refused(&rig.err) && rig.err.level == ERROR_REQUEST, "its kind");
            CHECK(strstr(rig.err.text, "7 of 64 ids were refused") != NULL, rig.err.text);
            CHECK(strstr(rig.err.text, "status 400") != NULL, rig.err.text);
        } else {
            CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "covered");
            CHECK_EQ(rig.lost.count, 6, "each is listed");
        }
        rig_release(&rig);
    }
}

/* A few ids at the beginning of a long list are no share of it. */
TEST(a_cluster_of_refused_ids_is_not_taken_for_all_of_them)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "harvest", 400);
    spoiled = (struct spoiled){ .first = 3, .every = 3, .count = 9, .status = 422 };
    fake.spoil = spoil_ids;
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.lost.count, 9, "9 of 400");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "the list is done");
    rig_release(&rig);
}

TEST(how_many_were_refused_survives_the_run)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "harvest", IDS);
    spoiled = (struct spoiled){ .first = 1, .every = 9, .count = 7, .status = 400 };
    fake.spoil = spoil_ids;
    rig.stop_after = 1;
    rig_run(&rig);
    for (int i = 0; i < 200 && !rig.failed && !rig.last.is_last; i++)
        rig_resume(&rig);
    CHECK(rig.failed && fetch_error_is_refused(&rig.err), "one batch per run, and the same end");
    rig_release(&rig);
}

/* ---- a batch without a response ---- */

static size_t details_sent(const struct rig *rig, size_t from)
{
    size_t count = 0;

    for (size_t i = from; i < rig->http.sent.count; i++) {
        const struct str url = rig->http.sent.items[i].url;

        count += str_find(url, STR("/fetch")) < url.len;
    }
    return count;
}

TEST(after_a_batch_without_a_response_the_others_are_requested)
{
    struct rig rig;
    size_t sent;

    fake_source_begin(&fake, &rig, DETAILS, "harvest", IDS);
    spoiled = (struct spoiled){ .first = 21, .count = 1, .status = 503 };
    fake.spoil = spoil_ids;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_TRANSIENT, "something is missing");
    CHECK(fetch_error_is_deferred(&rig.err), rig.err.code);
    CHECK(strstr(rig.err.text, "16 ids got no response") != NULL, rig.err.text);
    CHECK_EQ(rig.deferred, 1, "one batch");
    CHECK_EQ(rig.ids.count, IDS - 16, "all others came");
    CHECK_EQ(rig.lost.count, 0, "none is given up");

    sent = rig.http.sent.count;
    rig_resume(&rig);
    CHECK(rig.failed && fetch_error_is_deferred(&rig.err), "still missing");
    CHECK_EQ(details_sent(&rig, sent), rig.http.sent.count - sent, "no page is read again");

    sent = rig.http.sent.count;
    fake.spoil = NULL;
    rig_resume(&rig);
    CHECK(!rig.failed, "now it comes");
    CHECK_EQ(rig.http.sent.count - sent, 1, "in one request");
    fake_source_require_complete(&fake, &rig, "all of them");
    rig_release(&rig);
}

TEST(a_source_that_is_down_is_not_requested_for_every_batch)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "harvest", 400);
    rig.gate.no_prefetch = true;
    spoiled = (struct spoiled){ .first = 0, .every = 1, .count = 400, .status = 503 };
    fake.spoil = spoil_ids;
    rig_run(&rig);
    CHECK(rig.failed && !fetch_error_is_deferred(&rig.err), "the source is failing");
    CHECK_EQ(details_sent(&rig, 0), 3 * (FETCH_DEFERRED_IN_ROW_MAX + 1), "three batches");
    rig_release(&rig);
}

TEST(an_update_by_id_defers_and_isolates_as_well)
{
    struct str ids[IDS];
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "update", IDS);
    rig.slice.dimension = SLICE_ID;
    for (int i = 0; i < IDS; i++)
        ids[i] = arena_printf(&rig.arena, "r%03d", i);
    rig.order.ids = ids;
    rig.order.id_count = IDS;
    spoiled = (struct spoiled){ .first = 21, .count = 1, .status = 503 };
    fake.spoil = spoil_ids;
    fake.poison = 40;
    fake.poison_status = 422;
    rig_run(&rig);
    CHECK(rig.failed && fetch_error_is_deferred(&rig.err), "one batch is missing");
    CHECK_EQ(rig.ids.count, IDS - 16 - 1, "all others came");
    CHECK_EQ(rig.lost.count, 1, "one is refused");
    fake.spoil = NULL;
    rig_resume(&rig);
    CHECK(!rig.failed, "now it comes");
    CHECK_EQ(rig.ids.count, IDS - 1, "all but the refused one");
    CHECK_EQ(rig.last.verdict.refused_ids, 1, "counted");
    rig_release(&rig);
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
    CHECK_EQ(rig.lost.count, FETCH_REFUSED_OF_UPDATE, "a few were tried one by one");
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
    enum { LENGTH = 400 };
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
