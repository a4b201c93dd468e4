/* Walks over feeds: what is requested, where they end, and what a cursor may be moved to. */
#include <stdio.h>
#include <string.h>

#include "fetch_rig.h"
#include "test.h"

#define FEED "test/data/fetch/feed.yaml"

static struct rig rig;

static void begin(const char *operation, enum cursor_type type, const char *after)
{
    rig_init(&rig, FEED, operation, NULL);
    rig.slice =
        (struct slice){ .dimension = SLICE_FEED,
                        .feed = { .type = type,
                                  .after = after != NULL ? str_of(after) : (struct str){ NULL, 0 },
                                  .cursor =
                                      after != NULL ? str_of(after) : (struct str){ NULL, 0 } },
                        .expected_records = SLICE_UNKNOWN,
                        .expected_requests = SLICE_UNKNOWN };
}

/* One response to requests whose URL contains `part`; `times` as of scripted_reply. */
static void reply(const char *part, int times, int status, const char *body)
{
    scripted_http_reply(&rig.http, &(struct scripted_reply){ .url_part = str_of(part),
                                                             .times = times,
                                                             .status = status,
                                                             .body = str_of(body) });
}

/* "A:1 B:2" as the items of a page: id and sequence. */
static struct str items_of(const char *items)
{
    struct str rest = str_of(items);
    struct buf out;

    buf_init(&out, &rig.arena, 65536);
    while (rest.len > 0) {
        struct str seq = str_cut(&rest, ' ');
        const struct str id = str_cut(&seq, ':');

        buf_printf(&out, "%s{\"id\":\"%.*s\",\"seq\":%.*s,\"updated\":\"2026-01-01T00:00:%02dZ\"}",
                   out.len > 0 ? "," : "", STR_ARG(id), STR_ARG(seq), (int)(out.len / 70 % 60));
    }
    return buf_str(&out);
}

static void page(const char *part, const char *items, const char *more)
{
    const struct str body =
        arena_printf(&rig.arena, "{\"items\":[%.*s]%s}", STR_ARG(items_of(items)), more);

    reply(part, -1, 200, body.data);
}

/* A text of the last checkpoint's feed; "" where there is none. */
static const char *feed_text(const char *name)
{
    static char text[128];
    char label[32];
    struct str rest = rig.checkpoint;
    size_t at = str_find(rest, STR("\"feed\":{"));

    (void)snprintf(label, sizeof(label), "\"%s\":\"", name);
    rest = str_slice(rest, at, rest.len);
    rest = str_slice(rest, 0, str_find_char(rest, '}'));
    at = str_find(rest, str_of(label));
    if (at == rest.len)
        return "";
    rest = str_slice(rest, at + strlen(label), rest.len);
    (void)snprintf(text, sizeof(text), "%.*s",
                   STR_ARG(str_slice(rest, 0, str_find_char(rest, '"'))));
    return text;
}

static void check_at(const char *wanted, const char *what)
{
    CHECK_STR(str_of(feed_text("at")), str_of(wanted), what);
}

static bool was_sent(const char *part)
{
    for (size_t i = 0; i < rig.http.sent.count; i++) {
        if (str_find(rig.http.sent.items[i].url, str_of(part)) < rig.http.sent.items[i].url.len)
            return true;
    }
    return false;
}

/* ---- by id ---- */

TEST(a_feed_by_id_is_walked_to_its_end)
{
    begin("changes", CURSOR_ID, "7");
    page("since=7", "a:8 b:10 c:11", "");
    page("since=11", "a:12 d:20", "");
    page("since=20", "", "");
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    CHECK_EQ(rig.records, 5, "a record that changes twice comes twice, and is no loop");
    check_at("20", "everything up to it");
    rig_release(&rig);

    begin("changes", CURSOR_ID, NULL);
    page("limit=3", "", "");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "an empty feed");
    CHECK_EQ(rig.http.sent.count, 2, "an empty response is confirmed");
    CHECK(!was_sent("since"), "there is nothing to continue from");
    check_at("", "no cursor");
    rig_release(&rig);
}

TEST(the_highest_id_of_the_source_ends_a_feed)
{
    begin("bounded", CURSOR_ID, "7");
    page("since=7", "a:8 b:9 c:10", ",\"last\":12");
    page("since=10", "d:11 e:12", ",\"last\":12");
    rig_run(&rig);
    CHECK_EQ(rig.http.sent.count, 2, "no further request");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    check_at("12", "the highest");
    CHECK_STR(str_of(feed_text("latest")), STR("12"), "for the lag");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, "12");
    page("since=12", "", ",\"last\":12");
    rig_run(&rig);
    CHECK_EQ(rig.http.sent.count, 1, "nothing new, by two signs");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, "12");
    page("since=12", "a:13", "");
    rig_run(&rig);
    CHECK(rig.failed, "where it is declared, it must be there");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, "12");
    page("since=12", "", ",\"last\":5");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "a sequence that was reset is not done");
    CHECK_EQ(rig.last.verdict.end, PAGE_CUT_NO_FORWARD, "and would end here again");
    check_at("", "and moves nothing");
    CHECK_STR(str_of(feed_text("behind")), STR("5"), "but is recorded");
    rig_release(&rig);
}

TEST(an_empty_page_below_the_highest_id_is_not_the_end)
{
    begin("bounded", CURSOR_ID, "7");
    page("since=7", "a:8 b:9 c:10", ",\"last\":35");
    page("since=10", "d:11", ",\"last\":35"); /* short: an empty page after it is plausible */
    page("since=11", "", ",\"last\":35");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "24 ids may be missing");
    CHECK_EQ(rig.http.sent.count, 4, "the empty page is requested twice");
    CHECK(str_find(rig.last.verdict.reason, STR("35")) < rig.last.verdict.reason.len, "up to");
    check_at("11", "the pages that were received are complete");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, NULL);
    page("limit=3", "", ",\"last\":35");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "nothing of it was received");
    check_at("", "no cursor");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, NULL);
    page("limit=3", "", ",\"last\":0");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "the source is empty");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, "10"); /* the filter includes the id */
    page("since=10", "c:10", ",\"last\":35");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "the last record again is nothing new");
    CHECK_EQ(rig.http.sent.count, 2, "requested twice");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, "10"); /* the empty page was the source's mistake */
    reply("since=10", 1, 200, "{\"items\":[],\"last\":12}");
    page("since=10", "d:11 e:12", ",\"last\":12");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "the second response counts");
    check_at("12", "the end");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, "100"); /* a lookback: what is above 50 was removed meanwhile */
    rig.slice.feed.after = STR("50");
    page("since=50", "", ",\"last\":100");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "the cursor has been there");
    rig_release(&rig);
}

/* ---- a highest id that is not the highest ---- */

/* Eight records on pages of three; each page says that the highest id is the one given for it. */
static void walk_by_latest(const char *one, const char *two, const char *three)
{
    const char *latest[] = { one, two, three };
    static const char *const items[] = { "a:1 b:2 c:3", "d:4 e:5 f:6", "g:7 h:8" };
    static const char *const parts[] = { "since=0&", "since=3&", "since=6&" };

    begin("bounded", CURSOR_ID, "0");
    for (size_t i = 0; i < ARRAY_LEN(items); i++)
        page(parts[i], items[i], arena_printf(&rig.arena, ",\"last\":%s", latest[i]).data);
    page("since=8&", "", arena_printf(&rig.arena, ",\"last\":%s", three).data);
    rig_run(&rig);
}

TEST(a_highest_id_below_the_ids_of_its_page_ends_nothing)
{
    static const struct {
        const char *label, *latest[3];
    } cases[] = {
        { "below every id", { "0", "0", "0" } },
        { "the first id of the page", { "1", "4", "7" } },
        { "frozen at the end of the first page", { "3", "3", "3" } },
        { "frozen within the second page", { "5", "5", "5" } },
        { "falls within the second page", { "8", "5", "8" } },
        { "falls to the end of the second page", { "8", "6", "6" } },
        { "falls on the last page", { "8", "8", "7" } },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        walk_by_latest(cases[i].latest[0], cases[i].latest[1], cases[i].latest[2]);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.ids.count, 8, cases[i].label);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, cases[i].label);
        CHECK(rig.last.verdict.doubts[FETCH_DOUBT_LATEST], cases[i].label);
        check_at("8", cases[i].label);
        rig_release(&rig);
    }

    walk_by_latest("8", "8", "8");
    CHECK(!rig.last.verdict.doubts[FETCH_DOUBT_LATEST], "a true one is not doubted");
    CHECK_EQ(rig.http.sent.count, 3, "and saves the request after the last page");
    rig_release(&rig);
}

TEST(a_highest_id_on_the_first_page_is_confirmed)
{
    begin("bounded", CURSOR_ID, "7"); /* short: the source may give fewer than requested */
    page("since=7", "a:8 b:9", ",\"last\":9");
    page("since=9", "c:10 d:11", ",\"last\":11");
    page("since=11", "e:12", ",\"last\":12");
    page("since=12", "", ",\"last\":12");
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 5, "it was the last of the page, not of the source");
    CHECK(!rig.last.verdict.doubts[FETCH_DOUBT_LATEST], "a source that grows looks the same");
    check_at("12", "the end");
    rig_release(&rig);

    walk_by_latest("3", "6", "8");
    CHECK_EQ(rig.ids.count, 8, "full pages, too");
    check_at("8", "all of them");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, "7");
    page("since=7", "a:8 b:9", ",\"last\":9");
    page("since=9", "", ",\"last\":9");
    rig_run(&rig);
    CHECK_EQ(rig.http.sent.count, 2, "one request more");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    CHECK(!rig.last.verdict.doubts[FETCH_DOUBT_LATEST], "without a doubt");
    rig_release(&rig);
}

TEST(a_highest_id_that_is_frozen_does_not_stop_later_harvests)
{
    begin("bounded", CURSOR_ID, "12"); /* below the cursor, but there are ids above it */
    page("since=12", "a:13 b:14", ",\"last\":8");
    page("since=14", "", ",\"last\":8");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "its numbering was not reset");
    CHECK(rig.last.verdict.doubts[FETCH_DOUBT_LATEST], "but latest is wrong");
    check_at("14", "what came counts");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, "12"); /* the process dies before the end */
    page("since=12", "a:13 b:14 c:15", ",\"last\":13");
    page("since=15", "", ",\"last\":15");
    rig.stop_after = 1;
    rig_run(&rig);
    rig.stop_after = 0;
    rig_resume(&rig);
    CHECK(rig.last.verdict.doubts[FETCH_DOUBT_LATEST], "a kill does not hide it");
    rig_release(&rig);
}

TEST(the_pages_of_a_source_end_at_its_highest_id)
{
    begin("paged_bounded", CURSOR_ID, "7");
    page("page=t2", "d:11", ",\"next\":null,\"last\":35");
    page("since=7", "a:8 b:9 c:10", ",\"next\":\"t2\",\"last\":35");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "24 ids may be missing");
    check_at("", "and nothing is adopted");
    rig_release(&rig);

    begin("paged_bounded", CURSOR_ID, "7");
    page("page=t2", "d:11", ",\"next\":null,\"last\":9");
    page("since=7", "a:8 b:9 c:10", ",\"next\":\"t2\",\"last\":9");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "all pages");
    CHECK(rig.last.verdict.doubts[FETCH_DOUBT_LATEST], "and a wrong latest");
    rig_release(&rig);
}

/* ---- has_more of a feed by id ---- */

TEST(has_more_does_not_end_a_feed_that_goes_on)
{
    begin("flagged", CURSOR_ID, "0"); /* false on full pages */
    page("since=0&", "a:1 b:2 c:3", ",\"more\":false,\"last\":5");
    page("since=3&", "d:4 e:5", ",\"more\":false,\"last\":5");
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 5, "a full page is followed");
    check_at("5", "to the end");
    rig_release(&rig);

    begin("flagged", CURSOR_ID, "0"); /* false on a short page below the highest id */
    page("since=0&", "a:1 b:2", ",\"more\":false,\"last\":5");
    page("since=2&", "c:3 d:4 e:5", ",\"more\":false,\"last\":5");
    page("since=5&", "", ",\"more\":false,\"last\":5");
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 5, "the highest id says more");
    rig_release(&rig);

    begin("flagged", CURSOR_ID, "0"); /* true, and the highest id is reached */
    page("since=0&", "a:1 b:2 c:3", ",\"more\":true,\"last\":5");
    page("since=3&", "d:4 e:5", ",\"more\":true,\"last\":5");
    page("since=5&", "f:6", ",\"more\":false,\"last\":6");
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 6, "has_more is followed");
    rig_release(&rig);

    begin("flagged", CURSOR_ID, "0"); /* true, and nothing on the page */
    page("since=0&", "a:1 b:2 c:3", ",\"more\":true,\"last\":3");
    page("since=3&", "", ",\"more\":true,\"last\":3");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "an empty page with more behind it");
    CHECK_EQ(rig.last.verdict.end, PAGE_CUT_VOID, "would be empty again");
    check_at("3", "what came counts");
    rig_release(&rig);
}

/* The source gives two records where three are requested, or fewer, and has_more is always false.
 */
TEST(has_more_that_is_false_on_every_page_loses_nothing)
{
    static const char *const pages[][4] = {
        { "a:1 b:2", "c:3 d:4", "e:5", "" },
        { "a:1 b:2", "c:3", "d:4 e:5", "" }, /* as many as fit into a number of bytes */
        { "a:1", "b:2 c:3", "d:4", "e:5" },
    };

    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        int after = 0;

        begin("told", CURSOR_ID, "0");
        for (size_t p = 0; p < ARRAY_LEN(pages[i]); p++) {
            page(arena_printf(&rig.arena, "since=%d&", after).data, pages[i][p], ",\"more\":false");
            after += (int)(strlen(pages[i][p]) + 1) / 4;
        }
        page("since=5&", "", ",\"more\":false");
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.ids.count, 5, pages[i][1]);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "to the empty page");
        check_at("5", "the end");
        CHECK(rig.http.sent.count <= 6, "a request or two more than pages");
        rig_release(&rig);
    }
}

TEST(has_more_that_is_right_costs_one_request_at_most)
{
    begin("told", CURSOR_ID, "0"); /* no page was longer */
    page("since=0&", "a:1 b:2", ",\"more\":false");
    page("since=2&", "", ",\"more\":false");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    CHECK_EQ(rig.http.sent.count, 2, "one request more, and not twice");
    rig_release(&rig);

    begin("told", CURSOR_ID, "0");
    page("since=0&", "a:1 b:2 c:3", ",\"more\":true");
    page("since=3&", "d:4", ",\"more\":false");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    CHECK_EQ(rig.http.sent.count, 2, "a page shorter than the one before it");
    rig_release(&rig);

    begin("told", CURSOR_ID, "0"); /* the process dies before the request for more */
    page("since=0&", "a:1 b:2", ",\"more\":false");
    page("since=2&", "c:3 d:4", ",\"more\":false");
    page("since=4&", "e:5", ",\"more\":false");
    page("since=5&", "", ",\"more\":false");
    rig.stop_after = 2;
    rig_run(&rig);
    rig.stop_after = 0;
    rig_resume(&rig);
    CHECK_EQ(rig.ids.count, 5, "that has_more is wrong is remembered");
    rig_release(&rig);
}

TEST(a_page_after_has_more_that_cannot_be_fetched_leaves_a_doubt)
{
    begin("told", CURSOR_ID, "0");
    page("since=0&", "a:1 b:2", ",\"more\":false");
    reply("since=2&", -1, 500, "{}");
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "as has_more says");
    CHECK(rig.last.verdict.doubts[FETCH_DOUBT_NEXT], "which nothing confirms");
    check_at("2", "what came counts");
    rig_release(&rig);

    begin("told", CURSOR_ID, "0");
    page("since=0&", "a:1 b:2", ",\"more\":false");
    reply("since=2&", -1, 404, "{}");
    rig_run(&rig);
    CHECK_EQ(rig.http.sent.count, 2, "there is no such page: once is enough");
    CHECK(!rig.last.verdict.doubts[FETCH_DOUBT_NEXT], "no doubt");
    rig_release(&rig);

    begin("told", CURSOR_ID, "0"); /* it was wrong before */
    page("since=0&", "a:1 b:2", ",\"more\":false");
    page("since=2&", "c:3 d:4", ",\"more\":false");
    reply("since=4&", -1, 500, "{}");
    rig_run(&rig);
    CHECK(rig.failed, "has_more is not believed any more");
    check_at("4", "what came counts");
    rig_release(&rig);

    begin("single", CURSOR_TOKEN, NULL); /* the token of the end is refused in the source's words */
    reply("token=t1", -1, 410, "{\"error\":1}");
    page("limit=3", "a:1 b:2", ",\"token\":\"t1\",\"more\":false");
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "not from the beginning again");
    CHECK_EQ(rig.last.verdict.restarts, 0, "not even once");
    rig_release(&rig);
}

TEST(an_empty_page_with_a_next_id_is_followed)
{
    begin("named", CURSOR_ID, "0");
    page("since=0&", "a:1 b:2 c:3", ",\"next\":3");
    page("since=3&", "", ",\"next\":6");
    page("since=6&", "d:7", ",\"next\":7");
    page("since=7&", "", ",\"next\":7");
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 4, "the source has skipped what it does not show");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "and ends");
    check_at("7", "there");
    rig_release(&rig);
}

TEST(a_filter_that_includes_its_id_is_given_the_next)
{
    begin("numbers", CURSOR_ID, "99");
    reply("min=100", -1, 200, "{\"items\":[{\"id\":100},{\"id\":101},{\"id\":105}]}");
    reply("min=106", -1, 200, "{\"items\":[]}");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    check_at("105", "the record's own id");
    rig_release(&rig);
}

TEST(a_feed_without_forward_motion_is_cut_short)
{
    begin("changes", CURSOR_ID, "50"); /* the source ignores since */
    page("since=", "a:1 b:2 c:3", "");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "never done");
    CHECK_EQ(rig.last.verdict.end, PAGE_CUT_NO_FORWARD, "because");
    CHECK_EQ(rig.http.sent.count, 2, "requested twice, not more");
    CHECK_STR(str_of(feed_text("behind")), STR("3"), "as far as it goes");
    check_at("", "nothing moves");
    rig_release(&rig);

    begin("changes", CURSOR_ID, "0"); /* newest first */
    page("since=0", "c:9 b:8 a:7", "");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "after the highest, the others would be lost");
    check_at("", "nothing moves");
    CHECK_EQ(rig.ids.count, 3, "what came is kept");
    rig_release(&rig);

    begin("changes", CURSOR_ID, "50"); /* the border again: nothing new */
    page("since=50", "a:50", "");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "a filter that includes the id");
    rig_release(&rig);
}

TEST(a_page_out_of_order_adopts_nothing)
{
    begin("bounded", CURSOR_ID, NULL); /* newest first, several pages of them */
    page("since=", "c:32 b:31 a:30", ",\"last\":35");
    page("limit=3", "f:35 e:34 d:33", ",\"last\":35");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.end, PAGE_CUT_NO_FORWARD, "the first page is out of order");
    CHECK_EQ(rig.http.sent.count, 2, "no page after it");
    check_at("", "nothing");
    rig_release(&rig);

    begin("changes", CURSOR_ID, "7");
    page("since=7", "a:8 b:9 c:10", "");
    page("since=10", "f:13 e:12 d:11", "");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.end, PAGE_CUT_NO_FORWARD, "the second page is out of order");
    check_at("10", "up to the page before it");
    CHECK_STR(str_of(feed_text("behind")), STR("13"), "recorded");
    rig_release(&rig);

    begin("changes", CURSOR_ID, "7"); /* killed after each batch */
    page("since=7", "a:8 b:9 c:10", "");
    page("since=10", "f:13 e:12 d:11", "");
    rig.stop_after = 1;
    rig_run(&rig);
    check_at("10", "the first page");
    rig_resume(&rig);
    check_at("10", "not the second");
    rig.stop_after = 0;
    rig_resume(&rig); /* the task has not ended yet */
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "a kill does not make it complete");
    check_at("10", "nor adopts more");
    CHECK_STR(str_of(feed_text("behind")), STR("13"), "still recorded");
    rig_release(&rig);
}

TEST(a_kill_before_the_verdict_hides_nothing)
{
    begin("bounded", CURSOR_ID, "12"); /* the sequence was reset */
    page("since=12", "", ",\"last\":5");
    rig.stop_after = 1;
    rig_run(&rig);
    rig.stop_after = 0;
    rig_resume(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "still below the cursor");
    CHECK_STR(str_of(feed_text("behind")), STR("5"), "still recorded");
    rig_release(&rig);

    begin("bounded", CURSOR_ID, "12"); /* an empty page below the highest id */
    page("since=12", "", ",\"last\":35");
    rig.stop_after = 1;
    rig_run(&rig);
    rig.stop_after = 0;
    rig_resume(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "still short");
    rig_release(&rig);
}

TEST(a_feed_is_adopted_page_by_page)
{
    begin("changes", CURSOR_ID, "7");
    page("since=7", "a:8 b:9 c:10", "");
    page("since=10", "d:11 e:12 f:13", "");
    reply("since=13", -1, 500, "{}");
    rig_run(&rig);
    CHECK(rig.failed, "the third page never comes");
    check_at("13", "what was stored before counts");
    rig_release(&rig);

    begin("paged", CURSOR_ID, "7"); /* its pages may have any order */
    page("since=7&limit=3", "a:18 b:9 c:10", ",\"next\":\"t2\"");
    reply("page=t2", -1, 500, "{}");
    rig_run(&rig);
    CHECK(rig.failed, "the second page never comes");
    check_at("", "nothing is known to be complete");
    rig_release(&rig);

    begin("paged", CURSOR_ID, "7");
    page("page=t2", "d:11", ",\"next\":null");
    page("since=7", "a:18 b:9 c:10", ",\"next\":\"t2\"");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "all pages");
    check_at("18", "the highest of all");
    rig_release(&rig);
}

TEST(a_feed_is_resumed_where_it_was)
{
    begin("changes", CURSOR_ID, "7");
    page("since=7", "a:8 b:9 c:10", "");
    page("since=10", "d:11", "");
    page("since=11", "", "");
    rig.stop_after = 1;
    rig_run(&rig);
    rig.stop_after = 0;
    rig_resume(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    CHECK_EQ(rig.records, 4, "nothing twice");
    check_at("11", "the end");
    rig_release(&rig);
}

TEST(an_item_without_its_place_is_no_page)
{
    begin("changes", CURSOR_ID, "7");
    reply("since=7", -1, 200, "{\"items\":[{\"id\":\"a\",\"seq\":8},{\"id\":\"b\"}]}");
    rig_run(&rig);
    CHECK(rig.failed, "a page that cannot be placed");
    rig_release(&rig);

    begin("changes", CURSOR_ID, "7");
    reply("since=7", -1, 200, "{\"items\":[{\"id\":\"a\",\"seq\":\"x8\"}]}");
    rig_run(&rig);
    CHECK(rig.failed, "nor one whose ids are not numbers");
    rig_release(&rig);
}

/* A page of one change after any id, for ever. */
static void one_more_change(void *context, struct arena *arena, const struct http_request *request,
                            struct scripted_reply *answer)
{
    int *count = context;

    (void)request;
    ++*count;
    answer->status = 200;
    answer->body = arena_printf(arena, "{\"items\":[{\"id\":%d}]}", *count);
}

TEST(a_feed_without_end_keeps_what_came)
{
    int count = 0;

    begin("numbers", CURSOR_ID, "0");
    rig.gate.no_prefetch = true;
    scripted_http_reply(&rig.http, &(struct scripted_reply){
                                       .make = one_more_change, .context = &count, .times = -1 });
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_OVER_BUDGET, "left to a person");
    check_at("10000", "the next harvest continues there");
    rig_release(&rig);
}

/* ---- by token ---- */

TEST(a_sync_ends_with_its_next_token)
{
    begin("sync", CURSOR_TOKEN, "old");
    page("page=p2", "d:1", ",\"token\":\"new\"");
    page("token=old&limit=3", "a:1 b:2 c:3", ",\"next\":\"p2\"");
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    CHECK(was_sent("page=p2"), "its second page");
    check_at("new", "the next one");
    rig_release(&rig);

    begin("sync", CURSOR_TOKEN, "old");
    page("token=old", "a:1", ",\"next\":null");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "without a token it is not done");
    check_at("", "and the old one stays");
    rig_release(&rig);

    begin("sync", CURSOR_TOKEN, "old");
    page("token=old", "a:1", ",\"token\":\"old\"");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "all pages");
    CHECK_STR(str_of(feed_text("behind")), STR("old"), "changes, and the same token: no forward");
    rig_release(&rig);

    begin("sync", CURSOR_TOKEN, "old");
    page("token=old", "", ",\"token\":\"old\"");
    rig_run(&rig);
    CHECK_STR(str_of(feed_text("behind")), STR(""), "no changes, and the same token: nothing new");
    rig_release(&rig);

    begin("sync", CURSOR_TOKEN, "old");
    page("page=p2", "", "");
    page("token=old", "a:1 b:2 c:3", ",\"next\":\"p2\",\"token\":\"early\"");
    rig.stop_after = 1;
    rig_run(&rig);
    check_at("", "a token counts when all pages were received");
    rig_release(&rig);
}

TEST(a_sync_token_on_every_page_is_no_end)
{
    begin("sync", CURSOR_TOKEN, "old"); /* full, no next: was it lost? */
    page("token=old", "a:1 b:2 c:3", ",\"next\":null,\"token\":\"new\"");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "by all signs");
    CHECK(rig.last.verdict.doubts[FETCH_DOUBT_NEXT], "but its next may be lost");
    rig_release(&rig);

    begin("sync", CURSOR_TOKEN, "old");
    page("page=p2", "d:4 e:5 f:6", ",\"next\":null,\"token\":\"new\"");
    page("token=old&limit=3", "a:1 b:2 c:3", ",\"next\":\"p2\",\"token\":\"new\"");
    rig_run(&rig);
    CHECK(rig.last.verdict.doubts[FETCH_DOUBT_NEXT], "each page has it");
    rig_release(&rig);

    begin("sync", CURSOR_TOKEN, "old");
    page("page=p2", "d:4 e:5 f:6", ",\"next\":null,\"token\":\"new\"");
    page("token=old&limit=3", "a:1 b:2 c:3", ",\"next\":\"p2\"");
    rig_run(&rig);
    CHECK(rig.last.verdict.doubts[FETCH_DOUBT_NEXT], "a source that lost its next gives it, too");
    CHECK_EQ(rig.http.sent.count, 3, "the last page is requested twice");
    rig_release(&rig);

    begin("sync", CURSOR_TOKEN, "old");
    page("page=p2", "d:4", ",\"next\":null,\"token\":\"new\"");
    page("token=old&limit=3", "a:1 b:2 c:3", ",\"next\":\"p2\"");
    rig_run(&rig);
    CHECK(!rig.last.verdict.doubts[FETCH_DOUBT_NEXT], "a short one is the last");
    CHECK_EQ(rig.http.sent.count, 2, "by two signs");
    rig_release(&rig);
}

TEST(changes_that_come_with_the_token_that_was_sent_are_doubted)
{
    begin("sync", CURSOR_TOKEN, "old");
    page("token=old", "a:1", ",\"token\":\"old\"");
    rig_run(&rig);
    CHECK(rig.last.verdict.doubts[FETCH_DOUBT_SAME_TOKEN], "the next sync gets them again");
    rig_release(&rig);

    begin("sync", CURSOR_TOKEN, "old");
    page("token=old", "", ",\"token\":\"old\"");
    rig_run(&rig);
    CHECK(!rig.last.verdict.doubts[FETCH_DOUBT_SAME_TOKEN], "nothing has changed");
    rig_release(&rig);

    begin("single", CURSOR_TOKEN, NULL); /* one kind of token: it sticks in the middle */
    page("token=t1", "d:4 e:5 f:6", ",\"token\":\"t1\",\"more\":false");
    page("limit=3", "a:1 b:2 c:3", ",\"token\":\"t1\",\"more\":true");
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 6, "two pages");
    CHECK(rig.last.verdict.doubts[FETCH_DOUBT_SAME_TOKEN], "the third may never come");
    rig_release(&rig);

    begin("single", CURSOR_TOKEN, NULL);
    page("token=t2", "", ",\"token\":\"t2\",\"more\":false");
    page("token=t1", "d:4 e:5 f:6", ",\"token\":\"t2\",\"more\":false");
    page("limit=3", "a:1 b:2 c:3", ",\"token\":\"t1\",\"more\":true");
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "the end");
    CHECK(!rig.last.verdict.doubts[FETCH_DOUBT_SAME_TOKEN], "the same token with nothing");
    check_at("t2", "continues there");
    rig_release(&rig);
}

/* At each harvest, and not only where a page is full. */
TEST(a_next_that_was_sent_is_doubted_beside_a_new_sync_token)
{
    static const char *const afters[] = { NULL, "s1", "s2" };

    for (size_t i = 0; i < ARRAY_LEN(afters); i++) {
        begin("twin", CURSOR_TOKEN, afters[i]);
        page("token=s1", "d:4", ",\"next\":\"s1\",\"token\":\"s2\"");
        page("token=s2", "e:5 f:6", ",\"next\":\"s2\",\"token\":\"s3\"");
        page("token=p2", "c:3", ",\"next\":\"p2\",\"token\":\"s1\"");
        page("limit=3", "a:1 b:2", ",\"next\":\"p2\"");
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "by all signs");
        CHECK(rig.last.verdict.doubts[FETCH_DOUBT_SAME_TOKEN], "what follows may be lost");
        rig_release(&rig);
    }

    begin("twin", CURSOR_TOKEN, "s1");
    page("token=s1", "", ",\"next\":\"s1\",\"token\":\"s2\"");
    rig_run(&rig);
    CHECK(!rig.last.verdict.doubts[FETCH_DOUBT_SAME_TOKEN], "nothing came, and nothing is lost");
    rig_release(&rig);
}

TEST(a_sync_token_is_a_text_or_a_number)
{
    static const char *const tokens[] = { "true", "{}", "[]", "[\"a\"]" };

    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        begin("sync", CURSOR_TOKEN, "old");
        page("token=old", "a:1",
             arena_printf(&rig.arena, ",\"next\":null,\"token\":%s", tokens[i]).data);
        rig_run(&rig);
        CHECK(rig.failed, tokens[i]);
        rig_release(&rig);
    }
}

TEST(an_expired_token_makes_a_full_sync)
{
    begin("sync", CURSOR_TOKEN, "old");
    reply("token=old", -1, 410, "{\"error\":1}");
    page("page=p2", "d:4", ",\"token\":\"new\"");
    page("sync?limit=3", "a:1 b:2 c:3", ",\"next\":\"p2\"");
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    CHECK_EQ(rig.ids.count, 4, "everything");
    check_at("new", "the next token");
    CHECK(str_find(rig.checkpoint, STR("\"isFull\":true")) < rig.checkpoint.len,
          "the cursor learns why");
    rig_release(&rig);

    begin("sync", CURSOR_TOKEN, "old"); /* dies in the middle of the full sync */
    reply("token=old", 0, 410, "{\"error\":1}");
    page("page=p2", "d:4", ",\"token\":\"new\"");
    page("sync?limit=3", "a:1 b:2 c:3", ",\"next\":\"p2\"");
    rig.stop_after = 1;
    rig_run(&rig);
    rig.stop_after = 0;
    rig_resume(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "still a full one");
    check_at("new", "the next token");
    rig_release(&rig);
}

TEST(an_expired_token_is_bridged_by_time_where_the_source_says_so)
{
    begin("bridged", CURSOR_TOKEN, "old");
    rig.slice.feed.has_bridge = true;
    rig.slice.feed.bridge_us = INT64_C(1767225600000000); /* 2026-01-01 */
    reply("token=old", -1, 410, "{\"error\":1}");
    page("since=2026-01-01T00%3A00%3A00Z", "a:1 b:2", ",\"token\":\"new\"");
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    check_at("new", "the next token");
    CHECK(str_find(rig.checkpoint, STR("\"isBridged\":true")) < rig.checkpoint.len,
          "records that did not come are not missing");
    rig_release(&rig);

    begin("bridged", CURSOR_TOKEN, "old");
    rig.slice.feed.has_bridge = true;
    page("token=old", "a:1", ",\"token\":\"new\"");
    rig_run(&rig);
    CHECK(!was_sent("since="), "a token that is accepted needs no bridge");
    rig_release(&rig);
}

TEST(a_token_may_be_a_url)
{
    begin("delta", CURSOR_TOKEN, "https://feed.example.org/delta?since=5");
    page("p=2", "b:2", ",\"deltaLink\":\"https://feed.example.org/delta?since=9\"");
    page("since=5", "a:1", ",\"nextLink\":\"https://feed.example.org/delta?since=5&p=2\"");
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    check_at("https://feed.example.org/delta?since=9", "the URL of the next sync");
    rig_release(&rig);

    begin("delta", CURSOR_TOKEN, "https://feed.example.org/delta?since=5");
    page("since=5", "a:1",
         arena_printf(&rig.arena, ",\"deltaLink\":\"/delta?since=%01010d\"", 9).data);
    rig_run(&rig);
    CHECK(rig.failed, "one that does not fit a cursor is refused");
    rig_release(&rig);

    begin("delta", CURSOR_TOKEN, "https://feed.example.org/delta?since=5");
    page("since=5", "a:1", ",\"deltaLink\":\"https://elsewhere.example.org/delta\"");
    rig_run(&rig);
    CHECK(rig.failed, "a URL of another host is refused");
    rig_release(&rig);
}
