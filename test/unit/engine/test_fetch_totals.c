/* Totals that are wrong, and ends that only look like one: all records come, or the walk says that
 * they did not, and what is in doubt is in the verdict. */
#include <stdio.h>
#include <string.h>

#include "fake_source.h"
#include "test.h"

static struct fake_source fake;

static void require_doubts(const struct rig *rig, bool next, bool total, bool repeats,
                           const char *label)
{
    const struct fetch_verdict *verdict = &rig->last.verdict;

    CHECK_EQ(verdict->doubts[FETCH_DOUBT_NEXT], next, label);
    CHECK_EQ(verdict->doubts[FETCH_DOUBT_TOTAL], total, label);
    CHECK_EQ(verdict->doubts[FETCH_DOUBT_REPEATS], repeats, label);
    CHECK(!verdict->doubts[FETCH_DOUBT_INSTANT], label);
    CHECK_EQ(verdict->is_proven && (next || total || repeats), false, label);
}

/* ---- totals below the truth ---- */

/* In each of these the source has more than its total says, and a sign of it. */
TEST(a_total_below_the_truth_does_not_end_a_walk)
{
    static const struct {
        const char *label;
        const char *operation;
        int records;
        int total;
    } cases[] = {
        { "a token in hand at the total", "token", 130, 40 },
        { "a token in hand, at a short page", "token", 130, 10 },
        { "a URL in hand at the total", "next", 150, 80 },
        { "more on the first page than the total", "offset", 130, 5 },
        { "more on a later page", "page0", 130, 60 },
        { "the total at the end of a full page", "offset", 130, 40 },
        { "the total at the end of a full page, by number", "page0", 130, 80 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, cases[i].operation, cases[i].records);
        fake.total = cases[i].total;
        rig_run(&rig);
        fake_source_require_complete(&fake, &rig, cases[i].label);
        require_doubts(&rig, false, true, false, cases[i].label);
        CHECK_EQ(rig.last.verdict.sweeps, 1, cases[i].label);
        rig_release(&rig);
    }
}

/* response.total that is the number of items of the page: the mistake of many sources. */
static bool total_of_page(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[8192];
    const int from = (n - 1) * 40;
    const int count = self->records - from < 40 ? self->records - from : 40;
    size_t len = 0;

    if (count <= 0) {
        reply->body = STR("{\"items\":[],\"total\":0}");
        return true;
    }
    len += (size_t)snprintf(body, sizeof(body), "{\"items\":[");
    for (int i = from; i < from + count; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"r%03d\",\"updated_at\":\"2026-01-01T00:00:00Z\"}",
                                i > from ? "," : "", i);
    len += (size_t)snprintf(body + len, sizeof(body) - len, "],\"total\":%d}", count);
    reply->body = (struct str){ body, len };
    return true;
}

TEST(a_total_of_the_page_is_seen_to_be_wrong)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 90);
    rig.gate.no_prefetch = true;
    fake.spoil = total_of_page;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "all 90");
    require_doubts(&rig, false, true, false, "and the total is wrong");
    rig_release(&rig);
}

/* A right total costs a further request only where the last page is full. */
TEST(a_right_total_is_believed)
{
    static const struct {
        int records;
        size_t requests;
    } cases[] = { { 90, 3 }, { 80, 3 }, { 17, 1 }, { 0, 1 } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "offset", cases[i].records);
        rig.gate.no_prefetch = true;
        rig_run(&rig);
        fake_source_require_complete(&fake, &rig, "offset");
        CHECK_EQ(rig.http.sent.count, cases[i].requests, "requests");
        require_doubts(&rig, false, false, false, "no doubt");
        rig_release(&rig);
    }
}

/* What sources say beyond their last page, where the total was reached. */
static const struct scripted_reply *beyond;

static bool spoil_beyond(struct fake_source *self, int n, struct scripted_reply *reply)
{
    if (n <= (self->records + 39) / 40)
        return false;
    reply->status = beyond->status;
    reply->body = beyond->body;
    return true;
}

TEST(a_total_that_was_reached_outlives_what_comes_after_it)
{
    static const struct scripted_reply replies[] = {
        { .status = 404, .body = STR_INIT("{\"detail\":\"Invalid page.\"}") },
        { .status = 500, .body = STR_INIT("{}") },
        { .status = 200, .body = STR_INIT("{\"message\":\"no such page\"}") },
        { .status = 200, .body = STR_INIT("{\"items\":[]}") },
        { .status = 200,
          .body = STR_INIT("{\"items\":[{\"id\":\"r079\",\"updated_at\":\"2026-01-01T22:40:00Z\"}],"
                           "\"total\":80}") },
    };

    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "offset", 80);
        beyond = &replies[i];
        fake.spoil = spoil_beyond;
        rig_run(&rig);
        fake_source_require_complete(&fake, &rig, "beyond the end");
        CHECK(rig.last.verdict.is_proven, "by the total");
        CHECK_EQ(rig.last.verdict.sweeps, 1, "and at once");
        rig_release(&rig);
    }
}

TEST(a_last_page_that_is_returned_forever_is_not_a_list_that_moved)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset_blind", 90);
    rig.gate.no_prefetch = true;
    fake.total = -1;
    fake.sticks = true;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "the last page again");
    CHECK_EQ(rig.last.verdict.sweeps, 1, "one sweep");
    rig_release(&rig);
}

/* ---- ids that are twice on a page ---- */

/* Request 2 of each sweep has r040 in the place of r041. */
static bool hide_one(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[8192];
    size_t len = 0;

    if (n != 2 && !(self->gone == 0 && n % 3 == 2))
        return false;
    len += (size_t)snprintf(body, sizeof(body), "{\"items\":[");
    for (int i = 40; i < 80; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"r%03d\",\"updated_at\":\"2026-01-01T00:00:00Z\"}",
                                i > 40 ? "," : "", i == 41 ? 40 : i);
    len += (size_t)snprintf(body + len, sizeof(body) - len, "],\"total\":90}");
    reply->body = (struct str){ body, len };
    return true;
}

TEST(an_id_twice_on_a_page_does_not_hide_a_missing_one)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 90);
    fake.spoil = hide_one;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "the second sweep has it");
    CHECK_EQ(rig.last.verdict.sweeps, 2, "two sweeps");
    CHECK(rig.last.verdict.is_proven, "proven");
    rig_release(&rig);
}

TEST(ids_that_are_twice_on_a_page_each_time_are_a_habit_and_a_doubt)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 90);
    rig.gate.no_prefetch = true;
    fake.gone = 0; /* in every sweep */
    fake.spoil = hide_one;
    rig_run(&rig);
    CHECK(!rig.failed, "no failure");
    CHECK_EQ(rig.ids.count, 89, "one never came");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "two sweeps agree");
    CHECK_EQ(rig.last.verdict.sweeps, 2, "two sweeps");
    require_doubts(&rig, false, false, true, "and it is said");
    CHECK(str_find(rig.last.verdict.reason, STR("twice on a page")) < rig.last.verdict.reason.len,
          "in words");
    rig_release(&rig);
}

/* ---- a full last page without a next ---- */

static bool pages_without_header(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[8192];
    static const struct http_header header = { STR_INIT("X-Next-Token"), STR_INIT("2") };
    const int from = n == 1 ? 0 : 40;
    const int until = n == 1 ? 40 : self->records;
    size_t len = 0;

    len += (size_t)snprintf(body, sizeof(body), "{\"items\":[");
    for (int i = from; i < until; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"r%03d\",\"updated_at\":\"2026-01-01T00:00:00Z\"}",
                                i > from ? "," : "", i);
    len += (size_t)snprintf(body + len, sizeof(body) - len, "]}");
    reply->body = (struct str){ body, len };
    reply->headers = &header;
    reply->header_count = n == 1;
    return true;
}

/* Pages of 40, the last of them with a next that is null, as a source that lost it would write. */
static bool pages_with_null(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[8192];
    const int from = (n > 1) * 40, until = from + 40 < self->records ? from + 40 : self->records;
    size_t len = 0;

    len += (size_t)snprintf(body, sizeof(body), "{\"items\":[");
    for (int i = from; i < until; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"r%03d\",\"updated_at\":\"2026-01-01T00:00:00Z\"}",
                                i > from ? "," : "", i);
    len += (size_t)snprintf(body + len, sizeof(body) - len, "],\"nextToken\":%s}",
                            n == 1 ? "\"t2\"" : "null");
    reply->body = (struct str){ body, len };
    return true;
}

TEST(a_full_last_page_with_a_next_of_null_is_a_doubt)
{
    static const struct {
        int records;
        bool is_doubt;
    } cases[] = { { 80, true }, { 70, false } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "token", cases[i].records);
        rig.gate.no_prefetch = true;
        rig.spec.endpoint.response.total = (struct spec_path){ 0 };
        fake.spoil = pages_with_null;
        rig_run(&rig);
        fake_source_require_complete(&fake, &rig, "null");
        require_doubts(&rig, cases[i].is_doubt, false, false, "a full last page");
        rig_release(&rig);
    }
}

/* Always another page, with new ids and a new token. */
static bool pages_without_end(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[2048];
    size_t len = 0;

    (void)self;
    len += (size_t)snprintf(body, sizeof(body), "{\"items\":[");
    for (int i = 0; i < 10; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"n%d-%d\",\"updated_at\":\"2026-01-01T00:00:00Z\"}",
                                i > 0 ? "," : "", n, i);
    len += (size_t)snprintf(body + len, sizeof(body) - len, "],\"nextToken\":\"t%d\",\"total\":95}",
                            n + 1);
    reply->body = (struct str){ body, len };
    return true;
}

TEST(a_list_without_end_is_left_to_a_person)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "token", 0);
    rig.gate.no_prefetch = true;
    fake.spoil = pages_without_end;
    rig_run(&rig);
    CHECK(!rig.failed, "it ends");
    CHECK_EQ(rig.last.verdict.kind, FETCH_OVER_BUDGET, "and says why");
    CHECK(rig.sums.requests <= 4 * 10 + 32 + 1, "four times its total, and some to spare");
    rig_release(&rig);
}

/* The same, one record to a page and without a total; with `endless_total`, one that grows. */
static bool endless_total;

static bool pages_of_nothing_known(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[256];
    char total[32] = "";

    (void)self;
    if (endless_total)
        (void)snprintf(total, sizeof(total), ",\"total\":%d", n + 20);
    reply->body.len = (size_t)snprintf(body, sizeof(body),
                                       "{\"items\":[{\"id\":\"n%d\",\"updated_at\":\"2026-01-01T00:"
                                       "00:00Z\"}],\"nextToken\":\"t%d\"%s}",
                                       n, n + 1, total);
    reply->body.data = body;
    return true;
}

static void begin_endless(struct rig *rig, bool has_total)
{
    fake_source_begin(&fake, rig, GENERIC, "token", 0);
    rig->gate.no_prefetch = true;
    endless_total = has_total;
    if (!has_total)
        rig->spec.endpoint.response.total = (struct spec_path){ 0 };
    fake.spoil = pages_of_nothing_known;
}

TEST(a_list_without_end_and_without_a_total_is_left_to_a_person)
{
    struct rig rig;

    for (int has_total = 0; has_total <= 1; has_total++) {
        begin_endless(&rig, has_total);
        rig_run(&rig);
        CHECK(!rig.failed, "it ends");
        CHECK_EQ(rig.last.verdict.kind, FETCH_OVER_BUDGET, "and says why");
        CHECK_EQ(rig.sums.requests, WALK_BUDGET_BLIND_MAX, "after as many pages as may be");
        CHECK(str_find(rig.last.verdict.reason, STR("page.max_pages")) <
                  rig.last.verdict.reason.len,
              "and what helps");
        rig_release(&rig);
    }
}

TEST(a_long_list_is_not_cut_where_its_length_is_known)
{
    struct rig rig;

    begin_endless(&rig, false); /* by the harvests before */
    rig.slice.expected_records = INT64_C(1000) * WALK_BUDGET_BLIND_MAX;
    rig.stop_after = WALK_BUDGET_BLIND_MAX + 10;
    rig_run(&rig);
    CHECK(!rig.failed && !rig.last.is_last, "it goes on");
    CHECK_EQ(rig.sums.requests, WALK_BUDGET_BLIND_MAX + 10, "beyond the bound");
    rig_release(&rig);

    begin_endless(&rig, false); /* by its author */
    rig.spec.endpoint.page.max_pages = WALK_BUDGET_BLIND_MAX + 5;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "as far as the source file says");
    CHECK_EQ(rig.last.verdict.end, PAGE_CUT_PAGES, "by its limit");
    CHECK_EQ(rig.sums.requests, WALK_BUDGET_BLIND_MAX + 5, "and not before");
    rig_release(&rig);
}

/* Two full pages, the second of them with this Link. */
static const char *last_link;

static bool pages_with_link(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static struct http_header header;

    (void)pages_without_header(self, n, reply);
    header =
        (struct http_header){ STR("Link"), n == 1 ? STR("</generic/header?page=2>; rel=\"next\"")
                                                  : str_of(last_link) };
    reply->headers = &header;
    reply->header_count = last_link != NULL || n == 1;
    return true;
}

TEST(a_full_last_page_with_a_link_to_nowhere_is_a_doubt)
{
    static const struct {
        const char *link;
        bool is_doubt;
    } cases[] = { { NULL, true },
                  { "<>; rel=\"next\"", true },
                  { "</generic/header?page=1>; rel=\"prev\"", false } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "header", 80);
        rig.gate.no_prefetch = true;
        rig.spec.endpoint.page.type = PAGINATION_URL;
        rig.spec.endpoint.page.next_header = STR("Link");
        last_link = cases[i].link;
        fake.spoil = pages_with_link;
        rig_run(&rig);
        fake_source_require_complete(&fake, &rig, "link");
        require_doubts(&rig, cases[i].is_doubt, false, false, "the last link");
        rig_release(&rig);
    }
}

TEST(a_full_last_page_without_a_next_is_a_doubt)
{
    static const struct {
        int records;
        bool is_doubt;
    } cases[] = { { 80, true }, { 70, false } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "header", cases[i].records);
        rig.gate.no_prefetch = true;
        fake.spoil = pages_without_header;
        rig_run(&rig);
        fake_source_require_complete(&fake, &rig, "header");
        require_doubts(&rig, cases[i].is_doubt, false, false, "a full last page");
        rig_release(&rig);
    }
}

/* ---- pages that the source cuts off within one instant ---- */

TEST(a_short_page_of_one_instant_is_a_doubt)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "time", 19);
    fake.per_minute = 19;
    fake.page_max = 7;
    rig_run(&rig);
    CHECK(!rig.failed, "no failure");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "nothing shows that there are more");
    CHECK(rig.last.verdict.doubts[FETCH_DOUBT_INSTANT], "there may be");
    rig_release(&rig);
}

/* The rest alone would look complete: it is read with the pages that show the most the source
 * gives. */
TEST(an_instant_that_is_cut_off_is_not_left_to_a_walk_of_its_own)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "time", 38);
    fake.per_minute = 19;
    fake.page_max = 7;
    rig_run(&rig);
    CHECK(!rig.failed, "no failure");
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "records are missing");
    CHECK_EQ(rig.last.verdict.end, PAGE_CUT_STUCK, "of an instant");
    CHECK(!window_is_valid(rig.last.verdict.finished), "nothing is finished");
    rig_release(&rig);
}

/* ---- a total in a header ---- */

static const char *total_value; /* of the header; NULL: there is none */

static bool total_in_header(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static struct http_header headers[1];

    (void)self;
    (void)n;
    if (total_value != NULL) {
        headers[0] = (struct http_header){ STR("X-Total-Count"), str_of(total_value) };
        reply->headers = headers;
        reply->header_count = 1;
    }
    reply->body = STR("{\"items\":[{\"id\":\"r000\",\"updated_at\":\"2026-01-01T00:00:00Z\"}]}");
    return true;
}

static void begin_header(struct rig *rig, const char *value)
{
    fake_source_begin(&fake, rig, GENERIC, "offset", 1);
    rig->spec.endpoint.response.total = (struct spec_path){ 0 };
    rig->spec.endpoint.response.total_header = STR("X-Total-Count");
    fake.spoil = total_in_header;
    total_value = value;
    rig->gate.no_prefetch = true;
    rig_run(rig);
}

TEST(a_total_in_a_header_proves_that_a_walk_is_complete)
{
    static const char *const values[] = { "1", " 1 ", "items 0-0/1" };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        begin_header(&rig, values[i]);
        fake_source_require_complete(&fake, &rig, values[i]);
        CHECK(rig.last.verdict.is_proven, values[i]);
        CHECK_EQ(rig.last.verdict.total, 1, values[i]);
        rig_release(&rig);
    }
}

TEST(a_total_in_a_header_that_is_higher_is_no_complete_walk)
{
    struct rig rig;

    begin_header(&rig, "3");
    CHECK(!rig.failed, rig.err.text);
    CHECK(rig.last.verdict.kind != FETCH_COMPLETE, "two are missing");
    rig_release(&rig);
}

TEST(a_header_without_the_total_is_a_broken_response)
{
    static const struct {
        const char *value;
        const char *word;
    } cases[] = { { NULL, "header X-Total-Count" },
                  { "*", "may_be_absent: [total]" },
                  { "many", "not a whole number" },
                  { "-1", "not a whole number" } };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        begin_header(&rig, cases[i].value);
        CHECK(rig.failed, cases[i].word);
        CHECK_STR(str_of(rig.err.code), STR("answer.total"), cases[i].word);
        CHECK(strstr(rig.err.text, cases[i].word) != NULL, rig.err.text);
        rig_release(&rig);
    }
}

/* ---- what a response must be ---- */

static const char *rule_body;

static bool serve_rule_body(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    (void)n;
    reply->body = str_of(rule_body);
    return true;
}

TEST(a_response_must_be_of_the_kind_that_a_rule_says)
{
    static const char page[] = "{\"items\":[],\"total\":0,\"no\":null,\"t\":\"\",\"b\":false}";
    static const struct {
        const char *path;
        enum value_kind type;
        bool is_good;
    } cases[] = {
        { "$", VALUE_OBJECT, true },        { "$", VALUE_ARRAY, false },
        { "$.items", VALUE_ARRAY, true },   { "$.items", VALUE_OBJECT, false },
        { "$.no", VALUE_ANY, false },       { "$.no", VALUE_PRESENT, true },
        { "$.gone", VALUE_PRESENT, false }, { "$.t", VALUE_TEXT, true },
        { "$.t", VALUE_NUMBER, false },     { "$.total", VALUE_NUMBER, true },
        { "$.b", VALUE_BOOLEAN, true },     { "$.t", VALUE_BOOLEAN, false },
        { "$.gone", VALUE_ARRAY, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct spec_rule rule = { .path = { .text = str_of(cases[i].path) },
                                  .type = cases[i].type,
                                  .level = ERROR_REQUEST };
        struct rig rig;
        struct error err;

        fake_source_begin(&fake, &rig, GENERIC, "offset", 0);
        fake.spoil = serve_rule_body;
        rule_body = page;
        REQUIRE(jsonpath_compile(&rig.arena, rule.path.text, &rule.path.json, NULL, &err),
                cases[i].path);
        rig.spec.endpoint.response.success_when.items = &rule;
        rig.spec.endpoint.response.success_when.count = 1;
        rig_run(&rig);
        CHECK_EQ(rig.failed, !cases[i].is_good, cases[i].path);
        if (!cases[i].is_good)
            CHECK_STR(str_of(rig.err.code), STR("answer.rule"), cases[i].path);
        rig_release(&rig);
    }
}
