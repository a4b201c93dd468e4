/* Walks over parents whose children come in pages: each list is walked to its proven end. */
#include <stdio.h>

#include "fake_source.h"
#include "test.h"

enum { PARENTS = 12, CHILDREN = 5, PAGE = 2, PAGES = 3, NONE = -1 };

static struct fake_source fake;

static char names[PARENTS][8];
static struct str ids[PARENTS];

static struct answers { /* the parents from `odd` up to `odd_end` differ */
    int odd;
    int odd_end;
    int children;    /* of an odd one */
    int64_t total;   /* of an odd one; 0: as many as there are */
    int status;      /* of its page `page`; 0: 200 */
    int page;        /* from 1 */
    int times;       /* so often; 0: always */
    bool is_endless; /* pages of new children for ever */
} how;

static struct { /* what the batches said */
    struct str ids[2 * PARENTS];
    size_t count;
} marked;

static int parent_of(struct str url)
{
    for (int i = 0; i < PARENTS; i++) {
        if (str_find(url, ids[i]) < url.len)
            return i;
    }
    return NONE;
}

/* -1: the URL has no such parameter. */
static int number_in(struct str url, struct str name)
{
    const size_t at = str_find(url, name);
    int number = 0;

    if (at == url.len)
        return -1;
    for (size_t i = at + name.len; i < url.len && url.data[i] >= '0' && url.data[i] <= '9'; i++)
        number = number * 10 + url.data[i] - '0';
    return number;
}

/* From 1; by its number, its place or a token, without which it is the first. */
static int page_of(struct str url)
{
    const int page = number_in(url, STR("page=")), offset = number_in(url, STR("offset="));
    const int token = number_in(url, STR("token=t"));

    if (page >= 0)
        return page;
    if (offset >= 0)
        return offset / PAGE + 1;
    return token >= 0 ? token : 1;
}

static size_t write_next(char *at, size_t room, int parent, int next, int last)
{
    if (next > last)
        return (size_t)snprintf(at, room, ",\"token\":null,\"next\":null,\"more\":false}");
    return (size_t)snprintf(at, room,
                            ",\"token\":\"t%d\",\"next\":\"" BASE "/records/%s/parts?token=t%d\","
                            "\"more\":true}",
                            next, names[parent], next);
}

static bool answer(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[4096];
    const struct str url = self->rig->http.sent.items[self->rig->http.sent.count - 1].url;
    const int parent = parent_of(url), page = page_of(url);
    const bool is_odd = how.odd != NONE && parent >= how.odd && parent < how.odd_end;
    const int children = is_odd ? how.children : CHILDREN;
    int64_t total = is_odd && how.total > 0 ? how.total : children;
    size_t len;

    (void)n;
    if (is_odd && how.status != 0 && page == how.page && how.times != NONE) {
        if (how.times > 0 && --how.times == 0)
            how.times = NONE;
        *reply =
            (struct scripted_reply){ .status = how.status, .body = STR("{\"error\":\"nothing\"}") };
        return true;
    }
    len = (size_t)snprintf(body, sizeof(body), "{\"items\":[");
    for (int i = (page - 1) * PAGE; i < page * PAGE && (i < children || (is_odd && how.is_endless));
         i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"c%d-%d\",\"updated_at\":\"2026-01-01T00:00:00Z\","
                                "\"version\":1,\"deleted\":false,\"title\":\"t\"}",
                                i % PAGE > 0 ? "," : "", parent, i);
    len += (size_t)snprintf(body + len, sizeof(body) - len, "],\"total\":%lld", (long long)total);
    len += write_next(body + len, sizeof(body) - len, parent, page + 1, (children + 1) / PAGE);
    *reply = (struct scripted_reply){ .status = 200, .body = { body, len } };
    return true;
}

static void look(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch)
{
    (void)fetch;
    for (size_t i = 0; i < batch->parent_count; i++) {
        REQUIRE(marked.count < ARRAY_LEN(marked.ids), "not that many");
        marked.ids[marked.count++] = arena_copy(&rig->arena, batch->parents[i]);
    }
}

static void begin_by(struct rig *rig, const char *way, struct answers answers)
{
    how = answers;
    if (how.odd_end == 0)
        how.odd_end = how.odd + 1;
    marked.count = 0;
    for (int i = 0; i < PARENTS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "r%03d", i);
        ids[i] = str_of(names[i]);
    }
    fake_source_begin(&fake, rig, "test/data/fetch/child-pages.yaml", way, 0);
    fake.spoil = answer;
    rig->slice.dimension = SLICE_ID;
    rig->slice.expected_records = PARENTS;
    rig->order.ids = ids;
    rig->order.id_count = PARENTS;
    rig->look = look;
}

static void begin(struct rig *rig, struct answers answers)
{
    begin_by(rig, "page", answers);
}

static bool is_marked(int parent)
{
    for (size_t i = 0; i < marked.count; i++) {
        if (str_eq(marked.ids[i], ids[parent]))
            return true;
    }
    return false;
}

static const struct {
    const char *way;
    bool is_scroll; /* a list that was left in the middle is read from its beginning */
} ways[] = {
    { "page", false },  { "offset", false }, { "token", false },
    { "scroll", true }, { "url", false },
};

TEST(each_parents_list_is_walked_to_its_end)
{
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        const char *way = ways[i].way;
        struct rig rig;

        begin_by(&rig, way, (struct answers){ .odd = NONE });
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.http.sent.count, PAGES * PARENTS, way);
        CHECK_EQ(rig.ids.count, CHILDREN * PARENTS, way);
        CHECK_EQ(marked.count, PARENTS, way);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, way);
        CHECK_STR(rig.last.verdict.reason, STR("12 ids were requested"), way);
        rig_release(&rig);
    }
}

/* How many records a page may have, one list shows for all. */
TEST(has_more_is_confirmed_until_a_list_shows_a_longer_page)
{
    const struct answers small = { .odd = 1, .odd_end = PARENTS, .children = 1 };
    const struct answers all_small = { .odd = 0, .odd_end = PARENTS, .children = 1 };
    struct rig rig;

    begin_by(&rig, "flagged", small);
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.ids.count, CHILDREN + PARENTS - 1, "all children");
    CHECK_EQ(rig.http.sent.count, PAGES + PARENTS - 1, "no request more than pages");
    rig_release(&rig);

    begin_by(&rig, "flagged", all_small);
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, PARENTS, "all children");
    CHECK_EQ(rig.http.sent.count, 2 * PARENTS, "one more for each list");
    rig_release(&rig);
}

static void stop_and_resume(const char *way, int stop, int again)
{
    char label[64];
    struct rig rig;

    (void)snprintf(label, sizeof(label), "%s, after batch %d", way, stop);
    begin_by(&rig, way, (struct answers){ .odd = NONE });
    rig.gate.no_prefetch = true;
    rig.stop_after = stop;
    rig_run(&rig);
    CHECK_EQ(marked.count, (size_t)(stop / PAGES), label);
    rig.stop_after = 0;
    rig_resume(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.http.sent.count, PAGES * PARENTS + again, label);
    CHECK_EQ(rig.ids.count, CHILDREN * PARENTS, label);
    CHECK_EQ(marked.count, PARENTS, label);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, label);
    rig_release(&rig);
}

TEST(a_walk_that_ends_anywhere_goes_on_within_the_list_of_a_parent)
{
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        for (int stop = 1; stop <= 2 * PAGES; stop++)
            stop_and_resume(ways[i].way, stop, ways[i].is_scroll ? stop % PAGES : 0);
    }
}

TEST(a_parent_without_children_is_done)
{
    static const struct answers cases[] = {
        { .odd = 4, .children = 0 },
        { .odd = 4, .children = 0, .status = 404, .page = 1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        begin(&rig, cases[i]);
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.lost.count, 0, "it is not lost");
        CHECK_EQ(rig.http.sent.count, PAGES * (PARENTS - 1) + 1, "nor requested again");
        CHECK_EQ(marked.count, PARENTS, "it is done");
        CHECK_EQ(rig.ids.count, CHILDREN * (PARENTS - 1), "the others have theirs");
        CHECK_STR(rig.last.verdict.reason, STR("12 ids were requested; 1 of them has no children"),
                  "and it is counted");
        rig_release(&rig);
    }
}

/* A page in the middle that is refused, or is not there, is no end. */
TEST(a_parent_one_of_whose_pages_is_refused_is_not_done)
{
    static const int statuses[] = { 400, 404, 410 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct rig rig;

        begin(&rig,
              (struct answers){ .odd = 4, .children = CHILDREN, .status = statuses[i], .page = 2 });
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        REQUIRE(rig.lost.count == 1, "one is lost");
        CHECK_STR(rig.lost.items[0], STR("r004 refused"), "that one");
        CHECK_EQ(marked.count, PARENTS - 1, "the others are done");
        CHECK(!is_marked(4), "that one is not");
        rig_release(&rig);
    }
}

/* The rig sees to it that no token is reported twice: a run's row has each once. */
TEST(lists_may_have_the_same_tokens)
{
    struct rig rig;

    begin_by(
        &rig, "token",
        (struct answers){ .odd = 4, .odd_end = 6, .children = CHILDREN, .status = 400, .page = 2 });
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.lost.count, 2, "two are refused");
    CHECK_EQ(marked.count, PARENTS - 2, "the others are done");
    CHECK_EQ(rig.befores.count, 0, "no token is reported");
    rig_release(&rig);
}

TEST(a_list_with_fewer_children_than_its_total_does_not_end_its_parent)
{
    struct rig rig;

    begin(&rig, (struct answers){ .odd = 4, .children = CHILDREN, .total = CHILDREN + 2 });
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    REQUIRE(rig.lost.count == 1, "one is lost");
    CHECK_STR(rig.lost.items[0], STR("r004 failed"), "that one");
    CHECK_EQ(marked.count, PARENTS - 1, "the others are done");
    CHECK(!is_marked(4), "that one is not");
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "and it is reported");
    rig_release(&rig);
}

TEST(a_list_without_an_end_costs_few_requests_and_does_not_end_its_parent)
{
    struct rig rig;

    begin(&rig, (struct answers){ .odd = 4, .children = CHILDREN, .is_endless = true });
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK(!is_marked(4), "it is not done");
    CHECK_EQ(marked.count, PARENTS - 1, "the others are");
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "it is reported");
    CHECK(rig.http.sent.count < 3 * PAGES * PARENTS, "few requests");
    rig_release(&rig);
}

TEST(many_lists_that_are_not_whole_are_a_fault_of_the_source)
{
    struct rig rig;

    begin(&rig, (struct answers){
                    .odd = 0, .odd_end = PARENTS, .children = CHILDREN, .total = CHILDREN + 2 });
    rig_run(&rig);
    CHECK(rig.failed, "it fails");
    CHECK_STR(str_of(rig.err.code), STR("fetch.children"), rig.err.text);
    CHECK_EQ(marked.count, 0, "none is done");
    rig_release(&rig);
}

TEST(a_parent_without_a_response_is_left_for_the_next_run)
{
    struct rig rig;

    begin(&rig, (struct answers){
                    .odd = 4, .children = CHILDREN, .status = 503, .page = 2, .times = 20 });
    rig.gate.no_prefetch = true;
    rig_run(&rig);
    CHECK(rig.failed, "it is left");
    CHECK_STR(str_of(rig.err.code), STR("fetch.deferred"), rig.err.text);
    CHECK_EQ(marked.count, PARENTS - 1, "all others are done");
    how.times = NONE;
    rig_resume(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(marked.count, PARENTS, "it is done");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    rig_release(&rig);
}
