/* Walks from the first request to the verdict: sizes, limits, lists that lie, the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_source.h"
#include "test.h"

static struct fake_source fake;

/* ---- sizes ---- */

TEST(pages_shrink_until_they_fit)
{
    static const char *const operations[] = { "offset", "page0", "token" };

    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, operations[i], 99);
        fake.page_cap = 12; /* of 40 asked for */
        rig_run(&rig);
        fake_source_require_complete(&fake, &rig, operations[i]);
        if (strcmp(operations[i], "token") != 0)
            CHECK(rig.sums.page_shrunk, "told");
        rig_release(&rig);
    }
}

TEST(a_page_that_cannot_be_smaller_reslices)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 99);
    fake.page_cap = 2; /* size_min is 5 */
    rig_run(&rig);
    CHECK(!rig.failed, "no failure");
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "cut it");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_OVERSIZED, "because of its size");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "offset", 99);
    fake.page_cap = 2;
    rig.order.can_reslice = false;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_REQUEST, "else it is an error");
    rig_release(&rig);
}

/* ---- limits ---- */

/* 24 records, ten to a page, whatever is requested. */
static bool serve_tens(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[4096];
    const struct str url = self->rig->http.sent.items[self->rig->http.sent.count - 1].url;
    const size_t page = str_find(url, STR("page=")), skip = str_find(url, STR("skip="));
    const int first =
        page < url.len ? 10 * (atoi(url.data + page + 5) - 1) : atoi(url.data + skip + 5);
    size_t len = 0;

    (void)n;
    len += (size_t)snprintf(body, sizeof(body), "{\"items\":[");
    for (int i = first; i < first + 10 && i < 24; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"r%03d\",\"updated_at\":\"2026-01-01T00:00:00Z\"}",
                                i > first ? "," : "", i);
    (void)snprintf(body + len, sizeof(body) - len, "]}");
    reply->body = str_of(body);
    return true;
}

TEST(pages_of_a_fixed_size_are_walked_without_sending_it)
{
    static const char *const operations[] = { "numbered", "counted" };

    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        struct page_rules rules;
        struct rig rig;

        fake_source_begin(&fake, &rig, "test/data/fetch/fixed.yaml", operations[i], 24);
        rig.gate.no_prefetch = true;
        fake.spoil = serve_tens;
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.ids.count, 24, operations[i]);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
        CHECK(rig.http.sent.count <= 4, "the short page is the last");
        for (size_t j = 0; j < rig.http.sent.count; j++)
            CHECK(str_find(rig.http.sent.items[j].url, STR("size")) ==
                      rig.http.sent.items[j].url.len,
                  "no size is sent");
        rules = page_rules_of(&rig.spec, &rig.spec.endpoint);
        CHECK_EQ(rules.size_min, rules.size, "none that is smaller could be requested");
        CHECK_EQ(rules.size_max, rules.size, "nor one that is larger");
        rig_release(&rig);
    }
}

TEST(a_page_limit_cuts_short_or_bridges_to_time)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "token", 217);
    rig.spec.endpoint.page.max_pages = 3;
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 120, "three pages");
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "not done");
    CHECK_EQ(rig.last.verdict.missing, 97, "and so many are missing");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "token", 217);
    rig.spec.endpoint.page.max_pages = 3;
    rig.spec.endpoint.page.bridge_to_time = true;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "the rest by time");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_TOO_DEEP, "too deep");
    rig_release(&rig);
}

/* The third page's token is refused, in several words. */
static int refusal;

static bool kill_third_token(struct fake_source *source, int n, struct scripted_reply *reply)
{
    (void)source;
    if (n != 3)
        return false;
    *reply = (struct scripted_reply){ .status = refusal, .body = STR("{}") };
    return true;
}

TEST(a_token_that_dies_is_bridged_by_the_date_of_the_last_record)
{
    static const int refusals[] = { 410, 400 };

    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "token", 217);
        rig.spec.endpoint.page.bridge_to_time = true;
        rig.spec.endpoint.page.order_by = STR("updated desc");
        rig.spec.endpoint.window.granularity = GRANULARITY_MINUTE;
        fake.spoil = kill_third_token;
        refusal = refusals[i];
        rig_run(&rig);
        CHECK(!rig.failed, "no failure");
        CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "the rest by time");
        CHECK_EQ(fake.served, 3, "nothing is read again");
        CHECK_EQ(rig.ids.count, 80, "what came is kept");
        /* The last one of page two, r079, is of 22:40: there may be more of that minute. */
        CHECK_EQ(rig.last.verdict.finished.from_us,
                 rig.slice.window.to_us - 79 * 60 * INT64_C(1000000), "after its minute");
        CHECK_EQ(rig.last.verdict.finished.to_us, rig.slice.window.to_us, "to the end");
        rig_release(&rig);
    }
}

/* ---- lists that are not in the order they are declared to be in ---- */

static const struct {
    const char *label;
    const char *body; /* of the first page, newest first */
    enum page_reason end;
} orders[] = {
    { "all older than the window, in order",
      "{\"records\":[{\"id\":\"a\",\"updated_at\":\"2025-12-30T00:00:00Z\"},"
      "{\"id\":\"b\",\"updated_at\":\"2025-12-29T00:00:00Z\"}],\"total\":2}",
      PAGE_END_TOTAL },
    { "a record pinned on top, and newer ones",
      "{\"records\":[{\"id\":\"a\",\"updated_at\":\"2025-12-29T00:00:00Z\"},"
      "{\"id\":\"b\",\"updated_at\":\"2025-12-30T00:00:00Z\"}],\"total\":2}",
      PAGE_END_TOTAL },
};

static bool serve_order(struct fake_source *source, int n, struct scripted_reply *reply)
{
    *reply = (struct scripted_reply){ .status = 200, .body = STR("{\"records\":[],\"total\":2}") };
    if (n == 1)
        reply->body = str_of(orders[source->poison_status].body);
    return true;
}

TEST(an_end_by_order_is_believed_only_while_the_list_is_in_order)
{
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, DETAILS, "sorted", 0);
        fake.spoil = serve_order;
        fake.poison_status = (int)i;
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.last.verdict.end, orders[i].end, orders[i].label);
        rig_release(&rig);
    }
}

/* 40 records in pages of ten, declared to be the newest first. The window is the first of January.
 */
enum top { TOP_RIGHT, TOP_ONE_DATE, TOP_IN_ORDER, TOP_REVERSED, TOP_LATER };

static const struct {
    const char *label;
    enum top top;
    size_t kept;
    size_t requests;
    enum page_reason end;
} tops[] = {
    { "as declared", TOP_RIGHT, 10, 2, PAGE_END_PAST },
    { "a page of older records on top, of one date", TOP_ONE_DATE, 30, 5, PAGE_END_EMPTY },
    { "a page of older records on top, in order", TOP_IN_ORDER, 30, 5, PAGE_END_EMPTY },
    { "the oldest first, two pages of one date", TOP_REVERSED, 20, 5, PAGE_END_EMPTY },
    { "older records on the second page, out of order", TOP_LATER, 30, 5, PAGE_END_EMPTY },
};

static bool is_older(enum top top, int i)
{
    switch (top) {
    case TOP_RIGHT:
        return i >= 10;
    case TOP_REVERSED:
        return i < 20;
    case TOP_LATER:
        return i >= 10 && i < 20;
    case TOP_ONE_DATE:
    case TOP_IN_ORDER:
        break;
    }
    return i < 10;
}

static void print_date(char *out, size_t size, enum top top, int i)
{
    const bool is_old = is_older(top, i);
    int second = 59 - i;

    if (top == TOP_REVERSED)
        second = is_old ? 0 : i;
    else if (top == TOP_ONE_DATE && is_old)
        second = 0;
    else if (top == TOP_LATER && is_old)
        second = i;
    (void)snprintf(out, size, "%sT12:00:%02dZ", is_old ? "2025-12-01" : "2026-01-01", second);
}

static bool serve_top(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[4096];
    const struct str url = self->rig->http.sent.items[self->rig->http.sent.count - 1].url;
    const int first = atoi(url.data + str_find(url, STR("offset=")) + 7);
    char date[32];
    size_t len;

    (void)n;
    len = (size_t)snprintf(body, sizeof(body), "{\"records\":[");
    for (int i = first; i < first + 10 && i < 40; i++) {
        print_date(date, sizeof(date), (enum top)self->poison_status, i);
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"r%03d\",\"updated_at\":\"%s\"}", i > first ? "," : "",
                                i, date);
    }
    (void)snprintf(body + len, sizeof(body) - len, "],\"total\":null}");
    *reply = (struct scripted_reply){ .status = 200, .body = str_of(body) };
    return true;
}

TEST(a_page_outside_of_the_window_ends_the_walk_only_in_order)
{
    for (size_t i = 0; i < ARRAY_LEN(tops); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, DETAILS, "sorted", 0);
        rig.spec.endpoint.response.total = (struct spec_path){ 0 };
        rig.gate.no_prefetch = true;
        fake.spoil = serve_top;
        fake.poison_status = (int)tops[i].top;
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.ids.count, tops[i].kept, tops[i].label);
        CHECK_EQ(rig.last.verdict.end, tops[i].end, tops[i].label);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, tops[i].label);
        CHECK(rig.http.sent.count <= tops[i].requests + 1, tops[i].label);
        rig_release(&rig);
    }
}

/* As many records as requested, all of the day after the window. */
static bool serve_next_day(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[8192];
    const struct str url = self->rig->http.sent.items[self->rig->http.sent.count - 1].url;
    const int size = atoi(url.data + str_find(url, STR("size=")) + 5);
    size_t len;

    (void)n;
    len = (size_t)snprintf(body, sizeof(body), "{\"items\":[");
    for (int i = 0; i < size; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"r%03d\",\"updated_at\":\"2026-01-02T12:00:%02dZ\"}",
                                i > 0 ? "," : "", i, 1 + i * self->poison_status);
    (void)snprintf(body + len, sizeof(body) - len, "]}");
    *reply = (struct scripted_reply){ .status = 200, .body = str_of(body) };
    return true;
}

/* A source with the newest first begins like this, whatever the window has. */
TEST(by_time_a_walk_does_not_end_complete_after_one_date_outside_of_the_window)
{
    static const enum page_reason ends[] = { PAGE_CUT_ORDER, PAGE_END_PAST };

    for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "time", 0);
        rig.spec.endpoint.window.granularity = GRANULARITY_DAY;
        rig.spec.endpoint.page.size_max = 50;
        fake.spoil = serve_next_day;
        fake.poison_status = is_sorted; /* seconds from one record to the next */
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.last.verdict.end, ends[is_sorted], "the end");
        CHECK_EQ(rig.last.verdict.kind, is_sorted ? FETCH_COMPLETE : FETCH_CUT_SHORT, "the kind");
        CHECK_EQ(rig.http.sent.count, is_sorted ? 1 : 2, "at most one more request");
        rig_release(&rig);
    }
}

TEST(a_cap_without_a_reslice_is_walked_up_to)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.spec.endpoint.page.cap = 100;
    rig.order.can_reslice = false;
    rig_run(&rig);
    CHECK(rig.ids.count >= 100, "what there is");
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "never shown as done");
    CHECK_EQ(rig.last.verdict.end, PAGE_CUT_CAP, "because of the cap");
    rig_release(&rig);
}

TEST(budgets_end_a_walk_between_batches)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.order.requests_max = 2;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "requests");
    CHECK_EQ(rig.ids.count, 80, "two pages");
    rig.order.requests_max = 0;
    rig_resume(&rig);
    fake_source_require_complete(&fake, &rig, "the rest comes later");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.order.records_max = 50;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "records");
    rig_release(&rig);
}

/* ---- lists that lie or move ---- */

TEST(a_total_that_is_never_reached_is_a_shortfall)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 90);
    fake.total = 93;
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 90, "what there is");
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "is not all");
    CHECK_EQ(rig.last.verdict.missing, 3, "by its own words");
    CHECK_EQ(rig.last.verdict.sweeps, FETCH_SWEEPS_MAX, "sweep after sweep");
    rig_release(&rig);
}

TEST(a_list_that_moves_is_walked_again_and_reported)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset_blind", 90);
    fake.moves = true;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_DRIFT, "it never stood still");
    CHECK_EQ(rig.last.verdict.sweeps, FETCH_SWEEPS_MAX, "sweep after sweep");
    rig_release(&rig);
}

/* ---- lists in the order of time ---- */

TEST(a_sorted_list_is_left_after_the_window)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, DETAILS, "sorted", 300);
    rig_window(&rig, "2026-01-01T22:00:00Z", "2026-01-01T23:00:00Z");
    rig_run(&rig);
    CHECK(!rig.failed, "it ends");
    CHECK_EQ(rig.ids.count, 60, "the minutes of one hour");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "complete");
    CHECK_EQ(rig.last.verdict.end, PAGE_END_PAST, "because the rest is older");
    CHECK(rig.http.sent.count < 20, "the rest was not read");
    CHECK(rig.sums.dropped >= 60, "what is newer was dropped");
    rig_release(&rig);
}

/* ---- prefetch ---- */

static int sent_at_look[16];

static void look_at_sent(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch)
{
    (void)fetch;
    if (batch->batch_no < 16)
        sent_at_look[batch->batch_no] = (int)rig->http.sent.count;
}

TEST(the_next_page_is_under_way_while_a_batch_is_stored)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.look = look_at_sent;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "ahead");
    CHECK_EQ(sent_at_look[1], 2,
             "while the first batch is looked at, the second page is asked for");
    CHECK_EQ(sent_at_look[2], 3, "and so on");
    CHECK_EQ(rig.gate.prefetched, 5, "all but the first");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.stop_after = 2;
    rig_run(&rig); /* checks that the gate hears of the permit */
    CHECK(rig.http.sent.items[2].cancelled, "what nobody waits for is given up");
    rig_release(&rig);
}

/* ---- probes ---- */

static bool not_found_behind_the_end(struct fake_source *self, int n, struct scripted_reply *reply)
{
    reply->status = 404;
    reply->body = STR("{\"detail\":\"Invalid page.\"}");
    return n > (self->records + 39) / 40;
}

TEST(an_error_after_the_last_page_is_an_end)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset_blind", 90);
    fake.total = -1;
    fake.spoil = not_found_behind_the_end;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "probe");
    rig_release(&rig);
}

static bool refuse_third(struct fake_source *self, int n, struct scripted_reply *reply)
{
    reply->status = self->poison_status;
    return n == 3;
}

/* The source gives 20 where 40 are requested, so that every page looks like the last one. */
TEST(one_error_in_the_middle_is_not_an_end)
{
    static const int statuses[] = { 403, 404, 406 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "offset_blind", 90);
        fake.total = -1;
        fake.page_max = 20;
        fake.spoil = refuse_third;
        fake.poison_status = statuses[i];
        rig_run(&rig);
        if (statuses[i] == 404)
            fake_source_require_complete(&fake, &rig, "asked again");
        else
            CHECK(rig.failed && rig.err.level == ERROR_REQUEST, "told, not taken for an end");
        rig_release(&rig);
    }
}

/* ---- next URLs ---- */

TEST(secrets_that_a_next_url_repeats_are_not_kept)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "next", 90);
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "next");
    CHECK(rig.befores.count > 0, "URLs are kept");
    for (size_t i = 0; i < rig.befores.count; i++) {
        CHECK(str_find(rig.befores.items[i], STR("ECHOED")) == rig.befores.items[i].len,
              "not this");
        CHECK(str_starts(rig.befores.items[i], STR("http://sim.example.org/generic/next?page=")),
              "absolute");
    }
    CHECK(str_find(rig.checkpoint, STR("ECHOED")) == rig.checkpoint.len, "nor in checkpoints");
    rig_release(&rig);
}

TEST(requests_of_a_run_are_spans_of_one_trace)
{
    const struct str run = STR("00-0af7651916cd43dd8448eb211c80319c-");
    struct rig rig;
    struct str last = { NULL, 0 };

    fake_source_begin(&fake, &rig, GENERIC, "offset", 100);
    rig.order.traceparent = STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "traced");
    for (size_t i = 0; i < rig.http.sent.count; i++) {
        const struct str trace = rig.http.sent.items[i].traceparent;

        CHECK(str_starts(trace, run), "the trace of the run");
        CHECK_EQ(trace.len, 55, "as W3C writes it");
        CHECK(!str_eq(trace, last), "a span of its own");
        last = trace;
    }
    CHECK(last.len > 0, "requests were sent");
    rig_release(&rig);
}

static bool redirect_all(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static const struct http_header location = {
        STR_INIT("Location"), STR_INIT("https://elsewhere.example.org/x?api_key=SECRET")
    };

    (void)self;
    (void)n;
    reply->status = 302;
    reply->headers = &location;
    reply->header_count = 1;
    return true;
}

/* A source where every response is one redirect away. */
static bool redirect_first(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static struct http_header location = { STR_INIT("Location"), { NULL, 0 } };
    const struct str url = self->rig->http.sent.items[self->rig->http.sent.count - 1].url;

    if (n % 2 == 0)
        return false;
    location.value = arena_printf(&self->rig->arena, "%.*s&hop=1", STR_ARG(url));
    reply->status = 302;
    reply->headers = &location;
    reply->header_count = 1;
    return true;
}

TEST(the_gate_hears_of_every_redirect_that_was_followed)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 90);
    rig.spec.endpoint.http.redirects = 1;
    rig.gate.no_prefetch = true;
    fake.spoil = redirect_first;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "redirected");
    CHECK_EQ(rig.http.sent.count, 6, "three pages, each behind a redirect");
    CHECK_EQ(rig.gate.requests, 6, "as many for the gate");
    CHECK_EQ(rig.sums.requests, 6, "and in the books");
    rig_release(&rig);
}

TEST(a_redirect_is_reported_with_its_host_only)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 10);
    fake.spoil = redirect_all;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_REQUEST, "not followed");
    CHECK(strstr(rig.err.text, "https://elsewhere.example.org:443") != NULL, "where it leads");
    CHECK(strstr(rig.err.text, "http.redirects") != NULL, "what to do");
    CHECK(strstr(rig.err.text, "SECRET") == NULL, "and no key");
    rig_release(&rig);
}

/* ---- a next page that is somebody else's ---- */

static const char *next_place;

static bool next_elsewhere(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)n;
    reply->body =
        arena_printf(&self->rig->arena,
                     "{\"items\":[{\"id\":\"a\",\"updated_at\":\"2026-01-01T00:00:00Z\"}],"
                     "\"total\":9,\"next\":\"%s\"}",
                     next_place);
    return true;
}

static bool link_elsewhere(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static struct http_header link;

    (void)n;
    link = (struct http_header){ STR("Link"), arena_printf(&self->rig->arena, "<%s>; rel=\"next\"",
                                                           next_place) };
    reply->body = STR("{\"items\":[{\"id\":\"a\",\"updated_at\":\"2026-01-01T00:00:00Z\"}]}");
    reply->headers = &link;
    reply->header_count = 1;
    return true;
}

static void require_refused(const struct rig *rig, const char *label)
{
    CHECK(rig->failed && rig->err.level == ERROR_REQUEST, label);
    CHECK_STR(str_of(rig->err.code), STR("page.next"), label);
    for (size_t i = 0; i < rig->http.sent.count; i++)
        CHECK(str_starts(rig->http.sent.items[i].url, STR(BASE "/generic/")),
              "nothing is sent elsewhere");
}

TEST(a_next_url_on_another_host_is_refused)
{
    static const char *const places[] = {
        "http://sim.example.org.evil.example/x",
        "http://evil.example/x",
        "//evil.example/x",
        "https://sim.example.org/generic/next?page=2",
        "http://sim.example.org:8080/generic/next?page=2",
        "http://sim.example.org@evil.example/x",
        "http://sim.example.org:80@evil.example/x",
        "http://evil.example#@sim.example.org/x",
        "http://evil.example/..//sim.example.org/x",
        "ftp://sim.example.org/x",
        "file:///etc/passwd",
        "javascript:x",
    };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct rig rig;

        next_place = places[i];
        fake_source_begin(&fake, &rig, GENERIC, "next", 90);
        fake.spoil = next_elsewhere;
        rig_run(&rig);
        require_refused(&rig, places[i]);
        rig_release(&rig);

        fake_source_begin(&fake, &rig, GENERIC, "header", 90);
        rig.spec.endpoint.page.type = PAGINATION_URL;
        rig.spec.endpoint.page.next_header = STR("Link");
        fake.spoil = link_elsewhere;
        rig_run(&rig);
        require_refused(&rig, places[i]);
        rig_release(&rig);
    }
}
