/* The clock and the random source that tests run on. */
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "seeded_random.h"
#include "test.h"
#include "virtual_clock.h"

#define NOON INT64_C(1767268800000000)

TEST(sleeping_until_noon_makes_it_noon)
{
    struct virtual_clock virtual;
    struct clock *clock = &virtual.clock;
    int64_t start_us;

    virtual_clock_init(&virtual, NOON);
    start_us = clock_monotonic_us(clock);
    CHECK_EQ(clock_now_us(clock), NOON, "the time it was given");
    CHECK(clock_sleep_us(clock, 5000000, CLOCK_NO_WAKE), "slept to the end");
    CHECK_EQ(clock_now_us(clock), NOON + 5000000, "both clocks move");
    CHECK_EQ(clock_monotonic_us(clock), start_us + 5000000, "both clocks move");
    CHECK(clock_sleep_until_us(clock, start_us, CLOCK_NO_WAKE), "the past has come");
    CHECK_EQ(clock_now_us(clock), NOON + 5000000, "and time does not go back");
    virtual_clock_advance(&virtual, 7);
    virtual_clock_set(&virtual, NOON);
    CHECK_EQ(clock_now_us(clock), NOON, "the calendar can be set back");
    CHECK_EQ(clock_monotonic_us(clock), start_us + 5000007, "the other clock not");
    CHECK_EQ(virtual.slept_us, 5000000, "what was slept");
}

TEST(a_wake_ends_a_sleep_before_it_begins)
{
    const int fd = eventfd(1, EFD_CLOEXEC);
    struct virtual_clock virtual;
    uint64_t count;

    virtual_clock_init(&virtual, NOON);
    CHECK(!clock_sleep_us(&virtual.clock, 1000, fd), "woken");
    CHECK(!clock_sleep_us(&virtual.clock, 1000, fd), "until it is drained");
    CHECK(!clock_sleep_us(&virtual.clock, 0, fd), "no sleep is too short to be woken");
    CHECK_EQ(clock_now_us(&virtual.clock), NOON, "no time passed");
    REQUIRE(read(fd, &count, sizeof(count)) == sizeof(count), "drained");
    CHECK(clock_sleep_us(&virtual.clock, 1000, fd), "slept");
    (void)close(fd);
}

TEST(the_same_seed_gives_the_same_chance)
{
    struct seeded_random a, b, c;
    unsigned char bytes[20], again[20];

    seeded_random_init(&a, 42);
    seeded_random_init(&b, 42);
    seeded_random_init(&c, 43);
    random_source_bytes(&a.source, bytes, sizeof(bytes));
    random_source_bytes(&b.source, again, sizeof(again));
    CHECK(memcmp(bytes, again, sizeof(bytes)) == 0, "the same");
    CHECK(random_source_u64(&a.source) != random_source_u64(&c.source), "another seed");
    seeded_random_init(&a, 1234567);
    CHECK(random_source_u64(&a.source) == UINT64_C(6457827717110365317),
          "splitmix64's published first number for seed 1234567");
}
