/* Walks over the ids of parents: each gets its children, or none. */
#include <stdio.h>
#include <string.h>

#include "fake_source.h"
#include "test.h"

enum { PARENTS = 6, MANY = 700 };

static struct fake_source fake;

static const struct str ids[PARENTS] = { STR_INIT("r000"), STR_INIT("r001"), STR_INIT("r002"),
                                         STR_INIT("r003"), STR_INIT("r004"), STR_INIT("r005") };

static struct answers { /* to the request of one parent; of several: 404 */
    int children;
    int status;                /* not 200: of the parent `odd` */
    int odd;                   /* -1: none */
    int64_t more;              /* the total is larger by this, for the parent `odd` */
    struct str body;           /* of the parent `odd`; data NULL: its children */
    struct http_header header; /* of the parent `odd`; name empty: none */
    bool all;                  /* every parent is odd */
} answers;

static struct { /* what the batches said */
    struct str ids[2 * PARENTS];
    size_t count;
    int held; /* batches of a response without its parent */
} marked;

static int parent_of(struct str url)
{
    int found = -1;

    for (int i = 0; i < PARENTS; i++) {
        if (str_find(url, ids[i]) == url.len)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

static bool answer(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static char body[200000];
    const struct str url = self->rig->http.sent.items[self->rig->http.sent.count - 1].url;
    const int parent = parent_of(url);
    const bool is_odd = answers.all || parent == answers.odd;
    size_t len = 0;

    (void)n;
    if (is_odd && answers.body.data != NULL) {
        *reply = (struct scripted_reply){ .status = answers.status, .body = answers.body };
        return true;
    }
    if (parent < 0 || (is_odd && answers.status >= 300)) {
        *reply = (struct scripted_reply){ .status = parent < 0 ? 404 : answers.status,
                                          .body = STR("{\"error\":\"nothing\"}") };
        return true;
    }
    len += (size_t)snprintf(body, sizeof(body), "{\"items\":[");
    for (int i = 0; i < answers.children; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"c%d-%d\",\"updated_at\":\"2026-01-01T00:00:00Z\","
                                "\"version\":1,\"deleted\":false,\"title\":\"t\"}",
                                i > 0 ? "," : "", parent, i);
    len += (size_t)snprintf(body + len, sizeof(body) - len, "],\"total\":%lld}",
                            (long long)(answers.children + (is_odd ? answers.more : 0)));
    *reply = (struct scripted_reply){ .status = is_odd ? answers.status : 200,
                                      .headers = &answers.header,
                                      .header_count = is_odd && answers.header.name.len > 0,
                                      .body = { body, len } };
    return true;
}

static void look(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch)
{
    (void)fetch;
    for (size_t i = 0; i < batch->parent_count; i++) {
        REQUIRE(marked.count < ARRAY_LEN(marked.ids), "not that many");
        marked.ids[marked.count++] = arena_copy(&rig->arena, batch->parents[i]);
    }
    marked.held += batch->parent_count == 0;
}

static void begin(struct rig *rig, struct answers how)
{
    answers = how;
    marked.count = 0;
    marked.held = 0;
    fake_source_begin(&fake, rig, "test/data/sim-sources/generic-children.yaml", "parts", 0);
    fake.spoil = answer;
    rig->slice.dimension = SLICE_ID;
    rig->order.ids = ids;
    rig->order.id_count = PARENTS;
    rig->look = look;
}

static bool is_marked(int parent)
{
    for (size_t i = 0; i < marked.count; i++) {
        if (str_eq(marked.ids[i], ids[parent]))
            return true;
    }
    return false;
}

TEST(each_parent_is_requested_by_itself)
{
    struct rig rig;

    begin(&rig, (struct answers){ .children = 3, .odd = -1 });
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.http.sent.count, PARENTS, "a request each");
    CHECK_EQ(rig.ids.count, 3 * PARENTS, "all children, by their own ids");
    CHECK_EQ(rig.lost.count, 0, "that a parent is not among them says nothing");
    CHECK_EQ(marked.count, PARENTS, "all are done");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    rig_release(&rig);
}

TEST(a_parent_is_done_with_the_last_part_of_its_response)
{
    struct rig rig;

    begin(&rig, (struct answers){ .children = MANY, .odd = -1 });
    rig.gate.no_prefetch = true;
    rig.stop_after = 4; /* the first response is three batches, and one of the second */
    rig_run(&rig);
    CHECK_EQ(marked.count, 1, "the first parent");
    CHECK_EQ(marked.held, 3, "not with the first parts");
    CHECK(is_marked(0), "the first parent");
    CHECK_EQ(rig.http.sent.count, 2, "two requests");
    rig.stop_after = 0;
    rig_resume(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.http.sent.count, PARENTS + 1, "only the second is requested again");
    CHECK_EQ(rig.ids.count, MANY * PARENTS, "all children");
    CHECK_EQ(marked.count, PARENTS, "each once");
    rig_release(&rig);
}

TEST(a_parent_that_is_not_found_has_no_children)
{
    static const int statuses[] = { 404, 410 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct rig rig;

        begin(&rig, (struct answers){ .children = 2, .status = statuses[i], .odd = 4 });
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.lost.count, 0, "it is not lost");
        CHECK_EQ(rig.http.sent.count, PARENTS, "it is not requested again");
        CHECK_EQ(marked.count, PARENTS, "it is done");
        CHECK_EQ(rig.ids.count, 2 * (PARENTS - 1), "the others have theirs");
        CHECK_STR(rig.last.verdict.reason, STR("6 ids were requested; 1 of them has no children"),
                  "and it is counted");
        rig_release(&rig);
    }
}

TEST(of_several_parents_in_a_request_none_is_given_up_unseen)
{
    struct rig rig;

    begin(&rig, (struct answers){ .children = 2, .odd = -1 });
    rig.spec.endpoint.batch.id_batch_size = PARENTS;
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.lost.count, 0, "a 404 of several says nothing about one");
    CHECK_EQ(marked.count, PARENTS, "each was requested by itself in the end");
    CHECK_EQ(rig.ids.count, 2 * PARENTS, "all children");
    rig_release(&rig);
}

TEST(a_parent_that_is_refused_is_not_done)
{
    struct rig rig;

    begin(&rig, (struct answers){ .children = 2, .status = 400, .odd = 4 });
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    REQUIRE(rig.lost.count == 1, "one is lost");
    CHECK_STR(rig.lost.items[0], STR("r004 refused"), "that one");
    CHECK_EQ(marked.count, PARENTS - 1, "the others are done");
    CHECK(!is_marked(4), "that one is not");
    rig_release(&rig);
}

TEST(a_response_with_fewer_children_than_its_total_is_refused)
{
    struct rig rig;

    begin(&rig, (struct answers){ .children = 2, .status = 200, .odd = 4, .more = 1 });
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    REQUIRE(rig.lost.count == 1, "one is lost");
    CHECK_STR(rig.lost.items[0], STR("r004 refused"), "that one");
    CHECK(!is_marked(4), "it is not done");
    CHECK_EQ(rig.ids.count, 2 * (PARENTS - 1), "nothing of it is stored");
    rig_release(&rig);
}

#define CHILD(id) "{\"id\":\"" id "\",\"updated_at\":\"2026-01-01T00:00:00Z\",\"version\":1}"

/* It says itself that it is not all: refused, listed, and the parent stays due. */
TEST(a_response_that_is_a_part_is_refused)
{
    static const struct {
        const char *label;
        struct answers how;
    } cases[] = {
        { "an id twice",
          { .status = 200,
            .body = STR_INIT("{\"items\":[" CHILD("a") "," CHILD("a") "],\"total\":2}") } },
        { "no children of some",
          { .status = 200, .body = STR_INIT("{\"items\":[],\"total\":2}") } },
        { "status 206", { .children = 2, .status = 206 } },
        { "a next link",
          { .children = 2,
            .status = 200,
            .header = { STR_INIT("Link"), STR_INIT("</parts?page=2>; rel=\"next\"") } } },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answers how = cases[i].how;
        struct rig rig;

        how.odd = 4;
        begin(&rig, how);
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        REQUIRE(rig.lost.count == 1, cases[i].label);
        CHECK_STR(rig.lost.items[0], STR("r004 refused"), cases[i].label);
        CHECK(!is_marked(4), cases[i].label);
        CHECK_EQ(marked.count, PARENTS - 1, "the others are done");
        rig_release(&rig);
    }
}

/* It may pass: requested again, and then by the next run. */
TEST(a_response_of_another_shape_leaves_its_parent_due)
{
    static const struct {
        const char *label, *word;
        struct str body;
    } cases[] = {
        { "no list", "$.items", STR_INIT("{\"error\":\"busy\"}") },
        { "no total", "$.total", STR_INIT("{\"items\":[" CHILD("a") "]}") },
        { "a total of null", "$.total", STR_INIT("{\"items\":[" CHILD("a") "],\"total\":null}") },
        { "no ids", "has an id at", STR_INIT("{\"items\":[{\"error\":\"busy\"}],\"total\":1}") },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        begin(&rig,
              (struct answers){ .children = 2, .status = 200, .odd = 4, .body = cases[i].body });
        rig_run(&rig);
        CHECK(rig.failed, cases[i].label);
        CHECK_EQ(rig.err.level, ERROR_TRANSIENT, rig.err.text);
        CHECK(!is_marked(4), cases[i].label);
        CHECK_EQ(marked.count, PARENTS - 1, "the others are done");
        CHECK_EQ(rig.ids.count, 2 * (PARENTS - 1), "nothing of it is stored");
        CHECK(strstr(rig.err.text, cases[i].word) != NULL, rig.err.text);
        answers.odd = -1;
        rig_resume(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK(is_marked(4), "later it is done, too");
        rig_release(&rig);
    }
}

TEST(that_no_parent_has_children_is_a_doubt)
{
    static const struct answers cases[] = {
        { .status = 404, .all = true },
        { .status = 200, .all = true, .body = STR_INIT("{\"items\":[],\"total\":0}") },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str many[FETCH_MISSING_ALL_MIN];
        struct rig rig;

        begin(&rig, cases[i]);
        for (size_t p = 0; p < ARRAY_LEN(many); p++)
            many[p] = arena_printf(&rig.arena, "p%zu", p);
        rig.order.ids = many;
        rig.order.id_count = ARRAY_LEN(many);
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "it may be so");
        CHECK(rig.last.verdict.doubts[FETCH_DOUBT_CHILDREN], "and is said");
        rig_release(&rig);
    }
}
