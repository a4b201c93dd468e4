/* Tests: what a request was made of is the same after it was written and read. */
#include "engine/fetch/request_kept.h"

#include "test.h"

static void check_same(const struct request_kept *a, const struct request_kept *b)
{
    CHECK_STR(b->endpoint, a->endpoint, "endpoint");
    CHECK(a->ids_only == b->ids_only && a->is_child_page == b->is_child_page &&
              a->is_stream == b->is_stream,
          "flags");
    CHECK(a->number == b->number && a->page_no == b->page_no && a->offset == b->offset &&
              a->size == b->size,
          "place");
    CHECK((a->token.data == NULL) == (b->token.data == NULL), "has a token");
    CHECK_STR(b->token, a->token, "token");
    CHECK(a->window.from_us == b->window.from_us && a->window.to_us == b->window.to_us, "window");
    CHECK(a->has_since == b->has_since && a->since_us == b->since_us, "since");
    CHECK((a->after.data == NULL) == (b->after.data == NULL), "has an after");
    CHECK_STR(b->after, a->after, "after");
    REQUIRE(a->id_count == b->id_count && a->history_count == b->history_count, "counts");
    for (size_t i = 0; i < a->id_count; i++)
        CHECK_STR(b->ids[i], a->ids[i], "id");
    for (size_t i = 0; i < a->history_count; i++)
        CHECK_STR(b->history[i].value, a->history[i].value, "history");
}

static void check_kept(const struct request_kept *kept)
{
    struct request_kept again;
    struct arena arena;
    struct error err;
    struct str json;

    arena_init(&arena, 1 << 20);
    json = request_kept_write(kept, &arena);
    REQUIRE(json.data != NULL, "written");
    REQUIRE_OK(request_kept_read(&again, &arena, json, &err), err);
    check_same(kept, &again);
    arena_release(&arena);
}

TEST(every_member_is_kept)
{
    static const struct str ids[] = { STR_INIT("10.1/a"), STR_INIT("\"q\"") };
    static const struct listing_value history[] = { { STR_INIT("webenv"), STR_INIT("MCID_1") } };

    check_kept(&(struct request_kept){ .endpoint = STR("works") });
    check_kept(&(struct request_kept){ .endpoint = STR("works"),
                                       .ids_only = true,
                                       .is_child_page = true,
                                       .is_stream = true,
                                       .number = 3,
                                       .page_no = 4,
                                       .offset = 60,
                                       .size = 20,
                                       .token = STR("abc=="),
                                       .window = { 1, 1000000 },
                                       .has_since = true,
                                       .since_us = -5,
                                       .after = STR("17"),
                                       .ids = ids,
                                       .id_count = 2,
                                       .history = history,
                                       .history_count = 1 });
}

TEST(a_token_may_have_any_bytes)
{
    check_kept(&(struct request_kept){ .endpoint = STR("works"), .token = STR("") });
    check_kept(&(struct request_kept){ .endpoint = STR("works"), .token = { "\0\xFF\n\"", 4 } });
}

TEST(what_is_not_such_a_text_is_refused)
{
    static const char *const bad[] = { "",
                                       "[]",
                                       "{}",
                                       "{\"endpoint\":1}",
                                       "{\"endpoint\":\"a\",\"offset\":-1}",
                                       "{\"endpoint\":\"a\",\"from\":1}",
                                       "{\"endpoint\":\"a\",\"ids\":[1]}",
                                       "{\"endpoint\":\"a\",\"tokenBase64\":\"*\"}",
                                       "{\"endpoint\":\"a\",\"history\":[\"x\"]}" };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct request_kept kept;
        struct arena arena;
        struct error err = { 0 };

        arena_init(&arena, 1 << 20);
        CHECK(!request_kept_read(&kept, &arena, str_of(bad[i]), &err), bad[i]);
        CHECK_STR(str_of(err.code), STR("request.kept"), bad[i]);
        arena_release(&arena);
    }
}
