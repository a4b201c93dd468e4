/* Walks that are resumed: after a crash, with a scroll that lost a page, a token that expired. */
#include <string.h>

#include "fake_source.h"
#include "test.h"

static struct fake_source fake;

/* ---- resuming after a crash ---- */

TEST(a_walk_resumes_after_any_batch_and_requests_nothing_twice)
{
    static const char *const operations[] = { "offset", "page0", "token", "next", "offset_blind" };

    for (size_t o = 0; o < ARRAY_LEN(operations); o++) {
        for (int stop = 1; stop <= 7; stop++) {
            struct rig rig;
            struct rig_texts urls = { 0 };

            fake_source_begin(&fake, &rig, GENERIC, operations[o], 217);
            rig.gate.no_prefetch = true;
            rig.stop_after = stop;
            rig_run(&rig);
            rig.stop_after = 0;
            if (!rig.last.is_last)
                rig_resume(&rig);
            fake_source_require_complete(&fake, &rig, operations[o]);
            if (strcmp(operations[o], "offset_blind") != 0)
                CHECK(rig.last.verdict.is_proven, "numbers survive the break");
            for (size_t i = 0; i < rig.http.sent.count; i++) {
                const struct str what =
                    arena_printf(&rig.arena, "%.*s %.*s", STR_ARG(rig.http.sent.items[i].url),
                                 STR_ARG(rig.http.sent.items[i].body));

                CHECK(!rig_has(&urls, what), "no page is asked for twice");
                urls.items = arena_grow(&rig.arena, urls.items, urls.count * sizeof(what),
                                        (urls.count + 1) * sizeof(what));
                urls.items[urls.count++] = what;
            }
            rig_release(&rig);
        }
    }
}

/* Three records of each minute on pages of 40, of a source whose "since" is exclusive. The list
 * goes on after the window. */
TEST(a_walk_by_time_over_an_exclusive_source_brings_every_record_and_resumes_anywhere)
{
    static const struct {
        const char *from, *to;
        size_t records;
    } windows[] = { { "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", 4320 },
                    { "2026-01-01T22:00:00Z", "2026-01-01T23:00:00Z", 180 },
                    { "2026-01-01T23:50:00Z", "2026-01-02T00:00:00Z", 30 } };

    for (size_t w = 0; w < ARRAY_LEN(windows); w++) {
        for (int stop = 0; stop <= 8; stop++) {
            struct rig rig;

            fake_source_begin(&fake, &rig, GENERIC, "time", 4320);
            fake.per_minute = 3;
            fake.is_exclusive = true;
            rig.spec.endpoint.window.client_filter = true;
            rig_window(&rig, windows[w].from, windows[w].to);
            rig.gate.no_prefetch = true;
            rig.stop_after = stop;
            rig_run(&rig);
            rig.stop_after = 0;
            if (!rig.last.is_last)
                rig_resume(&rig);
            CHECK(!rig.failed, rig.err.text);
            CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, windows[w].from);
            CHECK_EQ(rig.ids.count, windows[w].records, windows[w].from);
            CHECK(rig.http.sent.count <= windows[w].records / 37 + 6, "about a request per page");
            rig_release(&rig);
        }
    }
}

/* ---- long responses ---- */

static struct long_answer { /* what the batches of a walk must amount to */
    int64_t requests;
    int64_t items;
    int rests;
} seen_long;

static void look_at_long(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch)
{
    (void)rig;
    (void)fetch;
    CHECK(batch->record_count <= FETCH_RECORDS_MAX, "no batch is too long to be stored at once");
    CHECK_EQ((int64_t)(batch->record_count + batch->bad_count), batch->counts.items,
             "each batch counts its own items");
    CHECK_EQ(batch->counts.requests, batch->is_rest ? 0 : 1, "one request for the whole answer");
    seen_long.requests += batch->counts.requests;
    seen_long.items += batch->counts.items;
    seen_long.rests += batch->is_rest;
}

static void begin_long(struct rig *rig, int records)
{
    fake_source_begin(&fake, rig, GENERIC, "offset", records);
    rig->spec.endpoint.page.size = 500;
    rig->look = look_at_long;
    seen_long = (struct long_answer){ 0 };
}

TEST(a_long_response_is_divided_into_even_batches)
{
    struct rig rig;

    begin_long(&rig, 800); /* pages of 500 and 300 */
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "long pages");
    CHECK(rig.last.verdict.is_proven, "all of the total came");
    CHECK_EQ(rig.records, 800, "each record once");
    CHECK_EQ(seen_long.items, 800, "items");
    CHECK_EQ(seen_long.rests, 2, "500 in two, 300 in two");
    CHECK_EQ(rig.batches, 4, "batches");
    CHECK_EQ(seen_long.requests, 2, "requests");
    rig_release(&rig);
}

TEST(a_long_response_that_was_not_stored_completely_is_requested_again)
{
    for (int stop = 1; stop <= 5; stop++) {
        struct rig rig;
        int wanted;

        begin_long(&rig, 1200); /* 250+250, 250+250, 200 */
        rig.gate.no_prefetch = true;
        rig.stop_after = stop;
        rig_run(&rig);
        wanted = (stop + 1) / 2 + (stop == 5 ? 0 : 3 - stop / 2);
        rig.stop_after = 0;
        if (!rig.last.is_last)
            rig_resume(&rig);
        fake_source_require_complete(&fake, &rig, "after a break");
        CHECK(rig.last.verdict.is_proven, "numbers survive the break");
        CHECK_EQ((int64_t)rig.http.sent.count, wanted, "only the page in hand is asked for again");
        CHECK_EQ(rig.records, 1200 + (stop % 2 == 1 && stop < 5 ? 250 : 0),
                 "and only its first part comes twice");
        rig_release(&rig);
    }
}

TEST(two_phases_resume_after_any_batch)
{
    for (int stop = 1; stop <= 9; stop++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, DETAILS, "harvest", 77);
        fake.gone = 5;
        rig.stop_after = stop;
        rig_run(&rig);
        rig.stop_after = 0;
        if (!rig.last.is_last)
            rig_resume(&rig);
        if (rig.failed)
            test_fail(__FILE__, __LINE__, "stop %d: %s", stop, rig.err.text);
        CHECK_EQ(rig.ids.count, 76, "all but one");
        CHECK_EQ(rig.listed.count, 77, "all were listed");
        CHECK_EQ(rig.lost.count, 1, "and one is lost");
        CHECK_EQ(rig.last.verdict.lost_ids, 1, "counted over both runs");
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "an answer for every id");
        rig_release(&rig);
    }
}

TEST(a_checkpoint_that_is_damaged_is_refused)
{
    static const char *const texts[] = { "no json",
                                         "{}",
                                         "{\"v\":2}",
                                         "{\"v\":1,\"page\":{\"number\":\"x\"}}",
                                         "{\"v\":1,\"end\":\"nowhere\"}",
                                         "{\"v\":1,\"end\":\"\",\"page\":{\"tokenHex\":\"0\"}}",
                                         "{\"v\":1,\"end\":\"\",\"proof\":{\"tail\":\"xyz\"}}" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct fetch *fetch = NULL;
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "offset", 5);
        rig.order.checkpoint = str_of(texts[i]);
        CHECK(!fetch_open(&fetch, &rig.parts, &rig.order, &rig.err), texts[i]);
        CHECK_STR(str_of(rig.err.code), STR("fetch.checkpoint"), texts[i]);
        CHECK_EQ(rig.err.level, ERROR_FATAL, "a person must look");
        rig_release(&rig);
    }
}

TEST(ids_that_were_not_kept_are_noticed)
{
    struct fetch *fetch = NULL;
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "harvest", 77);
    rig.stop_after = 3;
    rig_run(&rig);
    rig.order.checkpoint = rig.checkpoint; /* and no ids */
    CHECK(!fetch_open(&fetch, &rig.parts, &rig.order, &rig.err), "without them it cannot continue");
    CHECK_STR(str_of(rig.err.code), STR("fetch.checkpoint"), "its code");
    rig_release(&rig);
}

/* ---- scrolls ---- */

static bool lose_third(struct fake_source *self, int n, struct scripted_reply *reply)
{
    if (n != 3)
        return false;
    self->scroll_at += 20; /* the source has moved on */
    reply->status = 0;
    reply->error_code = "http.reset";
    return true;
}

TEST(a_lost_page_of_a_scroll_restarts_the_walk)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, "sources/crossref.yaml", "harvest", 95);
    fake.spoil = lose_third;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "scroll");
    CHECK(rig.last.verdict.is_proven, "95 of 95");
    CHECK_EQ(fake.scrolls, 2, "begun twice");
    CHECK_EQ(rig.last.verdict.restarts, 1, "and told");
    CHECK(rig.gate.prefetched > 0, "pages are requested ahead");
    CHECK_EQ(rig.befores.count, 0, "a token that stays the same is no key");
    rig_release(&rig);
}

static bool refuse_third(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->status = 429;
    return n == 3;
}

TEST(a_refusal_leaves_a_scroll_where_it_was)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, "sources/crossref.yaml", "harvest", 95);
    fake.spoil = refuse_third;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "scroll");
    CHECK_EQ(fake.scrolls, 1, "begun once");
    CHECK_EQ(rig.sums.retries, 1, "asked again");
    rig_release(&rig);
}

static bool lose_each_second(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->status = 500;
    return n % 2 == 0;
}

TEST(a_walk_that_is_lost_too_often_gives_up)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, "sources/crossref.yaml", "harvest", 95);
    fake.spoil = lose_each_second;
    rig_run(&rig);
    CHECK(rig.failed, "it cannot succeed");
    CHECK_STR(str_of(rig.err.code), STR("fetch.restarts"), "its code");
    CHECK(fetch_error_is_restarts(&rig.err), "its kind");
    CHECK_EQ(rig.err.level, ERROR_TRANSIENT, "another time, perhaps");
    CHECK_EQ(fake.scrolls, FETCH_RESTARTS_MAX + 1, "as often as allowed");
    rig_release(&rig);
}

TEST(a_scroll_is_not_resumed_in_the_middle)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, "sources/crossref.yaml", "harvest", 95);
    rig.stop_after = 2;
    rig_run(&rig);
    rig.stop_after = 0;
    rig_resume(&rig);
    fake_source_require_complete(&fake, &rig, "scroll");
    CHECK_EQ(fake.scrolls, 2, "started over");
    CHECK(rig.last.verdict.is_proven, "and proven by itself");
    rig_release(&rig);
}

/* ---- tokens that expire ---- */

static bool expire_third(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->status = 410;
    return n == 3;
}

TEST(an_expired_token_is_not_an_end)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "token", 150);
    fake.spoil = expire_third;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "token");
    CHECK_EQ(rig.last.verdict.restarts, 1, "from the beginning");
    rig_release(&rig);
}
