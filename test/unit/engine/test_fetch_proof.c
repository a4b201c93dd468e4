/* Sweeps and their verdicts, as tables and against a count by hand. */
#include "engine/fetch/proof.h"

#include <string.h>

#include "random.h"
#include "test.h"

/* Pages are strings: each letter is an id, '?' an item without one. Totals are one per page, 0 for
 * none. */
static const struct {
    const char *label;
    const char *pages[4];
    int64_t totals[4];
    enum page_reason end;
    enum proof_verdict verdict;
    bool is_proven;
    int64_t missing;
} cases[] = {
    { "all came", { "abc", "def" }, { 6, 6 }, PAGE_END_TOTAL, PROOF_COMPLETE, true, 0 },
    { "nothing is all there is", { "" }, { 0 }, PAGE_END_EMPTY, PROOF_COMPLETE, false, 0 },
    { "no total", { "abc", "de" }, { 0 }, PAGE_END_NO_NEXT, PROOF_COMPLETE, false, 0 },
    { "two are missing", { "abc", "d" }, { 6, 6 }, PAGE_END_EMPTY, PROOF_SHORTFALL, false, 2 },
    { "one came twice, one not at all",
      { "abc", "cde" },
      { 6, 6 },
      PAGE_END_TOTAL,
      PROOF_SHORTFALL,
      false,
      1 },
    { "one came twice, no total",
      { "abc", "cde" },
      { 0 },
      PAGE_END_NO_NEXT,
      PROOF_DRIFT,
      false,
      0 },
    { "twice on one page may hide one",
      { "abb", "cd" },
      { 5, 5 },
      PAGE_END_TOTAL,
      PROOF_SHORTFALL,
      false,
      1 },
    { "more came than the total says",
      { "abc", "def" },
      { 4, 4 },
      PAGE_END_EMPTY,
      PROOF_COMPLETE,
      false,
      0 },
    { "more came than a total that moves",
      { "abc", "de" },
      { 3, 2 },
      PAGE_END_EMPTY,
      PROOF_COMPLETE,
      false,
      0 },
    { "one without id came, too",
      { "ab?", "de" },
      { 5, 5 },
      PAGE_END_TOTAL,
      PROOF_COMPLETE,
      true,
      0 },
    { "the total moved", { "abc", "def" }, { 6, 5 }, PAGE_END_TOTAL, PROOF_DRIFT, false, 0 },
    { "the total moved there and back",
      { "abc", "def", "ghi" },
      { 9, 8, 9 },
      PAGE_END_TOTAL,
      PROOF_DRIFT,
      false,
      0 },
    { "the total grew beyond what came",
      { "abc", "def" },
      { 6, 7 },
      PAGE_END_EMPTY,
      PROOF_SHORTFALL,
      false,
      1 },
    { "pages were left", { "abc", "def" }, { 9, 9 }, PAGE_CUT_PAGES, PROOF_CUT, false, 3 },
    { "a loop", { "abc", "abc" }, { 0 }, PAGE_CUT_LOOP, PROOF_CUT, false, 0 },
    { "the list has left the window", { "abc" }, { 900 }, PAGE_END_PAST, PROOF_COMPLETE, false, 0 },
};

static bool add(struct proof *proof, const char *ids, int64_t total, int64_t *fresh,
                struct error *err)
{
    uint64_t hashes[64];
    struct proof_page page = { .hashes = hashes, .has_total = total > 0, .total = total };

    for (const char *id = ids; *id != '\0'; id++) {
        if (*id == '?')
            page.unnamed++;
        else
            hashes[page.count++] = id_set_hash((struct str){ id, 1 });
    }
    return proof_add(proof, &page, fresh, err);
}

TEST(a_walk_is_judged_by_what_was_received)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct proof_result result;
        struct arena arena;
        struct proof proof;
        struct error err;
        int64_t fresh;

        arena_init(&arena, 1 << 20);
        proof_init(&proof, &arena, (struct proof_rules){ .counts_total = true });
        for (size_t p = 0; p < 4 && cases[i].pages[p] != NULL; p++)
            REQUIRE_OK(add(&proof, cases[i].pages[p], cases[i].totals[p], &fresh, &err), err);
        result = proof_judge(&proof, cases[i].end);
        CHECK_EQ(result.verdict, cases[i].verdict, cases[i].label);
        CHECK_EQ(result.is_proven, cases[i].is_proven, cases[i].label);
        CHECK_EQ(result.missing, cases[i].missing, cases[i].label);
        arena_release(&arena);
    }
}

TEST(a_second_sweep_is_judged_by_itself)
{
    struct arena arena;
    struct proof proof;
    struct error err;
    int64_t fresh;

    arena_init(&arena, 1 << 20);
    proof_init(&proof, &arena, (struct proof_rules){ .counts_total = true });
    REQUIRE_OK(add(&proof, "abc", 5, &fresh, &err), err);
    REQUIRE_OK(add(&proof, "cd", 5, &fresh, &err), err);
    CHECK_EQ(fresh, 1, "c was there");
    CHECK_EQ(proof_judge(&proof, PAGE_END_TOTAL).verdict, PROOF_SHORTFALL, "e is missing");
    proof_restart(&proof);
    REQUIRE_OK(add(&proof, "abc", 5, &fresh, &err), err);
    CHECK_EQ(fresh, 3, "all are new again");
    REQUIRE_OK(add(&proof, "de", 5, &fresh, &err), err);
    CHECK(proof_judge(&proof, PAGE_END_TOTAL).is_proven, "proven");
    arena_release(&arena);
}

TEST(repeats_on_a_page_are_a_habit_when_two_sweeps_agree)
{
    static const struct {
        const char *label;
        const char *second;
        enum proof_verdict verdict;
    } sweeps[] = {
        { "the same", "abb", PROOF_COMPLETE },
        { "in another order", "bab", PROOF_COMPLETE },
        { "another one twice", "aab", PROOF_COMPLETE },
        { "other ids", "abc", PROOF_COMPLETE },
        { "one is missing", "axx", PROOF_SHORTFALL },
    };

    for (size_t i = 0; i < ARRAY_LEN(sweeps); i++) {
        struct arena arena;
        struct proof proof;
        struct proof_result result;
        struct error err;
        int64_t fresh;

        arena_init(&arena, 1 << 20);
        proof_init(&proof, &arena, (struct proof_rules){ .counts_total = true });
        REQUIRE_OK(add(&proof, "abb", 3, &fresh, &err), err);
        CHECK_EQ(proof_judge(&proof, PAGE_END_TOTAL).verdict, PROOF_SHORTFALL, "one sweep");
        proof_next_sweep(&proof);
        REQUIRE_OK(add(&proof, sweeps[i].second, 3, &fresh, &err), err);
        result = proof_judge(&proof, PAGE_END_TOTAL);
        CHECK_EQ(result.verdict, sweeps[i].verdict, sweeps[i].label);
        CHECK_EQ(result.is_proven, strcmp(sweeps[i].second, "abc") == 0, sweeps[i].label);
        arena_release(&arena);
    }
}

TEST(borders_of_time_come_twice_and_the_first_total_counts)
{
    struct arena arena;
    struct proof proof;
    struct error err;
    int64_t fresh;

    arena_init(&arena, 1 << 20);
    proof_init(&proof, &arena,
               (struct proof_rules){ .counts_total = true, .repeats_are_ok = true });
    REQUIRE_OK(add(&proof, "abc", 5, &fresh, &err), err);
    REQUIRE_OK(add(&proof, "cde", 3, &fresh, &err), err);
    CHECK(proof_judge(&proof, PAGE_END_EMPTY).is_proven, "five of five");
    arena_release(&arena);
}

TEST(part_of_a_list_is_not_compared_with_the_total)
{
    struct arena arena;
    struct proof proof;
    struct error err;
    int64_t fresh;

    arena_init(&arena, 1 << 20);
    proof_init(&proof, &arena, (struct proof_rules){ 0 });
    REQUIRE_OK(add(&proof, "abc", 500, &fresh, &err), err);
    CHECK_EQ(proof_judge(&proof, PAGE_END_RANGE).verdict, PROOF_COMPLETE, "pages 3 to 5 of 200");
    arena_release(&arena);
}

/* The counts against a count by hand, over random pages of few ids. */
TEST(counts_are_those_of_a_count_by_hand)
{
    struct random random = { 7 };

    for (int round = 0; round < 500; round++) {
        bool seen[26] = { false };
        int64_t distinct = 0, repeats = 0, page_repeats = 0, items = 0, pages = 0;
        struct arena arena;
        struct proof proof;
        struct error err;

        arena_init(&arena, 1 << 20);
        proof_init(&proof, &arena, (struct proof_rules){ .counts_total = true });
        for (int page = 0; page < 5; page++) {
            bool before[26], here[26] = { false };
            char ids[16] = "";
            int64_t fresh, wanted = 0;
            const int count = (int)random_between(&random, 0, 12);

            memcpy(before, seen, sizeof(before));
            for (int i = 0; i < count; i++) {
                const int id = (int)random_between(&random, 0, 26);

                ids[i] = (char)('a' + id);
                wanted += !before[id];
                distinct += !seen[id];
                repeats += before[id];
                page_repeats += here[id] && !before[id];
                here[id] = seen[id] = true;
            }
            items += count;
            pages += wanted > 0 || count == 0;
            REQUIRE_OK(add(&proof, ids, 0, &fresh, &err), err);
            CHECK_EQ(fresh, wanted, "fresh");
        }
        CHECK_EQ(proof.items, items, "items");
        CHECK_EQ(proof.pages, pages, "pages that do not only repeat");
        CHECK_EQ(proof.distinct, distinct, "distinct");
        CHECK_EQ(proof.repeats, repeats, "repeats");
        CHECK_EQ(proof.page_repeats, page_repeats, "repeats on one page");
        arena_release(&arena);
    }
}
