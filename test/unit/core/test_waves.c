/* Tests: each key once in a wave, the order of a key kept; a fair share of lanes. */
#include "core/waves.h"

#include <stdio.h>
#include <string.h>

#include "core/lane_share.h"
#include "core/limits.h"
#include "random.h"
#include "test.h"

enum { ITEMS = 400, ROUNDS = 200 };

/* "ab" is a key per letter; the waves as letters with numbers of items. */
static void check_cut(const char *batch, const char *wanted)
{
    struct arena arena;
    struct str keys[ITEMS];
    struct waves waves;
    struct error err = { 0 };
    char got[256] = "";
    size_t at = 0;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; batch[i] != '\0'; i++)
        keys[i] = (struct str){ &batch[i], 1 };
    REQUIRE_OK(waves_cut(&arena, keys, strlen(batch), &waves, &err), err);
    for (size_t i = 0; i < waves.count; i++) {
        for (; at < waves.ends[i]; at++)
            (void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "%c%zu",
                           batch[waves.order[at]], waves.order[at]);
        (void)strcat(got, i + 1 < waves.count ? "|" : "");
    }
    CHECK_STR(str_of(got), str_of(wanted), batch);
    arena_release(&arena);
}

TEST(a_batch_is_cut_into_waves)
{
    check_cut("", "");
    check_cut("a", "a0");
    check_cut("abc", "a0b1c2");
    check_cut("abacab", "a0b1c3|a2b5|a4");
    check_cut("aaa", "a0|a1|a2");
    check_cut("bbab", "b0a2|b1|b3");
}

/* By chance: all items once, no key twice in a wave, a key's items in order, waves as few as
 * possible. */
TEST(whatever_the_batch_the_order_of_a_key_is_kept)
{
    struct random random = { 5 };
    struct arena arena;

    arena_init(&arena, 1 << 24);
    for (int round = 0; round < ROUNDS; round++) {
        const size_t count = (size_t)random_between(&random, 0, ITEMS);
        const int64_t key_count = random_between(&random, 1, 60);
        int last_wave[64], seen[64] = { 0 };
        struct str keys[ITEMS];
        struct waves waves;
        struct error err = { 0 };
        size_t at = 0, most = 0;

        memset(last_wave, -1, sizeof(last_wave));
        arena_reset(&arena);
        for (size_t i = 0; i < count; i++)
            keys[i] = arena_printf(&arena, "%02d", (int)random_between(&random, 0, key_count));
        REQUIRE_OK(waves_cut(&arena, keys, count, &waves, &err), err);
        for (size_t w = 0; w < waves.count; w++) {
            for (; at < waves.ends[w]; at++) {
                const size_t item = waves.order[at];
                const int key = atoi(keys[item].data);

                CHECK(last_wave[key] == (int)w - 1, "the wave after the one before");
                last_wave[key] = (int)w;
                CHECK(seen[key] == 0 || seen[key] - 1 < (int)item, "in order");
                seen[key] = (int)item + 1;
                CHECK(waves.keys[item] < waves.key_count, "a number for the key");
            }
        }
        CHECK_EQ(at, count, "all");
        for (int i = 0; i < 64; i++)
            most = (size_t)(last_wave[i] + 1) > most ? (size_t)(last_wave[i] + 1) : most;
        CHECK_EQ(waves.count, most, "as many as the most frequent key needs");
    }
    arena_release(&arena);
}

TEST(lanes_are_shared_among_those_who_are_there)
{
    CHECK_EQ(lane_share(OUTBOX_LANES, 1), 64, "all");
    CHECK_EQ(lane_share(OUTBOX_LANES, 2), 32, "half");
    CHECK_EQ(lane_share(OUTBOX_LANES, 3), 22, "rounded up");
    CHECK_EQ(lane_share(OUTBOX_LANES, 64), 1, "one each");
    CHECK_EQ(lane_share(OUTBOX_LANES, 1000), 1, "some have none");
    CHECK_EQ(lane_share(OUTBOX_LANES, 0), 64, "its own sign was lost");
    for (int64_t n = 1; n < 200; n++)
        CHECK(lane_share(OUTBOX_LANES, n) * n >= OUTBOX_LANES, "no lane is left over");
}
