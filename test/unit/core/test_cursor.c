/* Tests: order of cursor values, folding of events, and their identity. */
#include "core/cursor.h"

#include <stdio.h>

#include "base/instant.h"
#include "random.h"
#include "test.h"

static struct cursor_value at(int64_t instant_us)
{
    return (struct cursor_value){ .type = CURSOR_TIME, .instant_us = instant_us };
}

static struct cursor_value id(const char *digits)
{
    return (struct cursor_value){ .type = CURSOR_ID, .text = str_of(digits) };
}

static struct cursor_value token(const char *text)
{
    return (struct cursor_value){ .type = CURSOR_TOKEN, .text = str_of(text) };
}

TEST(ids_are_compared_as_numbers)
{
    static const char *const ascending[] = {
        "0",
        "1",
        "9",
        "10",
        "0011",
        "99999999999999999999",
        "100000000000000000000",
        "99999999999999999999999999999999999998",
        "99999999999999999999999999999999999999", /* 38 digits: the most there are */
    };

    for (size_t i = 0; i < ARRAY_LEN(ascending); i++) {
        for (size_t j = 0; j < ARRAY_LEN(ascending); j++) {
            const int order = cursor_id_compare(str_of(ascending[i]), str_of(ascending[j]));

            CHECK_EQ((order > 0) - (order < 0), (i > j) - (i < j), ascending[i]);
        }
    }
    CHECK_EQ(cursor_id_compare(STR("007"), STR("7")), 0, "zeros in front do not count");
    CHECK_EQ(cursor_id_compare(STR("000"), STR("0")), 0, "zero is zero");
}

TEST(ids_agree_with_64_bit_arithmetic)
{
    struct random random = { 9 };

    for (int i = 0; i < 20000; i++) {
        const int64_t shift = random_between(&random, 0, 60);
        const uint64_t a = random_u64(&random) >> shift;
        const uint64_t b = random_chance(&random, 10) ? a : random_u64(&random) >> 30;
        char a_text[32], b_text[32];
        int order;

        (void)snprintf(a_text, sizeof(a_text), "%" PRIu64, a);
        (void)snprintf(b_text, sizeof(b_text), "%022" PRIu64, b);
        order = cursor_id_compare(str_of(a_text), str_of(b_text));
        CHECK_EQ((order > 0) - (order < 0), (a > b) - (a < b), a_text);
    }
}

TEST(sums_of_ids_agree_with_64_bit_arithmetic)
{
    struct random random = { 7 };
    struct arena arena;

    arena_init(&arena, 1 << 20);
    for (int i = 0; i < 2000; i++) {
        const int64_t a =
            random_between(&random, 0, i % 2 == 0 ? 200 : INT64_C(4000000000000000000));
        const int64_t n =
            random_between(&random, 0, i % 3 == 0 ? 200 : INT64_C(4000000000000000000));
        char digits[32], sum[32], rest[32];

        (void)snprintf(digits, sizeof(digits), "%lld", (long long)a);
        (void)snprintf(sum, sizeof(sum), "%lld", (long long)(a + n));
        (void)snprintf(rest, sizeof(rest), "%lld", (long long)(a > n ? a - n : 0));
        CHECK_STR(cursor_id_plus(&arena, str_of(digits), n), str_of(sum), digits);
        CHECK_STR(cursor_id_minus(&arena, str_of(digits), n), str_of(rest), digits);
    }
    CHECK_STR(cursor_id_plus(&arena, STR("99999999999999999999999999999999999999"), 1),
              STR("100000000000000000000000000000000000000"), "one digit more than an id");
    CHECK_STR(cursor_id_minus(&arena, STR("100000000000000000000"), 1), STR("99999999999999999999"),
              "beyond 64 bits");
    CHECK_STR(cursor_id_plus(&arena, STR("007"), 0), STR("7"), "without zeros in front");
    arena_release(&arena);
}

TEST(only_numbers_are_ids)
{
    CHECK(cursor_id_is_valid(STR("0")), "zero");
    CHECK(cursor_id_is_valid(STR("0000000000000000000000000000000000000000000001")), "zeros");
    CHECK(!cursor_id_is_valid(STR("")), "nothing");
    CHECK(!cursor_id_is_valid(STR("-1")), "a sign");
    CHECK(!cursor_id_is_valid(STR("12a")), "a letter");
    CHECK(!cursor_id_is_valid(STR(" 1")), "a blank");
    CHECK(!cursor_id_is_valid(STR("100000000000000000000000000000000000000")), "39 digits");
    CHECK(!cursor_id_is_valid((struct str){ "1\0", 2 }), "a NUL");
}

TEST(forward_is_what_the_type_says)
{
    const struct {
        const char *label;
        struct cursor_value current, next;
        bool is_forward;
    } rows[] = {
        { "later", at(10), at(11), true },
        { "the same instant", at(10), at(10), false },
        { "earlier", at(10), at(9), false },
        { "before 1970", at(-10), at(-9), true },
        { "a larger number", id("9"), id("10"), true },
        { "the same number", id("10"), id("010"), false },
        { "a smaller number", id("10"), id("9"), false },
        { "another token", token("b"), token("a"), true },
        { "the same token", token("a"), token("a"), false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK_EQ(cursor_is_forward(&rows[i].current, &rows[i].next), rows[i].is_forward,
                 rows[i].label);
        CHECK(cursor_is_forward(NULL, &rows[i].next), "anything is ahead of nothing");
    }
}

/* The algorithm of the reference, for instants. */
TEST(replay_is_the_largest_event_so_far)
{
    struct random random = { 10 };

    for (int round = 0; round < 2000; round++) {
        struct cursor_fold fold;
        int64_t largest = -1;
        struct cursor_value value;

        cursor_fold_init(&fold, CURSOR_TIME);
        CHECK(cursor_fold_agrees(&fold, NULL), "no events, no cursor");
        for (int64_t i = 0, n = random_between(&random, 1, 20); i < n; i++) {
            const struct cursor_value next = at(random_between(&random, 0, 50));
            const struct cursor_value prev = at(largest);

            cursor_fold_add(&fold, largest < 0 ? NULL : &prev, &next);
            if (next.instant_us > largest)
                largest = next.instant_us;
        }
        REQUIRE(cursor_fold_value(&fold, &value), "there is a value");
        CHECK_EQ(value.instant_us, largest, "never back");
        CHECK_EQ(fold.gap_count, 0, "no event is missing");
        value.instant_us++;
        CHECK(!cursor_fold_agrees(&fold, &value), "a row that ran ahead is found");
        CHECK(!cursor_fold_agrees(&fold, NULL), "a lost row is found");
    }
}

TEST(a_lost_event_shows_as_a_gap_and_a_lost_race_does_not)
{
    const struct cursor_value ten = at(10), fifteen = at(15), twenty = at(20), thirty = at(30);
    struct cursor_fold fold;

    cursor_fold_init(&fold, CURSOR_TIME);
    cursor_fold_add(&fold, NULL, &ten);
    cursor_fold_add(&fold, &ten, &twenty);
    cursor_fold_add(&fold, &ten, &fifteen); /* read 10, lost against 20 */
    CHECK_EQ(fold.no_forward_count, 1, "the loser does not move it");
    CHECK_EQ(fold.gap_count, 0, "and is no gap");
    cursor_fold_add(&fold, &thirty, &thirty); /* no event reached 30 */
    CHECK_EQ(fold.gap_count, 1, "an event before this one is missing");
    cursor_fold_init(&fold, CURSOR_TIME);
    cursor_fold_add(&fold, &ten, &twenty);
    CHECK_EQ(fold.gap_count, 1, "the first event is missing");
}

TEST(tokens_fold_to_the_last_one_written)
{
    const struct cursor_value a = token("AoJ/"), b = token("Zz=="), c = token("");
    struct cursor_fold fold;
    struct cursor_value value;

    cursor_fold_init(&fold, CURSOR_TOKEN);
    cursor_fold_add(&fold, NULL, &b);
    cursor_fold_add(&fold, &b, &a);
    REQUIRE(cursor_fold_value(&fold, &value), "there is one");
    CHECK_STR(value.text, STR("AoJ/"), "the last");
    cursor_fold_add(&fold, &a, &c);
    REQUIRE(cursor_fold_value(&fold, &value), "there is one");
    CHECK_STR(value.text, STR(""), "an empty token is a token");
    CHECK_EQ(fold.gap_count, 0, "no gaps among tokens");
}

TEST(replay_continues_from_a_reset)
{
    const struct cursor_value ten = at(10), twenty = at(20), five = at(5), seven = at(7);
    struct cursor_value value;
    struct cursor_fold fold;

    cursor_fold_init(&fold, CURSOR_TIME);
    cursor_fold_add(&fold, NULL, &ten);
    cursor_fold_add(&fold, &ten, &twenty);
    cursor_fold_reset(&fold, &twenty, &five);
    REQUIRE(cursor_fold_value(&fold, &value), "there is one");
    CHECK_EQ(value.instant_us, 5, "back");
    cursor_fold_add(&fold, &five, &seven);
    REQUIRE(cursor_fold_value(&fold, &value), "there is one");
    CHECK_EQ(value.instant_us, 7, "forward again from there");
    CHECK_EQ(fold.gap_count, 0, "nothing is missing");
    CHECK_EQ(fold.reset_count, 1, "one reset");
    CHECK_EQ(fold.no_forward_count, 0, "a reset does not count as no-forward");
    cursor_fold_add(&fold, &twenty, &twenty);
    CHECK_EQ(fold.gap_count, 1, "no event has reached 20 since");
}

TEST(a_key_names_its_endpoint)
{
    struct arena arena;

    arena_init(&arena, 4096);
    CHECK_STR(cursor_key_make(&arena, STR("works"), STR("a.b")), STR("works.a.b"), "made");
    CHECK_STR(cursor_key_endpoint(STR("works.a.b")), STR("works"), "read");
    CHECK_STR(cursor_key_endpoint(STR("page_token")), STR(""), "none");
    CHECK_STR(cursor_key_make_shared(&arena, STR("a.b")), STR("*.a.b"), "of several");
    CHECK_STR(cursor_key_endpoint(STR("*.a.b")), STR(""), "which names none of them");
    CHECK(cursor_key_is_shared(STR("*.a.b")) && !cursor_key_is_shared(STR("works.a.b")), "shared");
    arena_release(&arena);
}

static struct str written(struct buf *out, const struct cursor_event_identity *identity)
{
    buf_clear(out);
    cursor_event_identity_write(identity, out);
    return buf_str(out);
}

TEST(an_event_is_identified_by_all_its_members)
{
    const struct cursor_value prev = at(0), next = at(US_PER_DAY);
    const struct window window = { 0, US_PER_DAY };
    const struct cursor_event_identity identity = {
        .source = STR("crossref"),
        .operation = OPERATION_HARVEST,
        .cursor_key = STR("indexed"),
        .scope = NAMESPACE_GLOBAL,
        .namespace_key = STR("00"),
        .prev = &prev,
        .next = &next,
        .window = &window,
        .version = 3,
        .run_id = 12,
        .batch_id = 7,
    };
    struct cursor_event_identity other = identity;
    struct arena arena;
    struct buf out, out_other;

    arena_init(&arena, 65536);
    buf_init(&out, &arena, 4096);
    buf_init(&out_other, &arena, 4096);
    CHECK_STR(
        written(&out, &identity),
        STR("{\"batchId\":\"7\",\"cursorKey\":\"indexed\",\"namespaceKey\":\"00\","
            "\"namespaceScope\":\"GLOBAL\",\"new\":\"1970-01-02T00:00:00Z\","
            "\"operation\":\"HARVEST\",\"prev\":\"1970-01-01T00:00:00Z\",\"runId\":\"12\","
            "\"source\":\"crossref\",\"version\":3,"
            "\"window\":{\"from\":\"1970-01-01T00:00:00Z\",\"to\":\"1970-01-02T00:00:00Z\"}}"),
        "in full");
    other.batch_id = 8;
    CHECK(!str_eq(written(&out_other, &other), buf_str(&out)), "another batch");
    other = identity;
    other.version = 4;
    CHECK(!str_eq(written(&out_other, &other), buf_str(&out)), "the same way once more");
    other = identity;
    other.prev = NULL;
    CHECK(!str_eq(written(&out_other, &other), buf_str(&out)), "another start");
    other = identity;
    other.window = NULL;
    CHECK(!str_eq(written(&out_other, &other), buf_str(&out)), "no window");
    other = identity;
    other.operation = OPERATION_BACKFILL;
    CHECK(!str_eq(written(&out_other, &other), buf_str(&out)), "another operation");
    arena_release(&arena);
}

TEST(ids_with_zeros_in_front_are_the_same_event)
{
    const struct cursor_value a = id("007"), b = id("7");
    struct cursor_event_identity identity = { .next = &a };
    struct arena arena;
    struct buf out, out_other;

    arena_init(&arena, 65536);
    buf_init(&out, &arena, 4096);
    buf_init(&out_other, &arena, 4096);
    (void)written(&out, &identity);
    identity.next = &b;
    CHECK_STR(written(&out_other, &identity), buf_str(&out), "normalised");
    arena_release(&arena);
}
