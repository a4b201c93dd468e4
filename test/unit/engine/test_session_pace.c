/* How loops wait. */
#include "engine/session/pace.h"
#include "seeded_random.h"
#include "test.h"

TEST(a_wait_doubles_up_to_its_most)
{
    static const int64_t WAITS_US[] = { 5000, 10000, 20000, 40000, 50000, 50000 };
    int64_t wait_us = 0;

    for (size_t i = 0; i < ARRAY_LEN(WAITS_US); i++) {
        wait_us = pace_longer_us(wait_us, 50000);
        CHECK_EQ(wait_us, WAITS_US[i], "twice");
    }
    CHECK_EQ(pace_longer_us(0, 3000), 3000, "never more than the most");
}

TEST(chance_moves_a_wait_by_a_fifth)
{
    struct seeded_random random;
    int64_t least_us = INT64_MAX, most_us = 0;

    seeded_random_init(&random, 1);
    for (int i = 0; i < 10000; i++) {
        const int64_t wait_us = pace_with_chance_us(&random.source, 1000000);

        least_us = wait_us < least_us ? wait_us : least_us;
        most_us = wait_us > most_us ? wait_us : most_us;
    }
    CHECK(least_us >= 800000 && least_us < 801000, "a fifth less");
    CHECK(most_us < 1200000 && most_us > 1199000, "a fifth more");
    CHECK_EQ(pace_with_chance_us(&random.source, 0), 0, "none stays none");
}
