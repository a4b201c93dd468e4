/* What of a partition is not settled. */
#include "adapter/kafka/track.h"

#include "random.h"
#include "test.h"

static struct track track;

static void deliver(int64_t offset)
{
    REQUIRE(track_wants(&track, offset), "it is wanted");
    REQUIRE(track_deliver(&track, offset, 10), "memory");
}

TEST(what_is_committed_ends_before_the_first_that_is_not_settled)
{
    track_init(&track);
    for (int64_t offset = 10; offset < 15; offset++) {
        if (offset != 13) /* a marker */
            deliver(offset);
    }
    CHECK_EQ(track.out_count, 4, "out");
    CHECK_EQ(track.out_bytes, 40, "bytes");
    CHECK(track_ack(&track, 11), "known");
    CHECK(!track_advance(&track), "10 is before it");
    CHECK(track_ack(&track, 10), "known");
    CHECK(track_advance(&track), "both");
    CHECK_EQ(track.next, 12, "up to the one that is out");
    CHECK(track_ack(&track, 14) && track_ack(&track, 12), "known");
    CHECK(track_advance(&track), "all");
    CHECK_EQ(track.next, 15, "the end");
    CHECK(!track_ack(&track, 14), "not any more");
    track_end(&track, 17);
    CHECK_EQ(track.next, 17, "markers at the end are passed");
    track_release(&track);
}

TEST(after_a_step_back_what_was_acknowledged_is_not_delivered_again)
{
    track_init(&track);
    for (int64_t offset = 1; offset <= 4; offset++)
        deliver(offset);
    CHECK_EQ(track_back(&track), -1, "nothing is given back");
    CHECK(track_nack(&track, 2) && track_ack(&track, 3), "known");
    CHECK_EQ(track_back(&track), 2, "from here");
    CHECK_EQ(track.out_count, 2, "1 and 4");
    CHECK(track_wants(&track, 2), "again");
    CHECK(!track_wants(&track, 3), "acknowledged");
    CHECK(track_wants(&track, 4), "still out: again");
    deliver(2);
    CHECK_EQ(track_back(&track), -1, "it is out again");
    track_end(&track, 99);
    CHECK(track.next < 99, "an end means nothing while messages are out");
    track_release(&track);
}

/* Against a plain model: an array of states. */
TEST(random_histories_agree_with_a_model)
{
    enum { OFFSETS = 64, UNSEEN = 0, OUT, BACK, ACKED };
    struct random random = { 7 };

    for (int round = 0; round < test_rounds(2000); round++) {
        int state[OFFSETS] = { 0 };
        int64_t cursor = 0, next = -1;

        track_init(&track);
        for (int step = 0; step < 200; step++) {
            const int64_t at = (int64_t)(random_u64(&random) % OFFSETS);
            int64_t back = -1;
            size_t out = 0;

            switch (random_u64(&random) % 3) {
            case 0: /* the next record of the partition */
                if (cursor == OFFSETS)
                    break;
                CHECK_EQ(track_wants(&track, cursor), state[cursor] != ACKED && cursor >= next,
                         "wanted");
                if (track_wants(&track, cursor)) {
                    deliver(cursor);
                    state[cursor] = OUT;
                    next = next < 0 ? cursor : next;
                }
                cursor++;
                break;
            case 1:
                CHECK_EQ(track_ack(&track, at), state[at] != UNSEEN && at >= next, "ack");
                if (state[at] != UNSEEN)
                    state[at] = ACKED;
                break;
            default:
                CHECK_EQ(track_nack(&track, at), state[at] == OUT || state[at] == BACK, "nack");
                if (state[at] == OUT)
                    state[at] = BACK;
            }
            for (int64_t i = OFFSETS - 1; i >= 0; i--) {
                back = state[i] == BACK ? i : back;
                out += state[i] == OUT;
            }
            CHECK_EQ(track_back(&track), back, "back to");
            CHECK_EQ(track.out_count, out, "out");
            if (back >= 0)
                cursor = back;
            (void)track_advance(&track);
            while (next >= 0 && next < OFFSETS && state[next] == ACKED)
                next++;
            CHECK_EQ(track.next, next, "settled up to");
        }
        track_release(&track);
    }
}
