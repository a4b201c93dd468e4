#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapter/memory/clock.h"
#include "adapter/memory/random.h"
#include "test.h"

#define NOON INT64_C(1767268800000000)

TEST(sleeping_until_noon_makes_it_noon)
{
    struct memory_clock memory;
    struct clock *clock = &memory.clock;
    int64_t start_us;

    memory_clock_init(&memory, NOON);
    start_us = clock_monotonic_us(clock);
    CHECK_EQ(clock_now_us(clock), NOON, "the time it was given");
    CHECK(clock_sleep_us(clock, 5000000, CLOCK_NO_WAKE), "slept to the end");
    CHECK_EQ(clock_now_us(clock), NOON + 5000000, "both clocks move");
    CHECK_EQ(clock_monotonic_us(clock), start_us + 5000000, "both clocks move");
    CHECK(clock_sleep_until_us(clock, start_us, CLOCK_NO_WAKE), "the past has come");
    CHECK_EQ(clock_now_us(clock), NOON + 5000000, "and time does not go back");
    memory_clock_advance(&memory, 7);
    memory_clock_set(&memory, NOON);
    CHECK_EQ(clock_now_us(clock), NOON, "the calendar can be set back");
    CHECK_EQ(clock_monotonic_us(clock), start_us + 5000007, "the other clock not");
    CHECK_EQ(memory.slept_us, 5000000, "what was slept");
}

TEST(a_wake_ends_a_sleep_before_it_begins)
{
    const int fd = eventfd(1, EFD_CLOEXEC);
    struct memory_clock memory;
    uint64_t count;

    memory_clock_init(&memory, NOON);
    CHECK(!clock_sleep_us(&memory.clock, 1000, fd), "woken");
    CHECK(!clock_sleep_us(&memory.clock, 1000, fd), "until it is drained");
    CHECK(!clock_sleep_us(&memory.clock, 0, fd), "no sleep is too short to be woken");
    CHECK_EQ(clock_now_us(&memory.clock), NOON, "no time passed");
    REQUIRE(read(fd, &count, sizeof(count)) == sizeof(count), "drained");
    CHECK(clock_sleep_us(&memory.clock, 1000, fd), "slept");
    (void)close(fd);
}

TEST(the_same_seed_gives_the_same_chance)
{
    struct memory_random a, b, c;
    unsigned char bytes[20], again[20];

    memory_random_init(&a, 42);
    memory_random_init(&b, 42);
    memory_random_init(&c, 43);
    random_source_bytes(&a.source, bytes, sizeof(bytes));
    random_source_bytes(&b.source, again, sizeof(again));
    CHECK(memcmp(bytes, again, sizeof(bytes)) == 0, "the same");
    CHECK(random_source_u64(&a.source) != random_source_u64(&c.source), "another seed");
    memory_random_init(&a, 1234567);
    CHECK(random_source_u64(&a.source) == UINT64_C(6457827717110365317),
          "splitmix64's published first number for seed 1234567");
}
